//! What a run of groups leaves besides its history.

use gleaner_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Counts of what groups said to each other and did for each other.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct GroupsOutcome {
    /// Tasks of which the end is known where they were handed in.
    pub known: usize,
    /// When the latest of these ends was known there.
    pub known_at: Time,
    /// Runs that began.
    pub runs: u64,
    /// Of these, those of tasks that a neighbour had handed over.
    pub guests: u64,
    /// How often a task was handed to a neighbour, whatever came of it.
    pub handed_over: u64,
    /// How old what was known of their machines was, together, in seconds.
    pub age_s: f64,
    /// Letters that said how machines are.
    pub news: u64,
    /// Letters that were sent again.
    pub repeated: u64,
}

impl GroupsOutcome {
    /// How old what is known of a machine is on average when a task is sent there.
    pub fn mean_age_s(&self) -> Option<f64> {
        (self.handed_over > 0).then(|| self.age_s / self.handed_over as f64)
    }

    pub(super) fn hands_over(&mut self, age: Span) {
        self.handed_over += 1;
        self.age_s += age.seconds();
    }
}
