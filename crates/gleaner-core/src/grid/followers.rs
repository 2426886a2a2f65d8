//! Which runs follow others on their machine: what of [`super::following`] is kept.

use gleaner_units::{RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which run follows which.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Followers {
    /// By the run before, until that is over.
    behind: BTreeMap<RunId, RunId>,
    /// By the run that follows, until the one before is over.
    before: BTreeMap<RunId, Leader>,
    /// What was asked back and has not answered, with when it was asked.
    asked_back: BTreeMap<RunId, Time>,
}

/// The run before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Leader {
    run: RunId,
    /// Whether what follows has begun, so that this one must be over.
    is_passed: bool,
}

impl Followers {
    /// What follows a run, begun or not.
    #[inline]
    pub(super) fn behind(&self, run: RunId) -> Option<RunId> {
        self.behind.get(&run).copied()
    }

    /// What a run waits for.
    #[inline]
    pub(super) fn before(&self, run: RunId) -> Option<RunId> {
        let leader = self.before.get(&run)?;
        (!leader.is_passed).then_some(leader.run)
    }

    /// What a run waits for, or began before that was said to be over.
    #[inline]
    pub(super) fn leader(&self, run: RunId) -> Option<RunId> {
        self.before.get(&run).map(|leader| leader.run)
    }

    #[inline]
    pub(super) fn asked_back(&self, run: RunId) -> Option<Time> {
        self.asked_back.get(&run).copied()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.behind.is_empty()
    }

    /// Those that wait for another, in order.
    pub(super) fn all_next(&self) -> impl Iterator<Item = RunId> + '_ {
        self.before.iter().filter(|(_, leader)| !leader.is_passed).map(|(run, _)| *run)
    }

    /// Those that were asked back, in order.
    pub(super) fn all_asked_back(&self) -> impl Iterator<Item = RunId> + '_ {
        self.asked_back.keys().copied()
    }

    /// Whether each pair is known from both its sides, and such as `fits`.
    pub(super) fn all(&self, fits: impl Fn(RunId, RunId) -> bool) -> bool {
        let mut pairs = self.behind.iter().map(|(before, behind)| (*before, *behind));
        let is_mutual = |before, behind| self.before.get(&behind).is_some_and(|leader| leader.run == before);
        self.behind.len() == self.before.len()
            && pairs.all(|(before, behind)| is_mutual(before, behind) && fits(before, behind))
    }

    pub(super) fn link(&mut self, before: RunId, behind: RunId) {
        self.behind.insert(before, behind);
        self.before.insert(behind, Leader { run: before, is_passed: false });
    }

    pub(super) fn ask_back(&mut self, now: Time, run: RunId) {
        self.asked_back.insert(run, now);
    }

    /// A run has begun, whatever was asked. What it waited for, if anything.
    pub(super) fn begin(&mut self, run: RunId) -> Option<RunId> {
        self.asked_back.remove(&run);
        let leader = self.before.get_mut(&run)?;
        leader.is_passed = true;
        Some(leader.run)
    }

    /// A run is over: nothing follows it any more. What did.
    pub(super) fn unlink_behind(&mut self, before: RunId) -> Option<RunId> {
        let behind = self.behind.remove(&before)?;
        self.before.remove(&behind);
        Some(behind)
    }

    /// A run is over: it follows nothing any more. What it followed.
    pub(super) fn unlink(&mut self, behind: RunId) -> Option<RunId> {
        self.asked_back.remove(&behind);
        let before = self.before.remove(&behind)?.run;
        self.behind.remove(&before);
        Some(before)
    }
}
