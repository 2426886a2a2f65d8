//! Which runs follow others on their machine: what of [`super::following`] is kept.

use gleaner_units::RunId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which run follows which.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Following {
    /// By the run before.
    pub(super) behind: BTreeMap<RunId, RunId>,
    /// By the run that follows.
    pub(super) before: BTreeMap<RunId, RunId>,
}

impl Following {
    #[inline]
    pub(super) fn behind(&self, run: RunId) -> Option<RunId> {
        self.behind.get(&run).copied()
    }

    pub(super) fn link(&mut self, before: RunId, behind: RunId) {
        self.behind.insert(before, behind);
        self.before.insert(behind, before);
    }

    /// What followed a run does so no more.
    pub(super) fn unlink_behind(&mut self, before: RunId) -> Option<RunId> {
        let behind = self.behind.remove(&before)?;
        self.before.remove(&behind);
        Some(behind)
    }

    pub(super) fn unlink(&mut self, behind: RunId) -> Option<RunId> {
        let before = self.before.remove(&behind)?;
        self.behind.remove(&before);
        Some(before)
    }
}
