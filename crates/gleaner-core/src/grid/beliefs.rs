//! What is known of machines that others send tasks to as well: sites with a queue of their own, and machines of
//! neighbours, which publish their state.
//!
//! **What a site published stays as it was said, with the moment that it was true at**, and beside it stand the runs that were
//! sent there and that it cannot know of yet. Whether a policy counts them is a part of its recipe. **A state of a moment
//! contains what arrived before that moment**, and nothing that arrived then or later: whichever is heard first, the state or
//! that the run arrived, and however late, a run stands beside the state exactly as long as it is not in it. What a neighbour
//! published of its machine is the machine's state here, until it says something else: other schedulers' tasks share it and
//! take its room as one's own do.

use crate::event::SiteState;
use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run that a published state may not know of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SentRun {
    /// The run.
    pub run: RunId,
    /// Since when it stands in the site's queue, or its part is held there, if that was reported.
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

    /// What was sent there, has not ended, and had not arrived before that moment; in the order in which it was sent.
    pub fn sent_since(&self) -> &[SentRun] {
        &self.sent
    }
}

/// All of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Beliefs {
    sites: BTreeMap<MachineId, Belief>,
    /// Of what neighbours published of a machine: when the latest was so.
    heard: BTreeMap<MachineId, Time>,
}

impl Beliefs {
    #[inline]
    pub(super) fn of(&self, machine: MachineId) -> Option<&Belief> {
        self.sites.get(&machine)
    }

    /// Whether what was so at that moment is news of a machine.
    pub(super) fn is_news(&mut self, machine: MachineId, known_at: Time) -> bool {
        let heard = self.heard.entry(machine).or_default();
        let is_news = *heard <= known_at;
        *heard = (*heard).max(known_at);
        is_news
    }

    /// News of a site; whether anything is other than was known but the moment. What was sent there before it said anything is
    /// in what it says first.
    pub(super) fn published(&mut self, machine: MachineId, state: SiteState, known_at: Time) -> bool {
        let Some(belief) = self.sites.get_mut(&machine) else {
            self.sites.insert(machine, Belief { state, known_at, sent: Vec::new() });
            return true;
        };
        if known_at < belief.known_at {
            return false;
        }
        let before = (belief.state, belief.sent.len());
        (belief.state, belief.known_at) = (state, known_at);
        belief.sent.retain(|sent| sent.arrived.is_none_or(|arrived| !contains(known_at, arrived)));
        before != (belief.state, belief.sent.len())
    }

    #[inline]
    pub(super) fn sent(&mut self, run: RunId, to: MachineId) {
        if let Some(belief) = self.sites.get_mut(&to) {
            belief.sent.push(SentRun { run, arrived: None });
        }
    }

    /// A run is at a site since that moment, as the site says first; whether what is known of the site contains it already.
    #[inline]
    pub(super) fn arrived(&mut self, run: RunId, (on, since): (MachineId, Time)) -> bool {
        let Some(belief) = self.sites.get_mut(&on) else { return false };
        let place = belief.sent.iter().position(|sent| sent.run == run && sent.arrived.is_none());
        let Some(place) = place else { return false };
        let is_in = contains(belief.known_at, since);
        if is_in {
            belief.sent.remove(place);
        } else {
            belief.sent[place].arrived = Some(since);
        }
        is_in
    }

    #[inline]
    pub(super) fn over(&mut self, run: RunId, at: MachineId) {
        if let Some(belief) = self.sites.get_mut(&at) {
            belief.sent.retain(|sent| sent.run != run);
        }
    }

    /// Every run that is said to be somewhere, with where.
    pub(super) fn all_sent(&self) -> impl Iterator<Item = (RunId, MachineId)> + '_ {
        self.sites.iter().flat_map(|(machine, belief)| belief.sent.iter().map(|sent| (sent.run, *machine)))
    }
}

/// Whether a state of a moment contains a run that arrived at another.
fn contains(known_at: Time, arrived: Time) -> bool {
    arrived < known_at
}
