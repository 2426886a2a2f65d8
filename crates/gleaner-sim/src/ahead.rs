//! What simulated machines hold ahead: runs that begin when another run there is over.

use gleaner_units::{MachineId, RunId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HeldAhead {
    /// What begins when a run is over, and where: by that run.
    behind: BTreeMap<RunId, (RunId, MachineId)>,
    /// Which run each of them waits for.
    before: BTreeMap<RunId, RunId>,
}

impl HeldAhead {
    pub(crate) fn hold(&mut self, after: RunId, run: RunId, on: MachineId) {
        self.behind.insert(after, (run, on));
        self.before.insert(run, after);
    }

    /// A run is over: what waited for it, and where.
    pub(crate) fn release(&mut self, over: RunId) -> Option<(RunId, MachineId)> {
        let (run, on) = self.behind.remove(&over)?;
        self.before.remove(&run);
        Some((run, on))
    }

    /// Gives up a run that has not begun. Whether it was held.
    pub(crate) fn give_up(&mut self, run: RunId) -> bool {
        let before = self.before.remove(&run);
        before.is_some_and(|before| self.behind.remove(&before).is_some())
    }

    /// A machine is gone, with all that it held.
    pub(crate) fn lose(&mut self, machine: MachineId) {
        self.behind.retain(|_, (_, on)| *on != machine);
        let behind = &self.behind;
        self.before.retain(|_, before| behind.contains_key(before));
    }
}
