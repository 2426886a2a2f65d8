//! What a peer looks for among the machines it has, its own and borrowed ones.

use crate::Score;
use crate::fleet::{Objective, Size, Summary};
use crate::parts::choose::Choose;
use crate::parts::score;
use crate::placement;
use gleaner_core::Grid;
use gleaner_units::{MachineClassId, MachineId, TaskClassId};

/// For what.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Wanted {
    /// To start a task at once: fewer tasks than cores.
    Free,
    /// To lend it: one's own, with nothing on it.
    Lendable,
    /// To queue there: one's own. The score is the tasks a core, less than nothing.
    Shortest,
    /// To queue there: one's own, with at most so many tasks a core.
    Queue(f64),
}

pub(super) struct Seeker<'a> {
    score: Score,
    choose: Choose,
    grid: &'a Grid,
    class: TaskClassId,
    size: Size,
    seconds_per_op: &'a [f64],
    wanted: Wanted,
}

impl<'a> Seeker<'a> {
    pub(super) fn new(
        (score, choose): (Score, Choose),
        grid: &'a Grid,
        class: TaskClassId,
        wanted: Wanted,
    ) -> Self {
        let seconds_per_op = grid.classes().seconds_per_op_row(class);
        let size = Size::from(grid.classes().demand(class).needs);
        Self { score, choose, grid, class, size, seconds_per_op, wanted }
    }

    /// Whether a machine with so many tasks on so many cores will do; for a bound, with the fewest.
    fn suits(&self, tasks: f64, cores: f64) -> bool {
        match self.wanted {
            Wanted::Free => tasks < cores,
            Wanted::Lendable => tasks == 0.0,
            Wanted::Shortest => true,
            Wanted::Queue(most) => tasks / cores <= most,
        }
    }
}

impl Objective for Seeker<'_> {
    #[inline]
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64 {
        let h = self.seconds_per_op[class.index()];
        let cores = f64::from(self.grid.classes().machine_class(class).cores);
        let tasks = summary.next_count_min;
        if h == f64::INFINITY || !summary.may_take(self.size) || !self.suits(tasks, cores) {
            return f64::NEG_INFINITY;
        }
        match (self.wanted, self.choose) {
            (Wanted::Shortest, _) => -(tasks / cores),
            (_, Choose::First) => 0.0,
            (
                _,
                Choose::Best
                | Choose::BestLatest
                | Choose::BestByLot
                | Choose::Proportional { .. }
                | Choose::TwoChoices,
            ) => placement::bound(self.score, (self.class, h), (self.grid.classes(), class), summary),
        }
    }

    #[inline]
    fn score(&self, on: MachineId) -> f64 {
        let machine = self.grid.machine(on);
        let (tasks, cores) = (f64::from(machine.count()), f64::from(machine.cores()));
        let may_be_borrowed = self.wanted == Wanted::Free;
        let is_clear = self.wanted != Wanted::Lendable || machine.stopping().is_empty();
        let suits = self.suits(tasks, cores)
            && is_clear
            && self.grid.can_run(self.class, on)
            && (may_be_borrowed || !self.grid.loans().is_borrowed(on));
        if !suits {
            return f64::NEG_INFINITY;
        }
        match (self.wanted, self.choose) {
            (Wanted::Shortest, _) => -(tasks / cores),
            (_, Choose::First) => 0.0,
            (
                _,
                Choose::Best
                | Choose::BestLatest
                | Choose::BestByLot
                | Choose::Proportional { .. }
                | Choose::TwoChoices,
            ) => score::placement(self.score, self.grid, self.class, on),
        }
    }
}
