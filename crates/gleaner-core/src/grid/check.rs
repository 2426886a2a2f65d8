use super::progress::Resident;
use super::{Availability, Grid, Machine, TaskState};
use crate::Queue;
use gleaner_units::{MachineId, OpsTotal, TaskId, Time, UserId};
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
    /// What is kept of a task's progress is not what its state allows.
    #[error("the progress of {0} on {1} is not that of a task in its state")]
    Progress(TaskId, MachineId),
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
    /// The queues and what is said of the planned tasks differ, or a planned task does not wait.
    #[error("the plans do not agree with themselves, or with the waiting tasks")]
    Plans,
    /// The sums of an account are not those of its bills, or a task is billed there that is neither planned nor placed,
    /// or another's.
    #[error("an account does not agree with its bills, or with the tasks")]
    Account,
    /// A machine out of reach has tasks all the same.
    #[error("{0} is on {1}, which is out of reach")]
    OutOfReach(TaskId, MachineId),
}

impl Grid {
    /// Derives every index of the grid afresh and compares. Costs O(machines + tasks·log): for tests and for
    /// `gleaner journal verify`.
    pub fn check(&self) -> Result<(), BrokenInvariant> {
        let empty =
            |machine: &Machine| Machine::new(machine.class(), self.classes.machine_class(machine.class()));
        let mut machines: Vec<Machine> = self.machines.iter().map(empty).collect();
        let mut placed = vec![0; self.placed.len()];
        for (id, task) in self.tasks() {
            if (task.state == TaskState::Waiting) != self.waiting.contains(task.class, id) {
                return Err(BrokenInvariant::Waiting(id));
            }
            if let Some(on) = task.placed_on() {
                if self.machine(on).availability() == Availability::Lost {
                    return Err(BrokenInvariant::OutOfReach(id, on));
                }
                let resident = Resident::sent(id, 0.0);
                machines[on.index()].add(Time::ZERO, task.class, resident, self.needs(task.class));
                placed[task.class.index()] += 1;
            }
        }
        self.compare_residents(&machines)?;
        self.check_progress()?;
        self.check_plans()?;
        for (class, (&listed, &expected)) in self.placed.iter().zip(&placed).enumerate() {
            if listed != expected {
                return Err(BrokenInvariant::Placed { class, listed, expected });
            }
        }
        Ok(())
    }

    fn check_progress(&self) -> Result<(), BrokenInvariant> {
        for (id, task) in self.tasks() {
            let Some(on) = task.placed_on() else { continue };
            let runs = task.state == TaskState::Running(on);
            if !self.machine(on).is_whole(task.class, id, runs) {
                return Err(BrokenInvariant::Progress(id, on));
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
        if expected != self.waiting_ops {
            let sum = |sums: &BTreeMap<UserId, OpsTotal>| sums.values().copied().sum::<OpsTotal>().amount();
            let (listed, expected) = (sum(&self.waiting_ops), sum(&expected));
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
        let active =
            |task: TaskId| self.plans.queue_of(task).is_some() || self.task(task).placed_on().is_some();
        let Some(accounts) = &self.accounts else { return Ok(()) };
        let pays = |key, task| active(task) && accounts.key(self.payer(task)) == key;
        if accounts.is_whole(pays) { Ok(()) } else { Err(BrokenInvariant::Account) }
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
    let groups = machine.counts().map(|(class, _)| {
        let tasks: Vec<String> = machine.tasks_of(class).map(|task| task.to_string()).collect();
        format!("{class}: {}", tasks.join(" "))
    });
    let groups: Vec<_> = groups.collect();
    format!("{} tasks ({}) that leave {}", machine.count(), groups.join("; "), machine.free())
}
