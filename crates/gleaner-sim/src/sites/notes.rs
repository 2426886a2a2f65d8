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
        let known = jobs.iter().map(|task| (party, *task));
        let waiting: Vec<_> = known.filter(|job| !self.void.remove(job)).collect();
        self.waiting.extend(waiting);
    }

    pub(super) fn forget(&mut self, party: PartyId, task: TaskId) {
        if !self.waiting.remove(&(party, task)) {
            self.void.insert((party, task));
        }
    }

    /// How many of its jobs are remembered.
    pub(super) fn known_of(&self, party: PartyId) -> usize {
        self.waiting.range((party, TaskId::new(0))..).take_while(|(of, _)| *of == party).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.void.is_empty()
    }
}
