//! What a machine completes next, in the order in which machines are asked.

use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// A completion; of two at one time, the one of the lower task comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Completion {
    pub(super) at: Time,
    pub(super) run: RunId,
    /// Where: known here, so that a completion need not wait for the table of places to come from memory.
    pub(super) machine: MachineId,
}

impl Completion {
    #[inline]
    pub(super) fn new(machine: MachineId, next: Option<(Time, RunId)>) -> Self {
        next.map_or_else(Self::never, |(at, run)| Self { at, run, machine })
    }

    pub(super) fn never() -> Self {
        Self { at: Time::NEVER, run: RunId::default(), machine: MachineId::new(0) }
    }

    /// One number that orders as the pair does, so that a comparison needs no branch.
    #[inline]
    fn rank(self) -> u128 {
        u128::from(self.at.nanos()) << 64 | u128::from(self.run.rank())
    }
}

impl Ord for Completion {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Completion {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
