//! A peer's policy written straight from Da Silva and Nesmachnow's section 5 and the contract, by scans of everything at every
//! question. It keeps how long tasks were that ended, and nothing else.

use gleaner_core::{
    Alarm, Availability, Cause, Change, Decision, Grid, Lending, Occasion, Policy, Seek, Stage, TaskState,
    Want,
};
use gleaner_units::{MachineClassId, MachineId, PartyId, TaskClassId, TaskId, Time};

/// What a worker is judged by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// What all its cores do.
    Power,
    /// What one core does.
    PerCore,
    /// What all do, by how many runs came to their end.
    Reliable,
    /// What is done for a joule.
    Joules,
    /// The least joules times seconds.
    JoulesSeconds,
    /// The same, by how many runs came to their end.
    ReliableJoulesSeconds,
}

/// The rule, said with words of its own.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one choice of the rule, said apart from the policy's own words"
)]
pub struct NaivePeer {
    /// Algorithm 1, or else the first that is discovered.
    pub is_greedy: bool,
    /// What a worker is judged by.
    pub measure: Measure,
    /// Who did most is lent to first.
    pub by_favours: bool,
    /// Fewer are lent while less comes back.
    pub matches: bool,
    /// Tasks queue on workers rather than at the peer.
    pub on_workers: bool,
    /// Lent workers are taken back.
    pub takes_back: bool,
    /// A task starts at home only after no peer has a more powerful worker.
    pub reaches: bool,
    /// A task does not start on a machine of its own if faster ones there would have done all that waits before that one had done
    /// one task.
    pub holds: bool,
    /// How many operations tasks had that ended, one after the other, in parts of 1/1024.
    pub ended: Vec<(TaskClassId, f64)>,
}

fn machines(grid: &Grid) -> impl Iterator<Item = MachineId> + '_ {
    (0..grid.machines().len()).map(MachineId::new)
}

fn is_own(grid: &Grid, machine: MachineId) -> bool {
    !grid.loans().is_borrowed(machine)
}

fn is_open(grid: &Grid, machine: MachineId) -> bool {
    grid.machine(machine).availability() == Availability::Open
}

fn waiting(grid: &Grid) -> Vec<TaskId> {
    let waits = grid.tasks().filter(|(_, task)| task.state() == TaskState::Waiting);
    waits.map(|(id, _)| id).collect()
}

fn runs(grid: &Grid, class: TaskClassId, machine: MachineId) -> bool {
    is_open(grid, machine) && grid.seconds_per_op(class, machine).is_finite()
}

fn ops_per_s(grid: &Grid, class: MachineClassId) -> f64 {
    let class = grid.classes().machine_class(class);
    class.speeds[0] * f64::from(class.cores)
}

impl NaivePeer {
    /// What peers were asked for and do not have: a worker above this power.
    fn none_above(&self, grid: &Grid, class: TaskClassId) -> Option<f64> {
        if !self.reaches || !grid.loans().is_connected() {
            return Some(0.0);
        }
        let asked = grid.loans().asked(class);
        let above = match asked.seek {
            Seek::Above(class) => ops_per_s(grid, class),
            Seek::First | Seek::MostPowerful => 0.0,
        };
        (asked.workers > 0 && asked.in_vain).then_some(above)
    }

