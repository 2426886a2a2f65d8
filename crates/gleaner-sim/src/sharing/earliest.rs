//! The earliest completion over all machines: a tournament, one leaf a machine, each inner node the earlier of its
//! two children.
//!
//! **Node i has the children 2i and 2i + 1; the root is node 1; leaf m is node `leaves + m`.** A change walks up from
//! its leaf and stops at the first node that stays as it was, for most changes after two steps.

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
    fn new(machine: MachineId, next: Option<(Time, RunId)>) -> Self {
        next.map_or_else(Self::never, |(at, run)| Self { at, run, machine })
    }

    fn never() -> Self {
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

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Earliest {
    machines: usize,
    /// Twice a power of two of them, or none.
    nodes: Vec<Completion>,
}

impl Earliest {
    /// Adds a machine that completes nothing.
    pub(super) fn add_machine(&mut self) {
        let leaves = self.leaves();
        if self.machines == leaves {
            self.double();
        }
        self.machines += 1;
    }

    #[inline]
    pub(super) fn set(&mut self, machine: MachineId, next: Option<(Time, RunId)>) {
        let mut node = self.leaves() + machine.index();
        let mut earlier = Completion::new(machine, next);
        self.nodes[node] = earlier;
        while node > 1 {
            earlier = earlier.min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == earlier {
                break;
            }
            self.nodes[node] = earlier;
        }
    }

    #[inline]
    pub(super) fn first(&self) -> Option<&Completion> {
        self.nodes.get(1).filter(|root| root.at != Time::NEVER)
    }

    pub(super) fn check(&self, expected: impl Iterator<Item = Option<(Time, RunId)>>) {
        let leaves = self.leaves();
        for (machine, next) in expected.enumerate() {
            let expected = Completion::new(MachineId::new(machine), next);
            assert_eq!(self.nodes[leaves + machine], expected, "machine {machine}");
        }
        for node in 1..leaves {
            assert_eq!(self.nodes[node], self.nodes[2 * node].min(self.nodes[2 * node + 1]), "node {node}");
        }
    }

    #[inline]
    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }

    /// The old tree becomes the left half: each of its levels moves one level down.
    fn double(&mut self) {
        let old = std::mem::take(&mut self.nodes);
        let leaves = (old.len() / 2 * 2).max(1);
        self.nodes = vec![Completion::never(); 2 * leaves];
        for (machine, &leaf) in old[old.len() / 2..].iter().enumerate() {
            self.nodes[leaves + machine] = leaf;
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}
