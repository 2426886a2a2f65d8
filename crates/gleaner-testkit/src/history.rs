//! What the outside of a live grid may report, drawn from a seed: machines that come, close, get lost and return, owners,
//! replies early, late and stale, users who cancel and run again.

use crate::random::{self, Choices};
use gleaner_core::{
    Alarm, Answer, Change, Command, Decision, Event, Grid, Likeness, Owner, Policy, Run, RunEnd, Scheduler,
    Settled, Stage, TaskState,
};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time};

/// So many events after the opening.
const EVENTS: usize = 60;

/// The outside.
pub struct Outside {
    choices: Choices,
    now: Time,
    opening: Vec<Event>,
}

impl Outside {
    /// The outside of that seed, with room on its machines or, in one of four, without.
    pub fn seeded(seed: u64) -> Self {
        let with_room = !seed.is_multiple_of(4);
        let setup = if with_room { random::setup_with_room(seed) } else { random::setup(seed) };
        let machine_classes = setup.machine_classes.into_iter().map(Box::new).map(Event::MachineClassMet);
        let task_classes = setup.task_classes.into_iter().map(Box::new).map(Event::TaskClassMet);
        let joined = setup.machines.into_iter().enumerate();
        let joined =
            joined.map(|(index, class)| Event::MachineJoined { machine: MachineId::new(index), class });
        let mut opening: Vec<Event> = machine_classes.chain(task_classes).chain(joined).collect();
        opening.reverse();
        Self { choices: Choices::seeded(seed ^ 0x6c69_7665), now: Time::ZERO, opening }
    }

    /// A fact that may be reported about this grid.
    fn next(&mut self, grid: &Grid) -> Event {
        if let Some(event) = self.opening.pop() {
            return event;
        }
        let is_due = grid.alarm(Alarm::Batch).is_some_and(|at| at <= self.now);
        if is_due && self.choices.one_in(2) {
            return Event::WokeUp { alarm: Alarm::Batch };
        }
        if !self.choices.one_in(4) {
            self.now = self.now.after_seconds(4.0 * self.choices.unit());
        }
        match self.choices.below(16) {
            0..=2 => self.submission(grid),
            3..=9 => self.about_a_task(grid),
            10 => self.measurement(grid),
            11 | 12 => {
                let load = [0.0, 1.0, self.choices.unit(), 0.0][self.choices.below(4)];
                Event::OwnerLoadReported { machine: self.machine(grid), load }
            }
            13 | 14 => self.about_a_machine(grid),
            _ if self.choices.one_in(4) => Event::RuleChanged,
            _ => Event::WokeUp { alarm: Alarm::Relocation },
        }
    }

    fn machine(&mut self, grid: &Grid) -> MachineId {
        MachineId::new(self.choices.below(grid.machines().len()))
    }

    fn submission(&mut self, grid: &Grid) -> Event {
        let class = TaskClassId::new(self.choices.below(grid.classes().task_classes().len()));
        let count = if self.choices.one_in(10) { self.choices.below(30) } else { 1 + self.choices.below(3) };
        Event::TasksSubmitted {
            first: TaskId::new(grid.task_count()),
            count: count as u32,
            class,
            length: None,
        }
    }

