//! Which machines keep aborting: a count of tasks in a row that a machine did not end.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// By machine of the trace, over all the times that it is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reputation {
    in_a_row: BTreeMap<u32, u32>,
    bad: BTreeSet<u32>,
}

impl Reputation {
    /// Whether a machine is put aside.
    pub(crate) fn is_bad(&self, host: u32) -> bool {
        self.bad.contains(&host)
    }

    /// It ended a task.
    pub(crate) fn ended(&mut self, host: u32) {
        self.in_a_row.remove(&host);
    }

    /// It did not end a task; whether it is put aside from now on.
    pub(crate) fn aborted(&mut self, host: u32, aborts_max: u32) -> bool {
        let count = self.in_a_row.entry(host).or_default();
        *count += 1;
        *count >= aborts_max && self.bad.insert(host)
    }
}
