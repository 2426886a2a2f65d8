//! The tasks left to place, by class and in order of length.

use super::pool::Pool;
use crate::spending::Seat;
use gleaner_core::Grid;
use gleaner_units::{Ops, TaskClassId, TaskId};
use std::collections::VecDeque;

/// A task without a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) id: TaskId,
    pub(super) length: Ops,
}

/// The tasks left of one class.
pub(super) struct Kind {
    /// The shortest first; equally long ones in order of id.
    pub(super) left: VecDeque<Left>,
    /// What the pools that could run them offer, in order of pool.
    pub(super) bids: Vec<Bid>,
    /// By pool; infinite where no machine could run them.
    seconds_per_op: Vec<f64>,
    /// The lowest price above 0 that pools ask which could.
    cheapest: f64,
}

/// An offer, as it is to the tasks of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub(super) pool: usize,
    pub(super) seat: Seat,
    /// For an operation.
    pub(super) seconds: f64,
    /// Whether another machine of the pool offers the same.
    pub(super) several: bool,
}

impl Bid {
    /// Seconds from now until a task of that length would be done.
    #[inline]
    pub(super) fn end(&self, length: f64) -> f64 {
        self.seat.ready_s + length * self.seconds
    }

    /// The same by a machine of the pool that is ready at another moment.
    #[inline]
    pub(super) fn at(self, ready_s: f64) -> Self {
        Self { seat: Seat { ready_s, ..self.seat }, ..self }
    }
}

impl Kind {
    fn new(grid: &Grid, class: TaskClassId, pools: &[Pool]) -> Self {
        let seconds = pools.iter().map(|pool| grid.classes().seconds_per_op(class, pool.class));
        let seconds_per_op: Vec<f64> = seconds.collect();
        let able = pools.iter().zip(&seconds_per_op).filter(|(_, seconds)| seconds.is_finite());
        let prices = able.map(|(pool, _)| pool.price).filter(|price| *price > 0.0);
        let cheapest = prices.fold(f64::INFINITY, f64::min);
        let mut kind = Self { left: VecDeque::new(), bids: Vec::new(), seconds_per_op, cheapest };
        (0..pools.len()).for_each(|number| kind.hear(number, &pools[number]));
        kind
    }

    /// Takes in what a pool offers now.
    pub(super) fn hear(&mut self, number: usize, pool: &Pool) {
        let seconds = self.seconds_per_op[number];
        if !seconds.is_finite() {
            return;
        }
        let is_cheapest = pool.price > 0.0 && pool.price <= self.cheapest;
        let bids = pool.offers().iter().map(|offer| {
            let seat = Seat { price: pool.price, ready_s: offer.ready_s, is_cheapest };
            Bid { pool: number, seat, seconds, several: offer.several }
        });
        let from = self.bids.partition_point(|bid| bid.pool < number);
        let count = self.bids[from..].iter().take_while(|bid| bid.pool == number).count();
        self.bids.splice(from..from + count, bids);
    }

    /// How long a task of that length takes on the machines of a pool.
    pub(super) fn seconds(&self, length: f64, pool: usize) -> f64 {
        length * self.seconds_per_op[pool]
    }

    #[inline]
    pub(super) fn length(&self, at: usize) -> f64 {
        self.left[at].length.amount()
    }

    /// Where a task that is left is. Costs O(tasks).
    pub(super) fn position(&self, id: TaskId) -> usize {
        self.left.iter().position(|task| task.id == id).expect("a task that is left")
    }
}

/// All that wait and are not planned, where they have a length.
pub(super) fn waiting(grid: &Grid, pools: &[Pool]) -> Vec<Kind> {
    let mut kinds: Vec<(TaskClassId, Kind)> = Vec::new();
    let unplanned = grid.waiting_tasks().filter(|(_, id)| grid.plans().queue_of(*id).is_none());
    for (class, id) in unplanned {
        let Some(length) = grid.declared_length(id) else { continue };
        if kinds.last().is_none_or(|(last, _)| *last != class) {
            kinds.push((class, Kind::new(grid, class, pools)));
        }
        kinds.last_mut().expect("it was just pushed").1.left.push_back(Left { id, length });
    }
    let in_order = kinds.into_iter().map(|(_, mut kind)| {
        // The sort keeps equally long tasks in order of id.
        let by_length = |one: &Left, other: &Left| one.length.amount().total_cmp(&other.length.amount());
        kind.left.make_contiguous().sort_by(by_length);
        kind
    });
    in_order.collect()
}

/// So many tasks of all kinds, in order of submission.
pub(super) fn oldest(kinds: &[Kind], count: usize) -> Vec<(usize, TaskId)> {
    if count == 0 {
        return Vec::new();
    }
    let all =
        kinds.iter().enumerate().flat_map(|(kind, tasks)| tasks.left.iter().map(move |task| (kind, task.id)));
    let mut all: Vec<(usize, TaskId)> = all.collect();
    all.sort_unstable_by_key(|&(_, id)| id);
    all.truncate(count);
    all
}
