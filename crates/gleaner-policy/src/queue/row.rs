//! Who waits, one after the other, with what a plan asks of each: side by side in memory, since a plan looks at many.

use super::line::Turn;
use crate::forecast::{Forecast, KNOWN_MAX};
use gleaner_core::Grid;
use gleaner_units::{TaskClassId, TaskId};
use std::collections::BTreeMap;

/// Somebody who waits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Waiter {
    pub(crate) turn: Turn,
    pub(crate) cores: u32,
    /// Equal where tasks are equally fast on each machine.
    pub(crate) speeds: u32,
    /// How long it is believed to be.
    pub(crate) believed: f64,
    /// How long at most.
    pub(crate) at_most: f64,
}

impl Waiter {
    pub(crate) fn task(&self) -> TaskId {
        self.turn.1
    }

    fn is_unknown(&self) -> bool {
        self.believed.max(self.at_most) > KNOWN_MAX
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    waiters: Vec<Waiter>,
    /// Those of whom nobody knows how long they are.
    unknown: usize,
    known_speeds: BTreeMap<Vec<u64>, u32>,
    /// By task class.
    speeds: Vec<u32>,
}

impl Row {
    pub(crate) fn add_class(&mut self, grid: &Grid, class: TaskClassId) {
        let speeds = self.speeds_of(grid, class);
        self.speeds.push(speeds);
    }

    /// A class of which nobody waits is another from now on.
    pub(crate) fn replace_class(&mut self, grid: &Grid, class: TaskClassId) {
        self.speeds[class.index()] = self.speeds_of(grid, class);
    }

    fn speeds_of(&mut self, grid: &Grid, class: TaskClassId) -> u32 {
        let row = grid.classes().seconds_per_op_row(class);
        let next = self.known_speeds.len() as u32;
        let bits = row.iter().map(|seconds| seconds.to_bits()).collect();
        *self.known_speeds.entry(bits).or_insert(next)
    }

    /// Somebody waits. Costs O(log waiters), but for the moving of those behind him.
    pub(crate) fn add(&mut self, grid: &Grid, forecast: &Forecast, turn: Turn) {
        let class = grid.task(turn.1).class();
        let waiter = Waiter {
            turn,
            cores: grid.classes().demand(class).needs.cores,
            speeds: self.speeds[class.index()],
            believed: forecast.length(grid, turn.1).amount(),
            at_most: forecast.at_most(grid, turn.1).amount(),
        };
        self.unknown += usize::from(waiter.is_unknown());
        let at = self.place_of(turn);
        self.waiters.insert(at, waiter);
    }

    /// Somebody waits no more.
    pub(crate) fn remove(&mut self, turn: Turn) {
        let at = self.place_of(turn);
        if self.waiters.get(at).is_some_and(|waiter| waiter.turn == turn) {
            let waiter = self.waiters.remove(at);
            self.unknown -= usize::from(waiter.is_unknown());
        }
    }

    /// From a turn on.
    pub(crate) fn from(&self, turn: Option<Turn>) -> &[Waiter] {
        &self.waiters[turn.map_or(0, |turn| self.place_of(turn))..]
    }

    /// The last.
    pub(crate) fn last(&self) -> Option<Turn> {
        self.waiters.last().map(|waiter| waiter.turn)
    }

    /// Whether it is known of all how long they are.
    pub(crate) fn is_known(&self) -> bool {
        self.unknown == 0
    }

    fn place_of(&self, turn: Turn) -> usize {
        // Mostly somebody comes last.
        if self.last().is_none_or(|last| last < turn) {
            return self.waiters.len();
        }
        self.waiters.partition_point(|waiter| waiter.turn < turn)
    }

    /// What differs from what the grid says.
    pub(crate) fn check(&self, fresh: &Self) -> Result<(), String> {
        let (kept, derived) = (self.waiters.iter(), fresh.waiters.iter());
        let like = |waiter: &Waiter| (waiter.turn, waiter.cores, waiter.believed, waiter.at_most);
        if kept.map(like).eq(derived.map(like)) && self.unknown == fresh.unknown {
            Ok(())
        } else {
            Err("the row is not who waits".to_owned())
        }
    }
}
