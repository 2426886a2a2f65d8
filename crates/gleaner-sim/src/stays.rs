//! Where runs were, and when: what a schedule is drawn from. A task that was moved has a stay on each machine where it ran.

use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Stays that are kept, the first ones: 32 bytes each, and more cannot be told apart in a drawing.
const STAYS_MAX: usize = 50_000;

/// A run, or a part of one, on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stay {
    /// The run.
    pub run: RunId,
    /// Where.
    pub on: MachineId,
    /// When it began.
    pub from: Time,
    /// When it ended or was stopped; [`Time::NEVER`] while it goes on.
    pub until: Time,
}

/// The stays of a simulation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stays {
    all: Vec<Stay>,
    left_out: u64,
    /// By run: the places of its stays.
    open: BTreeMap<RunId, Vec<usize>>,
}

impl Stays {
    pub(crate) fn began(&mut self, now: Time, run: RunId, on: MachineId) {
        if self.all.len() >= STAYS_MAX {
            self.left_out += 1;
            return;
        }
        self.open.entry(run).or_default().push(self.all.len());
        self.all.push(Stay { run, on, from: now, until: Time::NEVER });
    }

    pub(crate) fn left(&mut self, now: Time, run: RunId) {
        for place in self.open.remove(&run).unwrap_or_default() {
            self.all[place].until = now;
        }
    }

    /// In order of their beginnings.
    pub(crate) fn all(&self) -> &[Stay] {
        &self.all
    }

    /// How many later ones were not kept.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;

    #[test]
    fn of_too_many_the_first_are_kept() {
        let mut stays = Stays::default();
        let run = |task| RunId { task: TaskId::new(task), number: 1 };
        for task in 0..STAYS_MAX + 3 {
            stays.began(Time::ZERO, run(task), MachineId::new(0));
        }
        let later = Time::from_nanos(1);
        for task in [0, STAYS_MAX + 1] {
            stays.left(later, run(task));
        }
        assert_eq!((stays.all().len(), stays.left_out()), (STAYS_MAX, 3));
        assert_eq!((stays.all()[0].until, stays.all()[1].until), (later, Time::NEVER));
    }
}