    /// When a machine is idle for a task that had better wait for a faster one: when the first of these should be done.
    fn held_until(&self, grid: &Grid, now: Time, class: TaskClassId, idle: MachineId) -> Option<Time> {
        let lengths: Vec<f64> =
            self.ended.iter().filter(|(of, _)| *of == class).map(|(_, parts)| *parts).collect();
        if !self.holds || lengths.is_empty() {
            return None;
        }
        let usual = lengths.iter().sum::<f64>() / 1024.0 / lengths.len() as f64;
        let here = usual * grid.seconds_per_op(class, idle);
        let (mut elsewhere, mut soonest) = (0.0, f64::INFINITY);
        for machine in machines(grid).filter(|machine| is_own(grid, *machine)) {
            let there = usual * grid.seconds_per_op(class, machine);
            if there.is_nan() || there >= here {
                continue;
            }
            for run in grid.machine(machine).runs().filter_map(|run| grid.find_run(run)) {
                if grid.task(run.id().task).class() != class {
                    continue;
                }
                let mut done = 0.0;
                if run.stage() == Stage::Running {
                    done = now.since(run.since()).seconds() / (there / usual);
                }
                let left = if usual > 2.0 * done { usual - done } else { 2.0 * done - done };
                let seconds = left * there / usual;
                let tasks = ((here - seconds) / there).floor();
                if tasks > 0.0 {
                    elsewhere += tasks;
                    soonest = soonest.min(seconds);
                }
            }
        }
        let waits = waiting(grid).iter().filter(|task| grid.task(**task).class() == class).count();
        (elsewhere >= waits as f64).then(|| now.after_seconds(soonest.max(1e-6)))
    }

    /// Whoever is held back is looked at again when the first of the faster machines should be done.
    fn wake(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let waits: Vec<TaskClassId> = waiting(grid).iter().map(|task| grid.task(*task).class()).collect();
        let own = |class| self.free(grid, class).filter(|machine| is_own(grid, *machine));
        let held = waits.iter().filter_map(|class| self.held_until(grid, now, *class, own(*class)?));
        let (alarm, at) = (Alarm::Held, held.min()?);
        grid.alarm(alarm).is_none_or(|set| at < set).then_some(Decision::Wake { alarm, at })
    }

    fn is_short(&self, grid: &Grid, class: TaskClassId) -> bool {
        let asked = grid.loans().asked(class);
        let all_were_asked = asked.in_vain && asked.seek == Seek::MostPowerful;
        !self.reaches || !grid.loans().is_connected() || all_were_asked
    }

    fn power(&self, grid: &Grid, machine: MachineId) -> f64 {
        let class = grid.classes().machine_class(grid.machine(machine).class());
        let power = class.speeds[0] * f64::from(class.cores);
        let said = class.ad.as_ref().map(|ad| ad.class_ad().to_string());
        let watts = said.map_or(100.0, |ad| {
            let number: String = ad.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            number.parse().expect("an ad that says its watts alone")
        });
        let ends = grid.ends_on(machine);
        let all = f64::from(ends.finished) + 1.0 + f64::from(ends.lost);
        let part = (f64::from(ends.finished) + 1.0) / all;
        match self.measure {
            Measure::Power => power,
            Measure::PerCore => class.speeds[0],
            Measure::Reliable => power * part,
            Measure::Joules => power / watts,
            Measure::JoulesSeconds => power * power / watts,
            Measure::ReliableJoulesSeconds => power * power / watts * (part * part),
        }
    }

    /// Algorithm 1, lines 6 to 24: each is put before the first that is no more powerful.
    fn ordered(&self, grid: &Grid, possible: Vec<MachineId>) -> Vec<MachineId> {
        if !self.is_greedy {
            return possible;
        }
        let mut list: Vec<MachineId> = Vec::new();
        for worker in possible {
            let power = self.power(grid, worker);
            // What differs by rounding is equal.
            let index = list.iter().position(|other| power >= self.power(grid, *other) * (1.0 - 1e-9));
            list.insert(index.unwrap_or(list.len()), worker);
        }
        list
    }

    fn first(&self, grid: &Grid, wanted: impl Fn(MachineId) -> bool) -> Option<MachineId> {
        let possible = machines(grid).filter(|machine| wanted(*machine)).collect();
        self.ordered(grid, possible).first().copied()
    }

    fn free(&self, grid: &Grid, class: TaskClassId) -> Option<MachineId> {
        self.first(grid, |machine| {
            runs(grid, class, machine) && grid.machine(machine).count() < grid.machine(machine).cores()
        })
    }

    fn lendable(&self, grid: &Grid, class: TaskClassId) -> Option<MachineId> {
        let is_empty = |machine| {
            let machine = grid.machine(machine);
            machine.count() == 0 && machine.stopping().is_empty()
        };
        self.first(grid, |machine| is_own(grid, machine) && runs(grid, class, machine) && is_empty(machine))
    }