    /// Mostly about one that has runs, and mostly about the newest of them.
    fn about_a_task(&mut self, grid: &Grid) -> Event {
        if grid.task_count() == 0 {
            return Event::WokeUp { alarm: Alarm::Relocation };
        }
        let with_runs = grid.tasks().map(|(id, _)| id).filter(|id| grid.runs_of(*id).next().is_some());
        let with_runs: Vec<TaskId> = with_runs.collect();
        let task = match with_runs.len() {
            0 => TaskId::new(self.choices.below(grid.task_count())),
            _ if self.choices.one_in(6) => TaskId::new(self.choices.below(grid.task_count())),
            count => with_runs[self.choices.below(count)],
        };
        let known: Vec<RunId> = grid.runs_of(task).map(Run::id).collect();
        let run = match known.len() {
            0 => RunId::new(task, grid.task(task).runs()),
            // One that is over, is not sent yet, or never was.
            _ if self.choices.one_in(8) => {
                RunId::new(task, self.choices.below(grid.task(task).runs() as usize + 2) as u32)
            }
            count => known[self.choices.below(count)],
        };
        let stage = grid.find_run(run).map(Run::stage);
        match self.choices.below(15) {
            12 => self.reclassing(grid, task),
            13 | 14 => self.retirement(grid),
            0 => Event::TasksWithdrawn { first: task, count: self.some(grid, task) },
            1 => Event::TasksReturned { first: task, count: self.some(grid, task) },
            2 => self.rerun(grid, task),
            3 => Event::RunEnded { run, end: RunEnd::Lost },
            4..=8 if matches!(stage, Some(Stage::Sent | Stage::Next)) => Event::RunStarted(run),
            4..=8 if stage == Some(Stage::Stopping) => Event::RunEnded { run, end: RunEnd::Kept },
            9 if self.choices.one_in(2) => Event::RunEnded { run, end: RunEnd::Kept },
            _ if grid.comparison(task).is_some_and(|so_far| so_far.compared_by(run).is_some())
                && !self.choices.one_in(10) =>
            {
                let likeness = [Likeness::Alike, Likeness::Different, Likeness::Failed];
                let likeness = likeness[self.choices.below(5) % 3];
                Event::RunEnded { run, end: RunEnd::Compared(likeness) }
            }
            _ if grid.is_compared(task) && self.choices.one_in(10) => {
                Event::RunEnded { run, end: RunEnd::Refused }
            }
            _ if grid.is_compared(task) => {
                let exact = if self.choices.one_in(6) { Answer::EXACT } else { 0 };
                let answer = Answer(exact + self.choices.below(3) as u32);
                Event::RunEnded { run, end: RunEnd::Answered(answer) }
            }
            _ => Event::RunEnded { run, end: RunEnd::Finished },
        }
    }

    /// They become another kind of task, of the same user's.
    fn reclassing(&mut self, grid: &Grid, first: TaskId) -> Event {
        let classes = grid.classes().task_classes();
        let class = TaskClassId::new(self.choices.below(classes.len()));
        let count = self.some(grid, first);
        let payer = |class: TaskClassId| grid.classes().task_class(class).payer;
        let mut tasks = (first.index()..first.index() + count as usize).map(TaskId::new);
        let are_same = tasks.all(|task| {
            grid.task(task).state() != TaskState::Retired && payer(class) == payer(grid.task(task).class())
        });
        if are_same { Event::TasksReclassed { first, count, class } } else { Event::RuleChanged }
    }

    /// A task that is over is asked for no more, or one that was is asked for again.
    fn retirement(&mut self, grid: &Grid) -> Event {
        let is_over = |task: &TaskId| match grid.task(*task).state() {
            TaskState::Finished(_) | TaskState::Withdrawn => grid.runs_of(*task).next().is_none(),
            TaskState::Retired => true,
            TaskState::Waiting | TaskState::Placed => false,
        };
        let over: Vec<TaskId> = grid.tasks().map(|(task, _)| task).filter(is_over).collect();
        if over.is_empty() {
            return Event::RuleChanged;
        }
        let first = over[self.choices.below(over.len())];
        if grid.task(first).state() == TaskState::Retired {
            let class = TaskClassId::new(self.choices.below(grid.classes().task_classes().len()));
            let (runs, submitted) = (self.choices.below(3) as u32 + 9, self.now);
            return Event::TasksRevived {
                first,
                count: self.some(grid, first),
                class,
                length: None,
                runs,
                submitted,
            };
        }
        let most = self.some(grid, first) as usize;
        let following =
            (first.index()..).map(TaskId::new).zip(over.iter().skip_while(|task| **task != first));
        let count = following.take(most).take_while(|(next, task)| next == *task).count() as u32;
        Event::TasksRetired { first, count }
    }

    /// A task alone, or with some that follow on it.
    fn some(&mut self, grid: &Grid, first: TaskId) -> u32 {
        let left = grid.task_count() - first.index();
        if self.choices.one_in(4) { 1 + self.choices.below(left) as u32 } else { 1 }
    }

    /// Of some stretches.
    fn rerun(&mut self, grid: &Grid, mut first: TaskId) -> Event {
        let mut tasks = Vec::new();
        loop {
            let count = self.some(grid, first);
            tasks.push((first, count));
            first = TaskId::new(first.index() + count as usize + 1);
            if first.index() >= grid.task_count() || self.choices.one_in(2) {
                return Event::TasksRerun { tasks };
            }
        }
    }

