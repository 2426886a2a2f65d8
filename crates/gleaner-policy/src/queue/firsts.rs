//! When the first run on each machine is believed to end, and where the first of all does.
//!
//! **Node i has the children 2i and 2i + 1, and the earlier of what they have; machine m is node `leaves + m`.** A change walks
//! up from there and stops where nothing changes.

use gleaner_units::{MachineId, Time};

/// A machine of which no run is known to end never comes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Firsts {
    machines: usize,
    /// Twice a power of two of them, or none.
    nodes: Vec<(Time, MachineId)>,
}

impl Firsts {
    /// One more machine.
    pub(crate) fn push(&mut self) {
        if self.machines == self.leaves() {
            let old = std::mem::take(&mut self.nodes);
            let ends = old[old.len() / 2..].iter().map(|(at, _)| *at).chain(std::iter::repeat(Time::NEVER));
            let leaves = (2 * self.machines).max(1);
            self.nodes = vec![(Time::NEVER, MachineId::FIRST); leaves];
            self.nodes.extend(ends.take(leaves).enumerate().map(|(index, at)| (at, MachineId::new(index))));
            for node in (1..leaves).rev() {
                self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            }
        }
        self.machines += 1;
    }

    #[inline]
    pub(crate) fn set(&mut self, machine: MachineId, at: Option<Time>) {
        let mut node = self.leaves() + machine.index();
        let mut first = (at.unwrap_or(Time::NEVER), machine);
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

    #[inline]
    pub(crate) fn first(&self) -> Option<(Time, MachineId)> {
        self.nodes.get(1).copied().filter(|(at, _)| *at < Time::NEVER)
    }

    #[inline]
    fn leaves(&self) -> usize {
        self.nodes.len() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_first_is_that_of_a_set() {
        let (mut firsts, mut ends) = (Firsts::default(), Vec::new());
        let mut random = 7_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        assert_eq!(firsts.first(), None);
        for step in 0..3_000 {
            if step % 100 == 0 {
                firsts.push();
                ends.push(None);
            }
            let machine = draw(ends.len() as u64) as usize;
            let at = (draw(3) > 0).then(|| Time::from_nanos(draw(50)));
            ends[machine] = at;
            firsts.set(MachineId::new(machine), at);
            let all = ends.iter().enumerate().filter_map(|(index, at)| Some(((*at)?, MachineId::new(index))));
            assert_eq!(firsts.first(), all.collect::<BTreeSet<_>>().first().copied());
        }
    }
}