    fn shortest(&self, grid: &Grid, class: TaskClassId) -> Option<MachineId> {
        let length = |machine: MachineId| {
            f64::from(grid.machine(machine).count()) / f64::from(grid.machine(machine).cores())
        };
        let able = |machine: MachineId| is_own(grid, machine) && runs(grid, class, machine);
        let least = machines(grid).filter(|machine| able(*machine)).map(length).fold(f64::INFINITY, f64::min);
        self.first(grid, |machine| able(machine) && length(machine) == least)
    }

    fn place(grid: &Grid, place: impl Fn(TaskClassId) -> Option<MachineId>) -> Option<Decision> {
        let found = waiting(grid).into_iter().find_map(|task| Some((task, place(grid.task(task).class())?)));
        found.map(|(task, on)| Decision::Start { task, on })
    }

    fn may_lend(&self, grid: &Grid) -> bool {
        let lent = machines(grid).filter(|m| grid.machine(*m).availability() == Availability::Lent).count();
        let own = machines(grid).filter(|machine| is_own(grid, *machine)).count();
        !self.matches || lent < grid.loans().favours().supply(own as u32) as usize
    }

    fn lend(&self, grid: &Grid) -> Option<Lending> {
        let wants = grid.loans().wants();
        if wants.is_empty() {
            return None;
        }
        if !waiting(grid).is_empty() || !self.may_lend(grid) {
            return Some(Lending::Refuse);
        }
        let mut left: Vec<Want> = wants.to_vec();
        while !left.is_empty() {
            let owed = |want: &Want| grid.loans().favours().owed_to(want.by);
            let mut best = 0;
            for (index, want) in left.iter().enumerate() {
                if self.by_favours && owed(want) > owed(&left[best]) {
                    best = index;
                }
            }
            let want = left.remove(best);
            let is_such = |machine: &MachineId| match want.seek {
                Seek::Above(class) => {
                    ops_per_s(grid, grid.machine(*machine).class()) > ops_per_s(grid, class)
                }
                Seek::First | Seek::MostPowerful => true,
            };
            if let Some(machine) = self.lendable(grid, want.class).filter(is_such) {
                return Some(Lending::Lend { machine, to: want.by });
            }
        }
        Some(Lending::Refuse)
    }

    /// The newest of whoever holds most beyond the share that its favours earn.
    fn to_recall(grid: &Grid, class: TaskClassId) -> Option<MachineId> {
        let loans = grid.loans();
        let holders: Vec<(PartyId, Vec<(u64, MachineId)>)> =
            loans.holders().map(|(peer, held)| (peer, held.iter().copied().collect())).collect();
        let all: usize = holders.iter().map(|(_, held)| held.len()).sum();
        let owed = |peer: PartyId| loans.favours().owed_to(peer).seconds();
        let total: f64 = holders.iter().map(|(peer, _)| owed(*peer)).sum();
        let mut best: Option<(f64, u64, MachineId)> = None;
        for (peer, held) in &holders {
            let part = if total > 0.0 { owed(*peer) / total } else { 1.0 / holders.len() as f64 };
            let beyond = held.len() as f64 - all as f64 * part;
            let able = |&&(_, machine): &&(u64, MachineId)| grid.seconds_per_op(class, machine).is_finite();
            let Some(&(number, machine)) = held.iter().filter(able).max() else { continue };
            if best.is_none_or(|(most, newest, _)| beyond > most || (beyond == most && number > newest)) {
                best = Some((beyond, number, machine));
            }
        }
        best.map(|(.., machine)| machine)
    }

    fn recall(&self, grid: &Grid) -> Option<Lending> {
        let held: usize = grid.loans().holders().map(|(_, held)| held.len()).sum();
        if !self.takes_back || held == 0 {
            return None;
        }
        let comes = grid.loans().lent() - held;
        let waits = waiting(grid);
        let of = |class| waits.iter().filter(|task| grid.task(**task).class() == class).count();
        let short = |class| of(class) > comes && self.is_short(grid, class);
        let task = waits.iter().find(|task| short(grid.task(**task).class()))?;
        Some(Lending::Recall { machine: Self::to_recall(grid, grid.task(*task).class())? })
    }
}

