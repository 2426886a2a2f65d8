//! Where a waiting task goes: the machine with the best score, among equals the lowest.

use crate::Score;
use crate::fleet::{Fleet, Objective, Summary};
use crate::score;
use gleaner_core::{Grid, tie_threshold};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};

/// Bounds that are summed in another order than the score may fall short of it by rounding; this much, relative,
/// makes up for it.
pub(crate) const ROUNDING: f64 = 1e-13;

/// The machine for a task of `class` now; none where no machine can take it.
pub fn place(score: Score, grid: &Grid, fleet: &Fleet, class: TaskClassId) -> Option<MachineId> {
    let wanted = Newcomer { score, grid, class, seconds_per_op: grid.classes().seconds_per_op_row(class) };
    let best = fleet.best(&wanted, f64::NEG_INFINITY);
    if best == f64::NEG_INFINITY { None } else { fleet.lowest(&wanted, tie_threshold(best)) }
}

struct Newcomer<'a> {
    score: Score,
    grid: &'a Grid,
    class: TaskClassId,
    seconds_per_op: &'a [f64],
}

impl Objective for Newcomer<'_> {
    #[inline]
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64 {
        let h = self.seconds_per_op[class.index()];
        if h == f64::INFINITY {
            return f64::NEG_INFINITY;
        }
        match self.score {
            // As printed, the residents only take away from the newcomer's own affinity.
            Score::Greedy | Score::SocialAsPrinted => summary.next_share_max / h,
            Score::Social => match summary.next_burden_min.get(self.class.index()) {
                // The same operations as in the score: equal machines do not look better than the one found.
                Some(&least) => -least,
                None => (ROUNDING - 1.0) * (summary.next_crowding_min * h + summary.next_times_min),
            },
            Score::MinNum => -summary.next_count_min,
        }
    }

    #[inline]
    fn score(&self, machine: MachineId) -> f64 {
        if self.grid.can_run(self.class, machine) {
            score::placement(self.score, self.grid, self.class, machine)
        } else {
            f64::NEG_INFINITY
        }
    }
}