    fn about_a_machine(&mut self, grid: &Grid) -> Event {
        let machine = self.machine(grid);
        match self.choices.below(8) {
            7 => {
                let owner = (!self.choices.one_in(4)).then(|| Owner(self.choices.below(3) as u32));
                Event::MachineOwned { machine, owner }
            }
            0 => Event::MachineClosed { machine },
            1 | 2 => Event::MachineOpened { machine },
            3 => Event::MachineLost { machine },
            4 | 5 => Event::MachineReturned { machine },
            _ => Event::MachineJoined {
                machine: MachineId::new(grid.machines().len()),
                class: grid.machine(machine).class(),
            },
        }
    }

    /// Of a machine or of a kind of task, so that what runs where it is could run there still, or not.
    fn measurement(&mut self, grid: &Grid) -> Event {
        let machine = self.machine(grid);
        if self.choices.one_in(2) {
            let class = MachineClassId::new(self.choices.below(grid.classes().machine_classes().len()));
            let mut there = grid.machine(machine).counts();
            let goes_on = there.all(|(task, _)| grid.classes().seconds_per_op(task, class).is_finite());
            return if goes_on || self.choices.one_in(3) {
                Event::MachineMeasured { machine, class }
            } else {
                Event::WokeUp { alarm: Alarm::Relocation }
            };
        }
        let class = TaskClassId::new(self.choices.below(grid.classes().task_classes().len()));
        if grid.tasks().all(|(_, task)| task.class() != class) {
            let other = self.choices.below(grid.classes().task_classes().len());
            let by = Box::new(grid.classes().task_classes()[other].clone());
            return Event::TaskClassReplaced { class, by };
        }
        let cpu = self.choices.unit();
        let composition =
            if self.choices.one_in(3) { vec![1.0, 0.0, 0.0] } else { vec![cpu, 0.0, 1.0 - cpu] };
        let goes_on =
            grid.machines().iter().filter(|machine| machine.runs_of(class).next().is_some()).all(|machine| {
                let speeds = &grid.classes().machine_class(machine.class()).speeds;
                composition.iter().zip(speeds).all(|(share, speed)| *share == 0.0 || *speed > 0.0)
            });
        if goes_on || self.choices.one_in(3) {
            Event::TaskClassesMeasured { classes: vec![class], composition }
        } else {
            Event::WokeUp { alarm: Alarm::Relocation }
        }
    }
}

/// One event, and what a scheduler made of it.
pub struct Step<'a, P> {
    /// When.
    pub now: Time,
    /// What happened.
    pub event: Event,
    /// What it changed.
    pub changes: Vec<Change>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What was ordered.
    pub commands: Vec<Command>,
    /// How far the answer went.
    pub settled: Settled,
    /// The scheduler afterwards.
    pub scheduler: &'a Scheduler<P>,
}

/// Lets a scheduler live through the history of that seed, and shows each step until `see` finds fault with one.
pub fn live<P: Policy>(
    seed: u64,
    grid: Grid,
    policy: P,
    mut see: impl FnMut(&Step<'_, P>) -> Result<(), String>,
) -> Result<(), String> {
    let mut outside = Outside::seeded(seed);
    let mut scheduler = Scheduler::new(grid, policy);
    for _ in 0..EVENTS + outside.opening.len() {
        let event = outside.next(scheduler.grid());
        let now = outside.now;
        let changes = scheduler.apply(now, &event).to_vec();
        let mut decisions = Vec::new();
        let settled = scheduler.decide(now, &mut decisions);
        let commands = scheduler.take_orders().collect();
        see(&Step { now, event, changes, decisions, commands, settled, scheduler: &scheduler })?;
    }
    Ok(())
}

/// The grid as it would be saved.
pub fn bytes(grid: &Grid) -> Vec<u8> {
    postcard::to_stdvec(grid).expect("plain data can always be written to memory")
}

/// Lets another policy live through the same, and says where the two first differ. What differs in the grid alone, and
/// not in a decision or a count, would be a wish that only one of them was refused.
pub fn first_difference<P: Policy>(seed: u64, grid: &Grid, one: P, other: impl Policy) -> Option<String> {
    let mut follower = Scheduler::new(grid.clone(), other);
    let differ = live(seed, grid.clone(), one, |step| {
        let Step { now, event, decisions, settled, .. } = step;
        follower.apply(*now, event);
        let mut wishes = Vec::new();
        let left = follower.decide(*now, &mut wishes);
        if (&wishes, left) == (decisions, *settled) {
            Ok(())
        } else {
            Err(format!("at {now}, {event:?}: {decisions:?}\n   against {wishes:?}"))
        }
    });
    differ.err()
}
