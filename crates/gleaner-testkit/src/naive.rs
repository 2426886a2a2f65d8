//! The policies as a reader of the contract would write them: every machine scored for every task, each sum taken
//! over the tasks themselves, nothing kept. They read the grid and share no code with the policies under test.

mod answers;
mod formulas;
mod moves;

use crate::naive_ahead;
use crate::naive_lengths::Belief;
use gleaner_classad::{ClassAd, Context};
use gleaner_core::{
    Ad, Alarm, Availability, Cause, Change, Decision, Grid, MachineClass, Needs, Occasion, Policy, Purpose,
    Run, Stage, TaskState,
};
use gleaner_units::{MachineId, TaskId, Time};
use std::cmp::Reverse;

/// Which formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// The task's own speed.
    Greedy,
    /// Everyone's execution times; a gain is relative to the moved task's own.
    Social,
    /// The same; a gain is relative to everyone's.
    SocialWhole,
    /// The same as social; each task counts as much as it has left to do.
    SocialRemaining(Belief),
    /// The paper's letter.
    SocialAsPrinted,
    /// The number of tasks.
    MinNum,
}

/// How running tasks move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relocation {
    /// The formula.
    pub rule: Formula,
    /// N.
    pub moves: u32,
    /// θ.
    pub theta: f64,
    /// For MIN-NUM.
    pub difference: f64,
    /// Which of those that gain alike.
    pub turn: Turn,
}

/// Of tasks that gain alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Submitted first.
    First,
    /// Submitted last.
    Last,
    /// That has done most.
    MostDone,
    /// That has done least.
    LeastDone,
}

impl Relocation {
    /// Of the best the one from, or to, the lowest machine whose turn is first.
    fn first_of(&self, grid: &Grid, now: Time, candidates: &[Candidate]) -> Option<(MachineId, TaskId)> {
        let (lowest, _) = pick(candidates)?;
        let alike = tied(candidates).into_iter().filter(|(_, machine, _)| *machine == lowest);
        let mut tasks: Vec<TaskId> = alike.map(|(_, _, task)| task).collect();
        tasks.sort_unstable();
        let done = |task: &TaskId| {
            let run = grid.runs_of(*task).find(|run| run.counts()).expect("what moves runs");
            grid.ops_done(now, run.id())
        };
        let task = match self.turn {
            Turn::First => tasks.first().copied(),
            Turn::Last => tasks.last().copied(),
            Turn::MostDone => {
                tasks.into_iter().reduce(|one, other| if done(&other) > done(&one) { other } else { one })
            }
            Turn::LeastDone => {
                tasks.into_iter().reduce(|one, other| if done(&other) < done(&one) { other } else { one })
            }
        };
        Some((lowest, task?))
    }
}

/// A whole reference policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Naive {
    /// Where a new task goes.
    pub place: Formula,
    /// Which of the machines that would do.
    pub choice: Choice,
    /// How many runs it has at a time.
    pub runs: usize,
    /// How it moves later.
    pub relocate: Option<Relocation>,
    /// Whether machines get tasks ahead.
    pub ahead: bool,
}

/// Which of the machines that would do is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// The lowest of the best.
    Best,
    /// The highest of the best.
    Latest,
    /// Any of the best.
    Lot,
    /// The lowest.
    First,
    /// In proportion to the score, or to one over what is below 0, to this power.
    Power(i32),
    /// The better of two.
    Two,
}

/// A candidate: its score, and what decides among equals.
type Candidate = (f64, MachineId, TaskId);

fn pick(candidates: &[Candidate]) -> Option<(MachineId, TaskId)> {
    tied(candidates).into_iter().map(|(_, machine, task)| (machine, task)).min()
}

/// Those with the best score.
fn tied(candidates: &[Candidate]) -> Vec<Candidate> {
    let best = candidates.iter().map(|candidate| candidate.0).fold(f64::NEG_INFINITY, f64::max);
    let tied =
        |score: f64| if best.is_infinite() { score == best } else { best - score <= 1e-12 * best.abs() };
    candidates.iter().filter(|candidate| tied(candidate.0)).copied().collect()
}

/// More by a margin that no rounding explains.
fn more(one: f64, other: f64) -> bool {
    one - other > 1e-12 * f64::max(1.0, other)
}

