//! Where tasks are not tried again: a try that failed on one machine is followed by one on another, so that one broken
//! machine does not fail a job while good ones are idle.
//!
//! The scheduler knows classes of tasks and of machines, so this is told in classes: a machine on which a try failed says
//! its name in an attribute of its ad, and the task asks, beside what its job asks, for machines that do not say it.
//! **A task is kept from machines only while another could take it**: where there is none, it is tried anywhere.

use super::kinds::quoted;
use crate::store::TaskRange;
use gleaner_classad::{ClassAd, Expr};
use gleaner_units::{MachineId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a machine is called on which a try of a task failed.
pub(super) const TRIED: &str = "TriedAs";

/// Which tasks are kept from which machines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    /// The machines where the last tries of tasks that are not over failed, the oldest first.
    pub(super) tried: BTreeMap<TaskId, Vec<MachineId>>,
    /// All that say what they are called.
    pub(super) machines: BTreeSet<MachineId>,
    /// How many classes were made for this.
    pub(super) classes: u32,
}

impl Elsewhere {
    /// They are over.
    pub(super) fn forget(&mut self, tasks: TaskRange) {
        while let Some((&task, _)) = self.tried.range(tasks.first()..=tasks.last()).next() {
            self.tried.remove(&task);
        }
    }

    /// Adds what its machine says because of this.
    pub(super) fn describe(&self, id: MachineId, name: &str, ad: &mut ClassAd) {
        if self.machines.contains(&id) {
            ad.insert(TRIED, Expr::parse(quoted(name)).expect("a quoted text is an expression"));
        }
    }
}