impl Policy for NaivePeer {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        if let Change::Finished(id) = *change
            && let Some(took) = grid.took(id)
        {
            let parts = (took.service_seconds / took.seconds_per_op * 1024.0).round();
            self.ended.push((grid.task(id).class(), parts));
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let gives_back = |machine: MachineId| {
            let there = grid.machine(machine);
            let is_done = there.count() == 0 && there.stopping().is_empty();
            let gives = !is_own(grid, machine) && is_open(grid, machine) && is_done;
            gives.then_some(Decision::Lending(Lending::GiveBack { machine }))
        };
        if let Cause::Freed(machine) | Cause::Vacated(machine) = occasion.cause
            && let Some(back) = gives_back(machine)
        {
            return Some(back);
        }
        if let Cause::Joined(machine) = occasion.cause
            && !is_own(grid, machine)
            && let Some(start) = Self::place(grid, |class| {
                (runs(grid, class, machine) && grid.machine(machine).count() == 0).then_some(machine)
            })
        {
            return Some(start);
        }
        // What was taken back was taken back for what waits.
        if let Cause::Opened(machine) | Cause::Measured(machine) = occasion.cause
            && self.takes_back
            && self.reaches
            && is_own(grid, machine)
            && let Some(start) = Self::place(grid, |class| {
                let has_room = grid.machine(machine).count() < grid.machine(machine).cores();
                let starts = has_room && runs(grid, class, machine);
                (starts && self.held_until(grid, now, class, machine).is_none()).then_some(machine)
            })
        {
            return Some(start);
        }
        let clear = |class, machine: &MachineId| {
            let power = ops_per_s(grid, grid.machine(*machine).class());
            !is_own(grid, *machine)
                || (self.none_above(grid, class).is_some_and(|above| power >= above)
                    && self.held_until(grid, now, class, *machine).is_none())
        };
        if let Some(start) =
            Self::place(grid, |class| self.free(grid, class).filter(|machine| clear(class, machine)))
        {
            return Some(start);
        }
        let then =
            match occasion.cause {
                Cause::Joined(machine) | Cause::Opened(machine) | Cause::Measured(machine) => {
                    gives_back(machine)
                }
                Cause::Wanted => self.lend(grid).map(Decision::Lending),
                Cause::NothingLent if self.on_workers => Self::place(grid, |class| {
                    if self.is_short(grid, class) { self.shortest(grid, class) } else { None }
                }),
                _ => None,
            };
        if then.is_some() {
            return then;
        }
        if let Some(recall) = self.recall(grid) {
            return Some(Decision::Lending(recall));
        }
        let held: usize = grid.loans().holders().map(|(_, held)| held.len()).sum();
        let comes = grid.loans().lent() - held;
        let waits = waiting(grid);
        for class in (0..grid.classes().task_classes().len()).map(TaskClassId::new) {
            let missing = waits.iter().filter(|task| grid.task(**task).class() == class).count();
            let workers = missing.saturating_sub(comes) as u32;
            let free = self.free(grid, class).filter(|machine| is_own(grid, *machine));
            let seek = match (self.reaches && workers > 0, free) {
                (false, _) => Seek::First,
                (true, None) => Seek::MostPowerful,
                (true, Some(machine)) => Seek::Above(grid.machine(machine).class()),
            };
            let asked = grid.loans().asked(class);
            if workers != asked.workers || (workers > 0 && seek != asked.seek) {
                return Some(Decision::Lending(Lending::Ask { class, workers, seek }));
            }
        }
        let lends = waits.is_empty() && self.may_lend(grid);
        let best = if lends { self.lendable(grid, TaskClassId::FIRST) } else { None };
        let best = best.map(|machine| grid.machine(machine).class());
        let said = grid.loans().offers();
        let is_news = if self.reaches { best != said } else { best.is_some() != said.is_some() };
        if is_news { Some(Decision::Lending(Lending::Offer { best })) } else { self.wake(grid, now) }
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}
