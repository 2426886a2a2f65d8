//! What comes first of what each of many has: one leaf each, each inner node the lesser of its two children.
//!
//! **Node i has the children 2i and 2i + 1; the root is node 1; leaf m is node `leaves + m`.** A change walks up from
//! its leaf and stops at the first node that stays as it was, for most changes after two steps.

use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// Of as many as were [pushed](Self::push).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tournament<T> {
    members: usize,
    /// Twice a power of two of them, or none.
    nodes: Vec<T>,
}

impl<T> Default for Tournament<T> {
    fn default() -> Self {
        Self { members: 0, nodes: Vec::new() }
    }
}

impl<T: Copy + Ord> Tournament<T> {
    /// One more, which has what comes after all.
    pub fn push(&mut self, last: T) {
        if self.members == self.leaves() {
            self.double(last);
        }
        self.members += 1;
    }

    /// One has another value. Costs O(log members), mostly O(1).
    #[inline]
    pub fn set(&mut self, member: usize, value: T) {
        let mut node = self.leaves() + member;
        let mut first = value;
        self.nodes[node] = first;
        while node > 1 {
            first = first.min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == first {
                break;
            }
            self.nodes[node] = first;
        }
    }

    /// What one has.
    #[inline]
    pub fn get(&self, member: usize) -> T {
        self.nodes[self.leaves() + member]
    }

    /// The least of all values; of those that are not pushed yet too, which come last.
    #[inline]
    pub fn first(&self) -> Option<T> {
        self.nodes.get(1).copied()
    }

    /// Derives all afresh and compares. Costs O(members): for tests.
    ///
    /// # Panics
    /// If that is not what the leaves have, or a node not the lesser of its children.
    pub fn check(&self, expected: impl Iterator<Item = T>)
    where
        T: Debug,
    {
        let leaves = self.leaves();
        for (member, expected) in expected.enumerate() {
            assert_eq!(self.nodes[leaves + member], expected, "member {member}");
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
    fn double(&mut self, last: T) {
        let old = std::mem::take(&mut self.nodes);
        let leaves = (old.len() / 2 * 2).max(1);
        self.nodes = vec![last; 2 * leaves];
        for (member, &leaf) in old[old.len() / 2..].iter().enumerate() {
            self.nodes[leaves + member] = leaf;
        }
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_least_of_all() {
        let (mut tournament, mut values) = (Tournament::default(), Vec::new());
        let mut random = 7_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        assert_eq!(tournament.first(), None);
        for step in 0..3_000 {
            if step % 100 == 0 {
                tournament.push(u64::MAX);
                values.push(u64::MAX);
            }
            let member = draw(values.len() as u64) as usize;
            let value = if draw(3) > 0 { draw(50) } else { u64::MAX };
            values[member] = value;
            tournament.set(member, value);
            assert_eq!(tournament.first(), values.iter().copied().min());
            tournament.check(values.iter().copied());
        }
    }
}