/// The world at an instant, with `n`, λ and h as the papers write them.
struct Now<'a>(&'a Grid, Time);

impl Now<'_> {
    fn machines(&self) -> impl Iterator<Item = MachineId> {
        (0..self.0.machines().len()).map(MachineId::new)
    }

    fn tasks_on(&self, machine: MachineId) -> Vec<TaskId> {
        self.runs_on(machine).filter(|run| run.stage() != Stage::Stopping).map(|run| run.id().task).collect()
    }

    /// Those that are to stop too: their room is taken.
    fn runs_on(&self, machine: MachineId) -> impl Iterator<Item = &Run> {
        let runs = self.0.tasks().flat_map(|(id, _)| self.0.runs_of(id));
        runs.filter(move |run| {
            run.on() == machine && run.stage() != Stage::Missing && naive_ahead::has_room(self.0, run)
        })
    }

    fn h(&self, task: TaskId, machine: MachineId) -> f64 {
        let classes = self.0.classes();
        let task = classes.task_class(self.0.task(task).class());
        let machine = classes.machine_class(self.0.machine(machine).class());
        if task.requires.iter().any(|tag| !machine.provides.contains(tag)) {
            return f64::INFINITY;
        }
        if !fits(&[task.needs], machine) {
            return f64::INFINITY;
        }
        if !wants(task.ad.as_ref(), machine.ad.as_ref()) || !wants(machine.ad.as_ref(), task.ad.as_ref()) {
            return f64::INFINITY;
        }
        let mut sum = 0.0;
        for (i, weight) in classes.weights().iter().enumerate() {
            if task.composition[i] != 0.0 {
                sum += weight * task.composition[i] / machine.speeds[i];
            }
        }
        sum
    }

    fn rank(&self, task: TaskId, machine: MachineId) -> f64 {
        let classes = self.0.classes();
        let machine = classes.machine_class(self.0.machine(machine).class()).ad.as_ref();
        let Some(ad) = &classes.task_class(self.0.task(task).class()).ad else { return 0.0 };
        let nothing = ClassAd::new();
        gleaner_classad::rank(ad.class_ad(), machine.map_or(&nothing, Ad::class_ad), &Context::new())
    }

    fn free(&self, machine: MachineId) -> f64 {
        1.0 - self.0.machine(machine).load()
    }

    /// What each core gets that a task wants, where these are on the machine.
    fn share(&self, machine: MachineId, tasks: &[TaskId]) -> f64 {
        let cores = f64::from(self.0.machine(machine).cores());
        let wanted: u32 = tasks.iter().map(|&task| self.needs(task).cores).sum();
        (cores * self.free(machine) / f64::from(wanted)).min(1.0)
    }

    fn needs(&self, task: TaskId) -> Needs {
        self.0.classes().task_class(self.0.task(task).class()).needs
    }

    /// What is too small for those that are there, since it was measured anew, still has room for nothing.
    fn has_room(&self, task: TaskId, machine: MachineId) -> bool {
        let there = self.runs_on(machine);
        let mut needs: Vec<Needs> = there.map(|run| self.needs(run.id().task)).collect();
        let newcomer = self.needs(task);
        if newcomer.memory == 0 {
            for needs in &mut needs {
                needs.memory = 0;
            }
        }
        if newcomer.disk == 0 {
            for needs in &mut needs {
                needs.disk = 0;
            }
        }
        needs.push(newcomer);
        fits(&needs, self.0.classes().machine_class(self.0.machine(machine).class()))
    }

    fn possible(&self, task: TaskId, machine: MachineId) -> bool {
        self.0.machine(machine).availability() == Availability::Open
            && self.free(machine) > 0.0
            && self.h(task, machine).is_finite()
            && self.has_room(task, machine)
    }

    fn here(&self, task: TaskId) -> Vec<&Run> {
        self.0.runs_of(task).filter(|run| run.stage() != Stage::Missing).collect()
    }

    /// Those that wait, in the order in which they are to be started.
    fn waiting(&self) -> Vec<TaskId> {
        self.in_turn(TaskState::Waiting)
    }

    fn in_turn(&self, state: TaskState) -> Vec<TaskId> {
        let those = self.0.tasks().filter(|(_, task)| task.state() == state);
        let mut those: Vec<TaskId> = those.map(|(id, _)| id).collect();
        let priority = |task: &TaskId| self.0.classes().task_class(self.0.task(*task).class()).priority;
        those.sort_by_key(|task| (Reverse(priority(task)), *task));
        those
    }
}

