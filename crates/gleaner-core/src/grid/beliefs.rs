//! What is known of machines that are more than a machine: sites with a queue of their own, which publish their state.
//!
//! **What was published stays as it was said, with the moment that it was true at**, and beside it stand the runs that were
//! sent there and that it cannot know of yet. Whether a policy counts them is a part of its recipe.

use crate::event::SiteState;
use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run that a published state may not know of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SentRun {
    /// Which.
    pub run: RunId,
    /// When it stood in the site's queue, if that was reported.
    pub arrived: Option<Time>,
}

/// What is known of a site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Belief {
    state: SiteState,
    known_at: Time,
    sent: Vec<SentRun>,
}

impl Belief {
    /// As it was published.
    pub fn state(&self) -> SiteState {
        self.state
    }

    /// The moment that this was true at.
    pub fn known_at(&self) -> Time {
        self.known_at
    }

    /// What was sent there, has not ended, and was not in its queue at that moment; in the order in which it was sent.
    pub fn sent_since(&self) -> &[SentRun] {
        &self.sent
    }
}

/// All of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Beliefs(BTreeMap<MachineId, Belief>);

impl Beliefs {
    #[inline]
    pub(super) fn of(&self, machine: MachineId) -> Option<&Belief> {
        self.0.get(&machine)
    }

    /// News of a site; whether anything is other than was known but the moment.
    pub(super) fn published(&mut self, machine: MachineId, state: SiteState, known_at: Time) -> bool {
        let Some(belief) = self.0.get_mut(&machine) else {
            self.0.insert(machine, Belief { state, known_at, sent: Vec::new() });
            return true;
        };
        if known_at < belief.known_at {
            return false;
        }
        let before = (belief.state, belief.sent.len());
        (belief.state, belief.known_at) = (state, known_at);
        belief.sent.retain(|sent| sent.arrived.is_none_or(|arrived| arrived > known_at));
        before != (belief.state, belief.sent.len())
    }

    #[inline]
    pub(super) fn sent(&mut self, run: RunId, to: MachineId) {
        if let Some(belief) = self.0.get_mut(&to) {
            belief.sent.push(SentRun { run, arrived: None });
        }
    }

    #[inline]
    pub(super) fn arrived(&mut self, now: Time, run: RunId, at: MachineId) {
        let Some(belief) = self.0.get_mut(&at) else { return };
        if let Some(sent) = belief.sent.iter_mut().find(|sent| sent.run == run && sent.arrived.is_none()) {
            sent.arrived = Some(now);
        }
    }

    #[inline]
    pub(super) fn over(&mut self, run: RunId, at: MachineId) {
        if let Some(belief) = self.0.get_mut(&at) {
            belief.sent.retain(|sent| sent.run != run);
        }
    }

    /// Every run that is said to be somewhere, with where.
    pub(super) fn all_sent(&self) -> impl Iterator<Item = (RunId, MachineId)> + '_ {
        self.0.iter().flat_map(|(machine, belief)| belief.sent.iter().map(|sent| (sent.run, *machine)))
    }
}
