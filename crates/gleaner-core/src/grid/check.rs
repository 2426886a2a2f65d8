use super::progress::Resident;
use super::runs::{Run, Stage};
use super::{Availability, Grid, Machine, Task, TaskState};
use crate::parts::make_up;
use crate::{Alarm, Queue};
use gleaner_units::{MachineId, OpsTotal, RunId, TaskId, Time, UserId};
use std::collections::BTreeMap;
use thiserror::Error;

/// A part of the grid that says something else than the tasks do.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum BrokenInvariant {
    /// The tasks listed on a machine are not those whose state names it.
    #[error("{machine} lists {listed} where the tasks' states say {expected}")]
    Residents {
        /// Where.
        machine: MachineId,
        /// As the machine has it.
        listed: String,
        /// As the tasks have it.
        expected: String,
    },
    /// The waiting set is not the set of waiting tasks.
    #[error("{0} is in the waiting set, or missing from it, against its state")]
    Waiting(TaskId),
    /// The runs of a task are not such as a task in its state has.
    #[error("{0} has runs that do not agree with its state, or with each other")]
    Runs(TaskId),
    /// A run is in no task's chain.
    #[error("{listed} runs are kept where the tasks have {expected}")]
    StrayRuns {
        /// As they are kept.
        listed: usize,
        /// As the tasks have them.
        expected: usize,
    },
    /// What is kept of a run's progress is not what its stage allows.
    #[error("the progress of {0} on {1} is not that of a run in its stage")]
    Progress(RunId, MachineId),
    /// The number of placed tasks of a class is wrong.
    #[error("class {class}: {listed} placed where the tasks' states say {expected}")]
    Placed {
        /// Which class.
        class: usize,
        /// As it was kept.
        listed: u32,
        /// As it should be.
        expected: u32,
    },
    /// The sums of the lengths that wait, user by user, are not those of the waiting tasks.
    #[error("{listed} operations wait where the tasks' states say {expected}")]
    WaitingOps {
        /// As they were kept, together.
        listed: f64,
        /// As they should be.
        expected: f64,
    },
    /// What is kept of how long machines stay is not of those that are there.
    #[error("{0} is counted as there, or as away, or with a class, against its state")]
    Staying(MachineId),
    /// The queues and what is said of the planned tasks differ, or a planned task does not wait.
    #[error("the plans do not agree with themselves, or with the waiting tasks")]
    Plans,
    /// The cores that users' runs take are not those of their runs.
    #[error("the cores that users are said to take are not those of their runs")]
    Cores,
    /// The sums of an account are not those of its bills, or a task is billed there that is neither planned nor placed,
    /// or another's.
    #[error("an account does not agree with its bills, or with the tasks")]
    Account,
    /// A run is said to be on its way to a site where it is not.
    #[error("{0} is said to be on its way to {1}, where it is not")]
    Belief(RunId, MachineId),
    /// What is lent, borrowed and held does not agree with itself, or with the machines.
    #[error("the loans do not agree with themselves, or with the machines")]
    Loans,
    /// The answers that are kept do not agree with themselves, or with the tasks.
    #[error("the answers that are kept do not agree with themselves, or with the tasks")]
    Comparisons,
    /// A run that is next follows none on its machine, or something else is said to follow another.
    #[error("the runs that are next do not agree with what they are said to follow")]
    Following,
    /// The runs that sites are asked for are not those whose answers are waited for.
    #[error("not all runs that sites are asked for wait for an answer, or others do")]
    Asked,
    /// Sites are waited for without an alarm, or the alarm is set for nobody.
    #[error("not all surveys have an alarm, or an alarm has no survey")]
    Survey,
    /// There are two alarms of one name, or they are not in order.
    #[error("the alarms are not in order, or two have one name")]
    Alarms,
    /// A machine out of reach has tasks all the same.
    #[error("{0} is on {1}, which is out of reach")]
    OutOfReach(RunId, MachineId),
}