/// Whether all of these tasks have their place on an empty machine at once.
pub(crate) fn fits(needs: &[Needs], machine: &MachineClass) -> bool {
    let cores: u64 = needs.iter().map(|needs| u64::from(needs.cores)).sum();
    let memory: u64 = needs.iter().map(|needs| needs.memory).sum();
    let enough_cores = machine.room.slots.is_none_or(|slots| cores <= u64::from(slots));
    let disk: u64 = needs.iter().map(|needs| needs.disk).sum();
    let enough_disk = machine.room.disk.is_none_or(|bytes| disk <= bytes);
    enough_cores && enough_disk && machine.room.memory.is_none_or(|bytes| memory <= bytes)
}

/// Whether what one asks for holds of the other; who asks for nothing wants everyone.
pub(crate) fn wants(one: Option<&Ad>, other: Option<&Ad>) -> bool {
    let Some(asking) = one.map(Ad::class_ad) else { return true };
    let nothing = ClassAd::new();
    let other = other.map_or(&nothing, Ad::class_ad);
    asking.get("requirements").is_none() || gleaner_classad::matches(other, asking, &Context::new())
}

impl Naive {
    fn start(&self, now: &Now<'_>, task: TaskId) -> Option<Decision> {
        let on = self.place(now, task, &[])?;
        Some(Decision::Start { task, on })
    }

    /// A copy of a task that has too few runs, at the end of an instant and once nothing that waits has a place.
    fn copy(&self, now: &Now<'_>, time: Time, cause: Cause) -> Option<Decision> {
        let grid = now.0;
        let mut short = now.in_turn(TaskState::Placed);
        short.retain(|&task| {
            let stages: Vec<Stage> =
                grid.runs_of(task).map(Run::stage).filter(|at| *at != Stage::Missing).collect();
            stages.len() < self.runs
                && grid.comparison(task).is_none()
                && stages.iter().all(|stage| matches!(stage, Stage::Sent | Stage::Running))
        });
        if !short.iter().any(|&task| now.machines().any(|machine| now.possible(task, machine))) {
            return None;
        }
        if !matches!(cause, Cause::WokeUp { alarm: Alarm::Batch, .. }) {
            let is_awaited = grid.alarm(Alarm::Batch).is_some_and(|at| at <= time);
            return (!is_awaited).then_some(Decision::Wake { alarm: Alarm::Batch, at: time });
        }
        if now.waiting().into_iter().any(|task| self.start(now, task).is_some()) {
            return None;
        }
        short.into_iter().find_map(|task| {
            let here = grid.runs_of(task).filter(|run| run.stage() != Stage::Missing).map(Run::on);
            let on = self.place(now, task, &here.collect::<Vec<_>>())?;
            Some(Decision::Replicate { task, on })
        })
    }

    fn send_ahead(&self, now: &Now<'_>) -> Option<Decision> {
        let &Now(grid, time) = now;
        if !self.ahead {
            return None;
        }
        let could_run = |task, on| now.h(task, on).is_finite();
        let finds_room = |task: &TaskId| self.place(now, *task, &[]).is_some();
        let waiting = now.waiting();
        let sent = naive_ahead::send(grid, time, &waiting, could_run);
        let sent = sent.filter(|(task, _)| !finds_room(task)).map(|(_, decision)| decision);
        sent.or_else(|| naive_ahead::make_way(grid, time, &waiting, |task| finds_room(&task), could_run))
    }

    /// When what stands still may be moved, or what was sent ahead is to be looked at again.
    fn wake(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let still = self.wake_for_moves(grid, now);
        if still.is_some() {
            return still;
        }
        let at = naive_ahead::due(grid, now).filter(|_| self.ahead)?;
        let is_later = grid.alarm(Alarm::Ahead).is_none_or(|set| at < set);
        is_later.then_some(Decision::Wake { alarm: Alarm::Ahead, at })
    }

