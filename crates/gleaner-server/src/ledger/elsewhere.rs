//! Where tasks are not tried again: a try that failed on one machine is followed by one on another, so that one broken
//! machine does not fail a job while good ones are idle. Where a run could not be started for what it asks of its machine, its
//! program above all, all tasks of its job keep away.
//!
//! The scheduler knows classes of tasks and of machines, so this is told in classes: a machine on which a try failed says
//! its name in an attribute of its ad, and the task asks, beside what its job asks, for machines that do not say it.
//! **A task is kept from machines only while another could take it**: where there is none, it is tried anywhere. A job of which
//! runs did start waits for the machines that are left also while these are closed or out of reach.

use super::classes::quoted;
use crate::limits::TRIED_ON_MAX;
use crate::store::TaskRange;
use gleaner_classad::{ClassAd, Expr};
use gleaner_units::{MachineId, TaskClassId, TaskId};
use gleaner_wire::JobId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a machine is called on which a try of a task failed.
const TRIED: &str = "TriedAs";

/// Asks for a machine that is not the one of this name.
pub(super) fn is_another(name: &str) -> String {
    format!("TARGET.{TRIED} =!= {}", quoted(name))
}

/// Whether a clause was written to keep tasks away from a machine.
pub(crate) fn keeps_away(clause: &str) -> bool {
    clause
        .strip_prefix("TARGET.")
        .and_then(|rest| rest.strip_prefix(TRIED))
        .is_some_and(|rest| rest.starts_with(" =!= "))
}

/// Which tasks are kept from which machines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    /// The machines where the last tries of tasks that are not over failed, the oldest first.
    pub(super) tried: BTreeMap<TaskId, Vec<MachineId>>,
    /// The jobs of which runs could not be started somewhere.
    pub(super) jobs: BTreeMap<JobId, NotThere>,
    /// All that say what they are called, and how many of the classes keep away from each.
    machines: BTreeMap<MachineId, u32>,
    /// The classes that were made for this, and what they keep away from.
    classes: BTreeMap<TaskClassId, BTreeSet<MachineId>>,
}

/// Where runs of a job could not be started.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NotThere {
    pub(super) machines: BTreeSet<MachineId>,
    /// Where runs of it did start, as far as that is known since one could not: what was missing there, one task alone lacks.
    pub(super) there: BTreeSet<MachineId>,
    /// The classes of its tasks that keep away from some of them, the latest last: it keeps away from all.
    pub(super) classes: Vec<TaskClassId>,
}

impl Elsewhere {
    /// Where runs of a job could not be started.
    pub(super) fn not_there(&self, job: JobId) -> BTreeSet<MachineId> {
        self.jobs.get(&job).map_or_else(BTreeSet::new, |job| job.machines.clone())
    }

    /// A try of a task failed on a machine.
    pub(super) fn note_try(&mut self, task: TaskId, on: MachineId) {
        let tried = self.tried.entry(task).or_default();
        tried.retain(|machine| *machine != on);
        tried.push(on);
        let surplus = tried.len().saturating_sub(TRIED_ON_MAX);
        tried.drain(..surplus);
    }

    /// The classes that were made for this.
    pub(super) fn classes(&self) -> impl Iterator<Item = TaskClassId> {
        self.classes.keys().copied()
    }

    /// Whether a class was made for this.
    pub(super) fn has_class(&self, class: TaskClassId) -> bool {
        self.classes.contains_key(&class)
    }

    /// What some of these classes keep away from.
    pub(super) fn kept_from(&self, is_meant: impl Fn(TaskClassId) -> bool) -> Vec<&BTreeSet<MachineId>> {
        self.classes.iter().filter(|(class, _)| is_meant(**class)).map(|(_, apart)| apart).collect()
    }

    /// How many machines say what they are called.
    pub(super) fn machines(&self) -> usize {
        self.machines.len()
    }

    /// Those of some machines that do not say what they are called.
    pub(super) fn nameless(&self, machines: &BTreeSet<MachineId>) -> Vec<MachineId> {
        machines.iter().copied().filter(|machine| !self.machines.contains_key(machine)).collect()
    }

    /// A machine says from now on what it is called.
    pub(super) fn name(&mut self, machine: MachineId) {
        self.machines.entry(machine).or_default();
    }

    /// A machine does not say so any more.
    pub(super) fn unname(&mut self, machine: MachineId) {
        self.machines.remove(&machine);
    }

    /// A class keeps away from machines, each of which says what it is called.
    pub(super) fn add_class(&mut self, class: TaskClassId, apart: BTreeSet<MachineId>) {
        for machine in &apart {
            *self.machines.get_mut(machine).expect("it says what it is called") += 1;
        }
        self.classes.insert(class, apart);
    }

    /// Nobody needs a class any more. The machines that need not say any more what they are called, if it was one of these classes.
    pub(super) fn remove_class(&mut self, class: TaskClassId) -> Option<Vec<MachineId>> {
        let mut unneeded = Vec::new();
        for machine in self.classes.remove(&class)? {
            let count = self.machines.get_mut(&machine).expect("it says what it is called");
            *count -= 1;
            if *count == 0 {
                unneeded.push(machine);
            }
        }
        Some(unneeded)
    }

    /// A job left memory.
    pub(super) fn leave(&mut self, job: JobId) {
        self.jobs.remove(&job);
    }

    /// They are over.
    pub(super) fn forget(&mut self, tasks: TaskRange) {
        while let Some((&task, _)) = self.tried.range(tasks.first()..=tasks.last()).next() {
            self.tried.remove(&task);
        }
    }

    /// Adds what its machine says because of this.
    pub(super) fn describe(&self, id: MachineId, name: &str, ad: &mut ClassAd) {
        if self.machines.contains_key(&id) {
            ad.insert(TRIED, Expr::parse(quoted(name)).expect("a quoted text is an expression"));
        }
    }
}
