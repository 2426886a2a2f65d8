//! The tasks left to place, by class and in order of length.

use super::pool::Pool;
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
    /// By pool; infinite where no machine could run them.
    pub(super) seconds_per_op: Vec<f64>,
    /// The pools that could run them.
    pub(super) usable: Vec<usize>,
    /// The lowest price above 0 that those ask.
    pub(super) cheapest: f64,
}

impl Kind {
    fn new(grid: &Grid, class: TaskClassId, pools: &[Pool]) -> Self {
        let seconds = pools.iter().map(|pool| grid.classes().seconds_per_op(class, pool.class));
        let seconds_per_op: Vec<f64> = seconds.collect();
        let usable: Vec<usize> = (0..pools.len()).filter(|&pool| seconds_per_op[pool].is_finite()).collect();
        let prices = usable.iter().map(|&pool| pools[pool].price).filter(|price| *price > 0.0);
        let cheapest = prices.fold(f64::INFINITY, f64::min);
        Self { left: VecDeque::new(), seconds_per_op, usable, cheapest }
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