    fn place(&self, now: &Now<'_>, task: TaskId, apart: &[MachineId]) -> Option<MachineId> {
        let possible =
            now.machines().filter(|machine| now.possible(task, *machine) && !apart.contains(machine));
        let possible: Vec<MachineId> = possible.collect();
        let rank = |machine: &MachineId| now.rank(task, *machine);
        let liked = possible.iter().map(rank).fold(f64::NEG_INFINITY, f64::max);
        let liked = possible.iter().filter(|machine| rank(machine) == liked);
        let candidates: Vec<Candidate> =
            liked.map(|&machine| (now.placement(self.place, task, machine), machine, task)).collect();
        self.choose(&candidates, now.0).map(|(on, _)| on)
    }

    fn choose(&self, all: &[Candidate], grid: &Grid) -> Option<(MachineId, TaskId)> {
        let &(_, _, task) = all.first()?;
        let (best, mut chance) = (pick(all)?, grid.chance_of_next_run(Purpose::Place, task));
        let mut index = |count: usize| chance.below(u32::try_from(count).expect("few machines")) as usize;
        let tied = tied(all);
        Some(match self.choice {
            Choice::Best => best,
            Choice::Latest => (tied.last()?.1, task),
            Choice::Lot => (tied[index(tied.len())].1, task),
            Choice::First => (all[0].1, task),
            Choice::Two => {
                let mut left = all.to_vec();
                let first = index(left.len());
                let mut two = vec![left.remove(first)];
                if !left.is_empty() {
                    let second = index(left.len());
                    two.push(left.remove(second));
                }
                pick(&two)?
            }
            Choice::Power(power) => {
                // What costs nothing is infinitely more likely than what costs anything.
                let free: Vec<Candidate> =
                    all.iter().filter(|candidate| candidate.0 == 0.0).copied().collect();
                let (among, weight): (&[Candidate], fn(f64) -> f64) = match &free[..] {
                    [] => (all, |score| if score > 0.0 { score } else { 1.0 / -score }),
                    free => (free, |_| 1.0),
                };
                let weight = |candidate: &Candidate| weight(candidate.0).powi(power);
                let target = chance.unit() * among.iter().map(weight).sum::<f64>();
                let mut so_far = 0.0;
                let drawn = among.iter().find(|candidate| {
                    so_far += weight(candidate);
                    target < so_far
                });
                (drawn.unwrap_or(among.last()?).1, task)
            }
        })
    }
}

impl Policy for Naive {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let view = Now(grid, now);
        let overdue = || naive_ahead::overdue(grid, now).filter(|_| self.ahead);
        if let Some(urgent) = self.compare(&view).or_else(overdue) {
            return Some(urgent);
        }
        let mut waiting = view.waiting().into_iter();
        let start = match occasion.cause {
            Cause::Submitted(class) => waiting
                .find(|&task| grid.task(task).class() == class)
                .and_then(|task| self.start(&view, task)),
            Cause::Opened(machine) | Cause::Measured(machine)
                if self.ahead && naive_ahead::leave_if_overfull(grid, machine).is_some() =>
            {
                naive_ahead::leave_if_overfull(grid, machine)
            }
            Cause::LoadFell(machine)
            | Cause::Joined(machine)
            | Cause::Opened(machine)
            | Cause::Measured(machine)
            | Cause::Freed(machine)
            | Cause::Vacated(machine)
            | Cause::Published(machine) => {
                waiting.find(|&task| view.possible(task, machine)).and_then(|task| self.start(&view, task))
            }
            Cause::Lost(_) | Cause::RuleChanged => waiting.find_map(|task| self.start(&view, task)),
            Cause::Closed(machine) => naive_ahead::leave(grid, machine).filter(|_| self.ahead),
            Cause::LoadRose(_)
            | Cause::WokeUp { .. }
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::Withdrawn
            | Cause::DataCame => None,
        };
        let start = start.or_else(|| self.copy(&view, now, occasion.cause));
        let start = start.or_else(|| self.send_ahead(&view));
        start.or_else(|| self.relocate(grid, now, occasion)).or_else(|| self.wake(grid, now))
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}
