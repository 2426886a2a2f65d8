//! The requirements of jobs that wait, which a site remembers from when it was told of them: so they are told once.

use gleaner_units::{PartyId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one site remembers, and what was said to it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Notes {
    /// By meta-scheduler: up to which of its jobs it was told of those that waited.
    told: BTreeMap<PartyId, usize>,
    waiting: BTreeSet<(PartyId, TaskId)>,
    /// By meta-scheduler: how many of these are its.
    known: BTreeMap<PartyId, usize>,
    /// What was to be forgotten before it came.
    void: BTreeSet<(PartyId, TaskId)>,
}

impl Notes {
    /// Of all that were handed in and still wait it is told now; up to which it was before.
    pub(super) fn told(&mut self, party: PartyId, handed_in: usize) -> usize {
        self.told.insert(party, handed_in).unwrap_or(0)
    }

    pub(super) fn was_told(&self, party: PartyId, task: TaskId) -> bool {
        self.told.get(&party).is_some_and(|told| task.index() < *told)
    }

    pub(super) fn note(&mut self, party: PartyId, jobs: &[TaskId]) {
        for job in jobs.iter().map(|task| (party, *task)) {
            if !self.void.remove(&job) && self.waiting.insert(job) {
                *self.known.entry(party).or_default() += 1;
            }
        }
    }

    pub(super) fn forget(&mut self, party: PartyId, task: TaskId) {
        if self.waiting.remove(&(party, task)) {
            *self.known.get_mut(&party).expect("what waits was counted") -= 1;
        } else {
            self.void.insert((party, task));
        }
    }

    /// How many of its jobs are remembered.
    pub(super) fn known_of(&self, party: PartyId) -> usize {
        self.known.get(&party).copied().unwrap_or(0)
    }

    /// Asserts that what is counted is what is remembered.
    ///
    /// # Panics
    /// If it is not.
    pub(super) fn check(&self) {
        for (party, known) in &self.known {
            let waiting = self.waiting.iter().filter(|(of, _)| of == party).count();
            assert_eq!(waiting, *known, "the jobs of {party} that a site remembers do not add up");
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.void.is_empty()
    }
}
