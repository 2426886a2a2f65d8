//! The sites that may take tasks of one class, by rank: a complete binary tree over the machines, whose nodes know the best
//! rank below them and what is to be drawn there.
//!
//! **A sum is that of its two halves, whatever the order in which things changed**: an index that was kept and one that is
//! derived afresh are equal to the bit, and so draw the same.

use crate::parts::choose::Choose;
use gleaner_core::{Chance, tie_threshold};
use gleaner_units::MachineId;

/// What a node knows of the machines below it.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Node {
    /// −∞ where there is no candidate.
    best: f64,
    /// The sum of what the chances of those are in proportion to whose rank costs something.
    weight: f64,
    /// How many share the chance evenly.
    even: u32,
}

impl Node {
    const NONE: Self = Self { best: f64::NEG_INFINITY, weight: 0.0, even: 0 };

    fn of(rank: Option<f64>, choose: Choose) -> Self {
        let Some(best) = rank else { return Self::NONE };
        match choose {
            Choose::Proportional { power } if best < 0.0 => {
                let weight = (0..power).fold(1.0, |weight, _| weight / -best);
                Self { best, weight, even: 0 }
            }
            Choose::Best
            | Choose::BestLatest
            | Choose::BestByLot
            | Choose::First
            | Choose::Proportional { .. }
            | Choose::TwoChoices => Self { best, weight: 0.0, even: 1 },
        }
    }

    fn join(&self, other: &Self) -> Self {
        Self {
            best: self.best.max(other.best),
            weight: self.weight + other.weight,
            even: self.even + other.even,
        }
    }
}

/// The machines that are candidates, each with its rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Board {
    /// Node 1 is the root, node i has the children 2i and 2i + 1, and the leaves are the last half.
    nodes: Vec<Node>,
}

impl Board {
    /// A machine has this rank from now on, or is no candidate. Costs O(log machines), and O(machines) where their number
    /// doubles.
    pub(crate) fn set(&mut self, machine: MachineId, rank: Option<f64>, choose: Choose) {
        if machine.index() >= self.width() {
            self.widen((machine.index() + 1).next_power_of_two());
        }
        let mut node = self.width() + machine.index();
        self.nodes[node] = Node::of(rank, choose);
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].join(&self.nodes[2 * node + 1]);
        }
    }

    /// Whether there is no candidate.
    pub(crate) fn is_empty(&self) -> bool {
        self.root().best == f64::NEG_INFINITY
    }

    /// The candidate that is taken. Costs O(log machines), and with each of several that are equally good where one of them
    /// is drawn.
    pub(crate) fn choose(&self, choose: Choose, chance: impl FnOnce() -> Chance) -> Option<MachineId> {
        let Node { best, weight, even } = self.root();
        if best == f64::NEG_INFINITY {
            return None;
        }
        let leaf = match choose {
            Choose::Best | Choose::BestLatest => self.first_from(tie_threshold(best)),
            Choose::BestByLot => {
                let mut ties = Vec::new();
                self.collect_from(1, tie_threshold(best), &mut ties);
                ties[chance().below(ties.len() as u32) as usize]
            }
            Choose::First => self.even(0),
            Choose::Proportional { .. } if even > 0 => self.even(chance().below(even)),
            Choose::Proportional { .. } => self.drawn(chance().unit() * weight),
            Choose::TwoChoices => self.better_of_two(even, &mut chance()),
        };
        Some(MachineId::new(leaf))
    }

    fn better_of_two(&self, count: u32, chance: &mut Chance) -> usize {
        let one = chance.below(count);
        if count == 1 {
            return self.even(one);
        }
        let other = chance.below(count - 1);
        let other = if other < one { other } else { other + 1 };
        let two = [one.min(other), one.max(other)].map(|nth| self.even(nth));
        let [low, high] = two.map(|leaf| self.nodes[self.width() + leaf].best);
        let threshold = tie_threshold(low.max(high));
        if low >= threshold { two[0] } else { two[1] }
    }

    /// The lowest leaf whose rank is at least so high; there is one.
    fn first_from(&self, threshold: f64) -> usize {
        self.descend(|left| left.best >= threshold)
    }

    /// The n-th of those that share the chance evenly, from 0.
    fn even(&self, mut nth: u32) -> usize {
        self.descend(|left| {
            let goes_left = nth < left.even;
            nth -= if goes_left { 0 } else { left.even };
            goes_left
        })
    }

    /// The leaf at which the sum of weights from the left exceeds `target`. A half without weight is never entered.
    fn drawn(&self, mut target: f64) -> usize {
        let width = self.width();
        let mut node = 1;
        while node < width {
            let (left, right) = (self.nodes[2 * node].weight, self.nodes[2 * node + 1].weight);
            let goes_left = right == 0.0 || (left > 0.0 && target < left);
            target -= if goes_left { 0.0 } else { left };
            node = 2 * node + usize::from(!goes_left);
        }
        node - width
    }

    fn descend(&self, mut goes_left: impl FnMut(&Node) -> bool) -> usize {
        let width = self.width();
        let mut node = 1;
        while node < width {
            node = 2 * node + usize::from(!goes_left(&self.nodes[2 * node]));
        }
        node - width
    }

    fn collect_from(&self, node: usize, threshold: f64, found: &mut Vec<usize>) {
        if self.nodes[node].best < threshold {
            return;
        }
        if node >= self.width() {
            found.push(node - self.width());
            return;
        }
        self.collect_from(2 * node, threshold, found);
        self.collect_from(2 * node + 1, threshold, found);
    }

    fn widen(&mut self, width: usize) {
        let mut nodes = vec![Node::NONE; 2 * width];
        let before = self.width();
        if before > 0 {
            nodes[width..width + before].copy_from_slice(&self.nodes[before..]);
        }
        for node in (1..width).rev() {
            nodes[node] = nodes[2 * node].join(&nodes[2 * node + 1]);
        }
        self.nodes = nodes;
    }

    fn root(&self) -> Node {
        self.nodes.get(1).copied().unwrap_or(Node::NONE)
    }

    fn width(&self) -> usize {
        self.nodes.len() / 2
    }
}
