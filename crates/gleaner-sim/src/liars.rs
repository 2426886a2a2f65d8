//! Machines that give wrong answers.
//!
//! What a machine answers to a task depends on the seed, the machine and the task alone, and on nothing that happened before: the
//! same question brings the same answer. **The scheduler is told answers, and never which of them is right.**

use gleaner_core::{Answer, Chance, Purpose};
use gleaner_units::{MachineId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What all machines answer that do not lie.
const RIGHT: Answer = Answer(0);
/// What those answer that lie together.
const AGREED_LIE: Answer = Answer(1);

/// Which machines lie, how often, and whether they agree on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Liars {
    machines: BTreeSet<MachineId>,
    /// Of how many machines these are some.
    of: usize,
    /// How many machines in a row are one owner's, who lies on all of them or on none.
    each: usize,
    chance: f64,
    collude: bool,
    seed: u64,
}

impl Liars {
    /// So large a share of the machines, to the nearest whole number; the seed says which.
    pub fn drawn(machines: usize, share: f64, (chance, collude): (f64, bool), seed: u64) -> Self {
        Self::with_owners((machines, 1), share, (chance, collude), seed)
    }

    /// Likewise of owners with so many machines in a row each.
    pub fn with_owners(
        (machines, each): (usize, usize),
        share: f64,
        (chance, collude): (f64, bool),
        seed: u64,
    ) -> Self {
        let owners = machines.div_ceil(each);
        let count = (share * owners as f64).round() as usize;
        Self::so_many((count, machines, each), (chance, collude), seed)
    }

    /// As many others, as another seed has them.
    #[must_use]
    pub fn drawn_anew(&self, seed: u64) -> Self {
        let owners = self.count().div_ceil(self.each);
        Self::so_many((owners, self.of, self.each), (self.chance, self.collude), seed)
    }

    fn so_many((count, of, each): (usize, usize, usize), (chance, collude): (f64, bool), seed: u64) -> Self {
        let drawn = |index: usize| Chance::of_nth(seed, Purpose::Liar, index as u64).unit();
        let mut in_turn: Vec<(f64, usize)> =
            (0..of.div_ceil(each)).map(|index| (drawn(index), index)).collect();
        in_turn.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let owners = in_turn.into_iter().take(count).map(|(_, owner)| owner);
        let machines = owners.flat_map(|owner| owner * each..of.min((owner + 1) * each));
        Self { machines: machines.map(MachineId::new).collect(), of, each, chance, collude, seed }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.machines.len()
    }

    /// Whether a machine is one of them.
    pub fn has(&self, machine: MachineId) -> bool {
        self.machines.contains(&machine)
    }

    /// What a machine answers to a task.
    pub fn answer(&self, task: TaskId, on: MachineId) -> Answer {
        if !self.has(on) {
            return RIGHT;
        }
        let question = (task.index() as u64) << 32 | on.index() as u64;
        if Chance::of_nth(self.seed, Purpose::Lie, question).unit() >= self.chance {
            return RIGHT;
        }
        let own = AGREED_LIE.0 + 1 + on.index() as u32;
        if self.collude { AGREED_LIE } else { Answer(own) }
    }

    /// Whether a machine's answer to a task is wrong.
    pub fn is_wrong(&self, task: TaskId, on: MachineId) -> bool {
        self.answer(task, on) != RIGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn liars(chance: f64, collude: bool) -> Liars {
        Liars::drawn(40, 0.1, (chance, collude), 7)
    }

    #[test]
    fn as_many_lie_as_were_asked_for_and_the_same_ones_again() {
        let one = liars(1.0, false);
        assert_eq!(one.count(), 4);
        assert_eq!(one, liars(1.0, false));
        assert_ne!(one.machines, Liars::drawn(40, 0.1, (1.0, false), 8).machines);
        assert_eq!(Liars::drawn(40, 0.0, (1.0, false), 7).count(), 0);
    }

    #[test]
    fn an_owner_lies_on_all_machines_or_on_none() {
        let liars = Liars::with_owners((40, 5), 0.25, (1.0, true), 7);
        assert_eq!(liars.count(), 10);
        assert!((0..40).step_by(5).all(|first| {
            let lie = (first..first + 5).filter(|&on| liars.has(MachineId::new(on))).count();
            lie == 0 || lie == 5
        }));
        assert_eq!(liars.drawn_anew(8).count(), 10);
    }

    #[test]
    fn lies_agree_only_where_liars_do() {
        let answers = |liars: &Liars| -> BTreeSet<Answer> {
            let machines = (0..40).map(MachineId::new);
            machines.map(|on| liars.answer(TaskId::new(3), on)).collect()
        };
        assert_eq!(answers(&liars(1.0, true)).len(), 2);
        assert_eq!(answers(&liars(1.0, false)).len(), 5);
        assert_eq!(answers(&liars(0.0, false)).len(), 1);
    }

    #[test]
    fn one_lies_as_often_as_its_chance_says() {
        let liars = liars(0.3, true);
        let on = *liars.machines.first().expect("four lie");
        let lies = (0..10_000).filter(|&task| liars.is_wrong(TaskId::new(task), on)).count();
        assert!((2_800..3_200).contains(&lies), "{lies}");
    }
}
