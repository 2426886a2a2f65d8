//! What has to change in a batch for a place that may be given none of the tasks left to be allowed to one of them.
//!
//! In a batch, tasks are only taken, credits are only spent, and what was allocated grows. A condition that fails for all
//! tasks left therefore fails as long as what the mean allows, less what counts of what is allocated, is below a threshold. **A
//! threshold is never too high**: it is lower than the exact one by more than all rounding errors.

use super::{Base, Conditions};
use super::{Savings, Spending, Terms};

/// More than all rounding errors together, relative to each of the numbers.
const SURELY: f64 = 1e-9;

/// From which point on a place has to be looked at again: by how often what is allocated counts in its condition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Waking([f64; 3]);

impl Waking {
    /// Not in this batch.
    pub(crate) const NEVER: Self = Self([f64::INFINITY; 3]);

    /// The earlier one.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|times| self.0[times].min(other.0[times])))
    }
}

impl Conditions {
    /// When a place has to be looked at again that [may be given](Self::first_allowed) none of the tasks left, which have
    /// these lengths, the shortest and the longest. None where that may be at any moment.
    pub(crate) fn waking(&self, (shortest, longest): (f64, f64), terms: Terms) -> Option<Waking> {
        let times = match self.spending {
            // What may be spent on one task depends on how many are left.
            Spending::Free | Spending::Share | Spending::LeastShare => return None,
            Spending::PerTaskAndTime(Savings::AsPrinted, _) | Spending::WithinReach
                if terms.ready_s > 0.0 =>
            {
                0
            }
            Spending::PerTaskAndTime(Savings::AsDerived, _) if terms.ready_s > 0.0 => 2,
            Spending::Cap
            | Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::PerTaskAndTime(..)
            | Spending::WithinReach
            | Spending::MovingPrice => 1,
        };
        if !self.pays(shortest, terms.price) {
            return Some(Waking::NEVER);
        }
        let base = match self.base(terms) {
            Base::Unconditional => return None,
            Base::Never => return Some(Waking::NEVER),
            Base::Counted(base) => base,
        };
        // The length for which it is the easiest.
        let length = if terms.price > self.limit { shortest } else { longest };
        let counted = times as f64 * self.allocated.amount();
        let needed = base - counted + length * (terms.price - self.limit);
        let size = base.abs() + counted + length * (terms.price + self.limit);
        let mut waking = Waking::NEVER;
        waking.0[times] = needed - SURELY * size;
        Some(waking)
    }

    /// Whether that moment has come.
    #[inline]
    pub(crate) fn wakes(&self, waking: Waking) -> bool {
        let (allowance, allocated) = (self.allowance, self.allocated.amount());
        let is_below = |times: usize| {
            let counted = times as f64 * allocated;
            allowance - counted + SURELY * (allowance.abs() + counted) < waking.0[times]
        };
        !(0..3).all(is_below)
    }
}
