//! What a reference goes by.

use crate::naive_lengths::{self, Belief};
use gleaner_core::Grid;
use gleaner_units::{Span, TaskId, Time};

/// Metric and best metric, table 1 of the paper; and tasks as they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// As they were submitted.
    First,
    /// The least of the least.
    MinMin,
    /// The largest of the least.
    MaxMin,
    /// The largest difference between the two least.
    Sufferage,
    /// The same, by Maheswaran et al.: in passes over all tasks, for each worker one.
    SufferagePasses,
}

/// Line 9 of figure 2 in its versions, and what the Nimrod/G broker allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No budget.
    None,
    /// Figure 2.
    B,
    /// With condition (4).
    Bt,
    /// With condition (4), and no machine that is ready only after R.
    BtWithinPeriod,
    /// With conditions (4) and (5), the latter as printed.
    BttPrinted,
    /// With (5) as it is derived.
    BttDerived,
    /// BTT as printed, for no more than the machines can do in 1.4 periods.
    BttWithinReach,
    /// Up to a price at which what can be done in R costs no more than B, and at the next with what that leaves.
    MovingPrice,
    /// What is left over tasks left.
    Share,
    /// What is left when the others keep an even share.
    LeastShare,
}

/// What line 9 asks before anything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// Whether the price is the lowest, as it is printed.
    Price,
    /// Whether the machine is ready within R.
    Readiness,
    /// The conditions: the lowest price changes nothing.
    Conditions,
}

/// Which of the machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Done first.
    Time,
    /// Cheapest in time for the deadline.
    Cost,
    /// Cheapest, then done first.
    CostTime,
    /// Fastest for the task, MET.
    Fastest,
    /// Free first, OLB.
    FirstFree,
    /// Done first of so many per cent that are fastest for the task, KPB.
    EarliestOfFastest(u32),
}

/// What a reference goes by.
#[expect(clippy::struct_excessive_bools, reason = "each is a rule that holds or does not")]
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// R.
    pub period: Span,
    /// Which task is next.
    pub pick: Pick,
    /// Where it may go.
    pub rule: Rule,
    /// What line 9 asks first.
    pub first: First,
    /// Where it goes.
    pub goal: Goal,
    /// Whether tasks are planned for classes.
    pub by_class: bool,
    /// So many of the oldest come first.
    pub aging: usize,
    /// By when all should be done.
    pub deadline: Option<Time>,
    /// Whether what is scheduled stays so.
    pub stands: bool,
    /// Whether tasks are scheduled as they come, and not at the end of each period.
    pub at_once: bool,
    /// Whose word on lengths is taken.
    pub lengths: Belief,
    /// Whether it counts that machines leave.
    pub weighs: bool,
    /// Whether tasks wait where faster machines would have done everything first.
    pub holds: bool,
}

impl Terms {
    /// Whether anything is known of a task's length.
    pub(super) fn knows(&self, grid: &Grid, task: TaskId) -> bool {
        naive_lengths::length(grid, self.lengths, task, 0.0).is_some()
    }
}
