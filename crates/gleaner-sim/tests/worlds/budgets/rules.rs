//! The rules for batches with their references.

use gleaner_policy::{Aim, Cheapest, Holding, Level, Recipe, Replan, Savings, Spending, TaskOrder, When};
use gleaner_sim::Setup;
use gleaner_testkit::naive_batch::{First, Goal, Pick, Rule, Terms};
use gleaner_testkit::naive_lengths::Belief;
use gleaner_testkit::random::Choices;
use gleaner_units::Time;

pub(crate) const ORDERS: [(TaskOrder, Pick); 5] = [
    (TaskOrder::Submission, Pick::First),
    (TaskOrder::MinMin, Pick::MinMin),
    (TaskOrder::MaxMin, Pick::MaxMin),
    (TaskOrder::Sufferage, Pick::Sufferage),
    (TaskOrder::SufferagePasses, Pick::SufferagePasses),
];

pub(crate) const RULES: [(Spending, Rule); 17] = [
    (Spending::Free, Rule::None),
    (Spending::Cap, Rule::B),
    (Spending::PerTask(Cheapest::First), Rule::Bt),
    (Spending::PerTask(Cheapest::AsOthers), Rule::Bt),
    (Spending::PerTaskWithinPeriod(Cheapest::First), Rule::BtWithinPeriod),
    (Spending::PerTaskWithinPeriod(Cheapest::IfReady), Rule::BtWithinPeriod),
    (Spending::PerTaskWithinPeriod(Cheapest::AsOthers), Rule::BtWithinPeriod),
    (Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First), Rule::BttPrinted),
    (Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::IfReady), Rule::BttPrinted),
    (Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::AsOthers), Rule::BttPrinted),
    (Spending::PerTaskAndTime(Savings::AsDerived, Cheapest::First), Rule::BttDerived),
    (Spending::PerTaskAndTime(Savings::AsDerived, Cheapest::IfReady), Rule::BttDerived),
    (Spending::PerTaskAndTime(Savings::AsDerived, Cheapest::AsOthers), Rule::BttDerived),
    (Spending::WithinReach, Rule::BttWithinReach),
    (Spending::MovingPrice, Rule::MovingPrice),
    (Spending::Share, Rule::Share),
    (Spending::LeastShare, Rule::LeastShare),
];

/// How line 9 is read.
pub(crate) fn first(spending: Spending) -> First {
    let cheapest = match spending {
        Spending::PerTask(cheapest)
        | Spending::PerTaskWithinPeriod(cheapest)
        | Spending::PerTaskAndTime(_, cheapest) => cheapest,
        _ => Cheapest::First,
    };
    match cheapest {
        Cheapest::First => First::Price,
        Cheapest::IfReady => First::Readiness,
        Cheapest::AsOthers => First::Conditions,
    }
}

pub(crate) const AIMS: [(Aim, Goal); 6] = [
    (Aim::Earliest, Goal::Time),
    (Aim::Cheapest, Goal::Cost),
    (Aim::CheapestThenEarliest, Goal::CostTime),
    (Aim::Fastest, Goal::Fastest),
    (Aim::FirstFree, Goal::FirstFree),
    (Aim::EarliestOfFastest { percent: 40.0 }, Goal::EarliestOfFastest(40)),
];

/// A rule and its reference for the grid of a seed; what a paper does not name is drawn from the seed.
pub(crate) fn pair(
    setup: &Setup,
    (order, pick): (TaskOrder, Pick),
    (spending, rule): (Spending, Rule),
    seed: u64,
) -> (Recipe, Terms) {
    let choices = &mut Choices::seeded(seed ^ 0x7061_6972);
    let period = setup.budget.expect("a budget").period;
    let by_class = choices.one_in(3) && spending.heeds_budget();
    let (aim, goal) = AIMS[if order == TaskOrder::Submission { choices.below(AIMS.len()) } else { 0 }];
    let aging = if choices.one_in(3) && order != TaskOrder::Submission { choices.below(4) } else { 0 };
    let reads_deadline = matches!(aim, Aim::Cheapest | Aim::CheapestThenEarliest);
    let deadline =
        (choices.one_in(2) && reads_deadline).then(|| Time::ZERO.after_seconds(100.0 * choices.unit()));
    let stands = choices.one_in(4);
    let at_once = stands && choices.one_in(2);
    let when = if at_once { When::AtEvents } else { When::Every(period) };
    let replan = if stands { Replan::Lost } else { Replan::Unbegun };
    let level = if by_class { Level::Classes } else { Level::Machines };
    let lets_wait = matches!(spending, Spending::Free | Spending::Cap | Spending::MovingPrice);
    let holds = !at_once && lets_wait && choices.one_in(2);
    let hold = if holds { Holding::WhenSlower } else { Holding::Never };
    (
        Recipe {
            when,
            goal: gleaner_policy::Goal::End(aim),
            spending,
            level,
            aging: aging as u32,
            deadline,
            replan,
            hold,
            ..Recipe::in_batches(order, period)
        },
        Terms {
            period,
            pick,
            rule,
            first: first(spending),
            goal,
            by_class,
            aging,
            deadline,
            stands,
            at_once,
            lengths: Belief::Declared,
            weighs: false,
            holds,
        },
    )
}