impl Grid {
    /// Derives every index of the grid afresh and compares. Costs O(machines + tasks·log): for tests and for
    /// `gleaner journal verify`.
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        let empty = |machine: &Machine| {
            let mut empty = Machine::new(machine.class(), self.classes.machine_class(machine.class()));
            let others: Vec<_> = machine.others().collect();
            empty.believe(Time::ZERO, &others, |class| self.needs(class));
            empty
        };
        let mut machines: Vec<Machine> = self.machines.iter().map(empty).collect();
        let is_there = |&(run, on): &(RunId, MachineId)| {
            self.find_run(run).is_some_and(|known| self.parts_of(known).any(|part| part.on == on))
        };
        if let Some((run, on)) = self.beliefs.all_sent().find(|sent| !is_there(sent)) {
            return Err(BrokenInvariant::Belief(run, on));
        }
        let mut placed = vec![0; self.placed.len()];
        let mut runs = 0;
        let mut cores: BTreeMap<UserId, u64> = BTreeMap::new();
        for (id, task) in self.tasks() {
            if (task.state == TaskState::Waiting) != self.waiting.contains(task.class, id) {
                return Err(BrokenInvariant::Waiting(id));
            }
            if !self.has_fitting_runs(id, task) {
                return Err(BrokenInvariant::Runs(id));
            }
            runs += self.runs_of(id).count();
            let has_room = |run: &&Run| run.stage != Stage::Missing && self.run_before(run.id).is_none();
            for run in self.runs_of(id).filter(has_room) {
                let needs = self.needs(task.class);
                for part in self.parts_of(run) {
                    *cores.entry(self.payer(id)).or_default() += u64::from(part.cores);
                    if self.machine(part.on).availability() == Availability::Lost {
                        return Err(BrokenInvariant::OutOfReach(run.id, part.on));
                    }
                    let derived = &mut machines[part.on.index()];
                    let resident = Resident::sent(run.id, 0.0);
                    derived.add(Time::ZERO, task.class, resident, needs.of_part(part.cores));
                    if run.stage == Stage::Stopping {
                        derived.stop(Time::ZERO, task.class, run.id, needs.of_part(part.cores));
                    }
                }
                placed[task.class.index()] += u32::from(run.counts());
            }
        }
        if runs != self.runs.len() {
            return Err(BrokenInvariant::StrayRuns { listed: self.runs.len(), expected: runs });
        }
        if !self.caps.is_taken(&cores) {
            return Err(BrokenInvariant::Cores);
        }
        self.compare_residents(&machines)?;
        if !self.loans_are_whole() {
            return Err(BrokenInvariant::Loans);
        }
        if !self.comparisons_are_whole() {
            return Err(BrokenInvariant::Comparisons);
        }
        if !self.following_is_whole() {
            return Err(BrokenInvariant::Following);
        }
        self.check_progress()?;
        self.check_plans()?;
        self.check_staying()?;
        if !self.alarms.is_whole() {
            return Err(BrokenInvariant::Alarms);
        }
        let asked = self.tasks().flat_map(|(id, _)| self.runs_of(id).filter(|run| run.stage == Stage::Asked));
        let asked: Vec<RunId> = asked.map(|run| run.id).collect();
        let is_waited_for =
            |run: &RunId| self.silent(*run).next().is_some() && self.alarm(Alarm::Silence(*run)).is_some();
        if asked.len() != self.runs.silent.len() || !asked.iter().all(is_waited_for) {
            return Err(BrokenInvariant::Asked);
        }
        if self.is_surveying() != self.alarm(Alarm::Survey).is_some() {
            return Err(BrokenInvariant::Survey);
        }
        for (class, (&listed, &expected)) in self.placed.iter().zip(&placed).enumerate() {
            if listed != expected {
                return Err(BrokenInvariant::Placed { class, listed, expected });
            }
        }
        Ok(())
    }

    /// What waits has no run but such as are missing, what is placed has another, or answers that do not decide yet; one that is held waits for the end of
    /// another and is the only one that counts. Newer ones have higher numbers.
    fn has_fitting_runs(&self, id: TaskId, task: &Task) -> bool {
        let any = |stage: &dyn Fn(Stage) -> bool| self.runs_of(id).any(|run| stage(run.stage));
        let held = self.runs_of(id).filter(|run| run.stage == Stage::Held).count();
        let counting = self.runs_of(id).filter(|run| run.counts()).count();
        let fits = match task.state {
            TaskState::Waiting => !any(&|stage| stage != Stage::Missing),
            TaskState::Placed => any(&|stage| stage != Stage::Missing) || self.has_answers(id),
            TaskState::Finished(_) => !any(&|stage| stage != Stage::Stopping),
            TaskState::Withdrawn => !any(&|stage| !matches!(stage, Stage::Stopping | Stage::Missing)),
            TaskState::Retired => !any(&|_| true),
        };
        let numbers: Vec<u32> = self.runs_of(id).map(|run| run.id.number).collect();
        let alone = held == 0 || (counting == 1 && any(&|stage| stage == Stage::Stopping));
        fits && alone
            && self.runs_of(id).all(|run| self.has_fitting_parts(run))
            && numbers.first().is_none_or(|newest| *newest <= task.runs)
            && numbers.is_sorted_by(|newer, older| newer > older)
    }

    /// The parts of a run are all there until it is to stop.
    fn has_fitting_parts(&self, run: &Run) -> bool {
        let Some(parts) = self.runs.wide.get(&run.id) else { return !run.is_wide };
        let cores = self.needs(self.task(run.id.task).class).cores;
        let is_whole = parts.len() > 1 && make_up(parts, cores);
        run.is_wide
            && parts.first().is_some_and(|part| part.on == run.on)
            && (is_whole && run.counts() || run.stage == Stage::Stopping)
    }

    fn check_progress(&self) -> Result<(), BrokenInvariant> {
        for (id, task) in self.tasks() {
            for run in self.runs_of(id).filter(|run| Run::counts(run)) {
                let runs = run.stage == Stage::Running;
                let is_whole = |on: MachineId| self.machine(on).is_whole(task.class, run.id, runs);
                if let Some(part) = self.parts_of(run).find(|part| !is_whole(part.on)) {
                    return Err(BrokenInvariant::Progress(run.id, part.on));
                }
            }
        }
        Ok(())
    }

    fn check_plans(&self) -> Result<(), BrokenInvariant> {
        let waits = |task: &TaskId| self.task(*task).state == TaskState::Waiting;
        let mut expected: BTreeMap<UserId, OpsTotal> = BTreeMap::new();
        for (id, length) in self.tasks().filter_map(|(id, _)| Some((id, self.declared_length(id)?))) {
            if waits(&id) {
                *expected.entry(self.payer(id)).or_default() += OpsTotal::from(length);
            }
        }
        // Who has nothing that waits any more stays there with nothing.
        let listed = self.waiting_ops.iter().filter(|(_, sum)| *sum != OpsTotal::ZERO);
        if !expected.iter().map(|(user, sum)| (*user, *sum)).eq(listed) {
            let expected = expected.into_values().sum::<OpsTotal>().amount();
            let listed = self.waiting_ops.sum().amount();
            return Err(BrokenInvariant::WaitingOps { listed, expected });
        }
        let lost = |queue| match queue {
            Queue::Machine(machine) => self.machine(machine).availability() == Availability::Lost,
            Queue::Class(_) => false,
        };
        let queues = || self.plans.queues();
        let planned = queues().flat_map(|queue| self.plans.ranked(queue)).all(|task| waits(&task));
        if !planned || !self.plans.is_whole() || queues().any(lost) {
            return Err(BrokenInvariant::Plans);
        }
        // One that was cancelled may come to its end as long as a run of it goes on.
        let may_end = |task: TaskId| match self.task(task).state {
            TaskState::Placed => true,
            TaskState::Withdrawn => self.runs_of(task).any(Run::goes_on),
            TaskState::Waiting | TaskState::Finished(_) | TaskState::Retired => false,
        };
        let active = |task: TaskId| self.plans.queue_of(task).is_some() || may_end(task);
        let Some(accounts) = &self.accounts else { return Ok(()) };
        let pays = |key, task| active(task) && accounts.key(self.payer(task)) == key;
        if accounts.is_whole(pays) { Ok(()) } else { Err(BrokenInvariant::Account) }
    }

    fn check_staying(&self) -> Result<(), BrokenInvariant> {
        let own = (0..self.machines.len()).map(MachineId::new).filter(|id| !self.loans.is_borrowed(*id));
        let expected = |id: &MachineId| {
            let machine = self.machine(*id);
            (machine.availability() != Availability::Lost).then_some(machine.class())
        };
        let wrong = own.into_iter().find(|id| self.staying.class_of(*id) != expected(id));
        wrong.map_or(Ok(()), |id| Err(BrokenInvariant::Staying(id)))
    }

    fn compare_residents(&self, derived: &[Machine]) -> Result<(), BrokenInvariant> {
        for (index, (kept, expected)) in self.machines.iter().zip(derived).enumerate() {
            let (kept, expected) = (describe(kept), describe(expected));
            if kept != expected {
                let machine = MachineId::new(index);
                return Err(BrokenInvariant::Residents { machine, listed: kept, expected });
            }
        }
        Ok(())
    }
}

fn describe(machine: &Machine) -> String {
    let text =
        |runs: &mut dyn Iterator<Item = RunId>| runs.map(|run| run.to_string()).collect::<Vec<_>>().join(" ");
    let groups = machine.counts().map(|(class, _)| format!("{class}: {}", text(&mut machine.runs_of(class))));
    let groups: Vec<_> = groups.collect();
    let mut stopping = machine.stopping().to_vec();
    stopping.sort_unstable();
    let (groups, stopping) = (groups.join("; "), text(&mut stopping.into_iter()));
    let (count, shares) = (machine.count(), machine.shares());
    format!("{count} tasks ({groups}) of {shares} shares, to stop {stopping}, that leave {}", machine.free())
}
