//! Which runs follow others on their machine: what of [`super::following`] is kept.

use gleaner_units::RunId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which run follows which.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Followers {
    /// By the run before.
    behind: BTreeMap<RunId, RunId>,
    /// By the run that follows.
    before: BTreeMap<RunId, RunId>,
}

impl Followers {
    #[inline]
    pub(super) fn behind(&self, run: RunId) -> Option<RunId> {
        self.behind.get(&run).copied()
    }

    #[inline]
    pub(super) fn before(&self, run: RunId) -> Option<RunId> {
        self.before.get(&run).copied()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    /// Whether each pair is known from both its sides, and such as `fits`.
    pub(super) fn all(&self, fits: impl Fn(RunId, RunId) -> bool) -> bool {
        let mut pairs = self.behind.iter().map(|(before, behind)| (*before, *behind));
        self.behind.len() == self.before.len()
            && pairs.all(|(before, behind)| self.before(behind) == Some(before) && fits(before, behind))
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
