//! Batches on machines that come, close, open, are lost, return and are measured anew at another price and speed, while tasks
//! wait, are planned and run: each rule equals its naive reference, decision for decision, in the simulator by a trace and by
//! what a live grid may report.

use super::rules::{ORDERS, RULES, pair};
use super::setups;
use crate::basics::seeds;
use gleaner_policy::{Aim, Recipe, Spending, TaskOrder};
use gleaner_sim::Setup;
use gleaner_testkit::batch_history::{self, Seen};
use gleaner_testkit::naive_batch::{self, Goal, Pick, Rule, Terms};
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::record::{first_difference, run_checked};
use gleaner_units::Time;

/// As many as are usual.
const SEEDS: u64 = 200;

/// A third of the rules, in an order that is another one for each seed.
fn drawn(setup: &Setup, seed: u64) -> impl Iterator<Item = (Setup, (Recipe, Terms))> {
    let order: (TaskOrder, Pick) = ORDERS[seed as usize % ORDERS.len()];
    let third = (seed / ORDERS.len() as u64) as usize % 3;
    RULES.into_iter().skip(third).step_by(3).map(move |rule: (Spending, Rule)| {
        let (recipe, terms) = pair(setup, order, rule, seed);
        let budget = setup.budget.filter(|_| recipe.heeds_budget());
        (Setup { budget, ..setup.clone() }, (recipe, terms))
    })
}

#[test]
fn batches_by_a_trace_equal_their_references() {
    let mut different = Vec::new();
    for seed in seeds(SEEDS) {
        for (setup, (recipe, terms)) in drawn(&random::setup_with_leaving(seed), seed) {
            let fast = run_checked(&setup, recipe.build())
                .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
            if let Some(difference) = first_difference(&fast, &naive_batch::run(&setup, terms, None)) {
                different.push(format!("seed {seed}, {recipe} ({:?}): {difference}", setup.budget));
            }
        }
    }
    assert!(different.is_empty(), "{} differ; first\n{}", different.len(), different.join("\n"));
}

#[test]
fn batches_on_a_live_grid_equal_their_references() {
    let (mut different, mut seen) = (Vec::new(), Seen::default());
    for seed in seeds(SEEDS) {
        let setup = &setups(seed)[seed as usize % 3];
        for (setup, (recipe, terms)) in drawn(setup, seed) {
            let same = batch_history::compare(&setup, seed, recipe.build(), terms, &mut seen);
            if let Err(difference) = same {
                different.push(format!("seed {seed}, {recipe} ({:?}): {difference}", setup.budget));
            }
        }
    }
    assert!(different.is_empty(), "{} differ; first\n{}", different.len(), different.join("\n"));
    let runs = 4 * seeds(SEEDS).count();
    assert!(
        2 * seen.prices_changed > runs && seen.planned > 20 * runs && seen.started > 5 * runs,
        "{seen:?}"
    );
}

/// The rules for the lowest cost by a deadline that some tasks meet and others do not.
fn by_a_deadline(setup: &Setup, seed: u64) -> impl Iterator<Item = (Setup, (Recipe, Terms))> {
    let choices = &mut Choices::seeded(seed ^ 0x6465_6164);
    let deadline = Some(Time::ZERO.after_seconds(150.0 * choices.unit()));
    let rule = RULES[choices.below(RULES.len())];
    [(Aim::Cheapest, Goal::Cost), (Aim::CheapestThenEarliest, Goal::CostTime)].into_iter().map(
        move |(aim, goal)| {
            let (recipe, terms) = pair(setup, ORDERS[0], rule, seed);
            let recipe = Recipe { goal: gleaner_policy::Goal::End(aim), deadline, ..recipe };
            let budget = setup.budget.filter(|_| recipe.heeds_budget());
            (Setup { budget, ..setup.clone() }, (recipe, Terms { goal, deadline, ..terms }))
        },
    )
}

#[test]
fn the_lowest_cost_by_a_deadline_equals_its_reference() {
    let (mut different, mut seen) = (Vec::new(), Seen::default());
    for seed in seeds(SEEDS) {
        let all = setups(seed).into_iter().chain([random::setup_with_leaving(seed)]);
        for setup in all.skip(seed as usize % 2).step_by(2) {
            for (setup, (recipe, terms)) in by_a_deadline(&setup, seed) {
                let fast = run_checked(&setup, recipe.build())
                    .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
                let same = first_difference(&fast, &naive_batch::run(&setup, terms.clone(), None));
                if let Some(difference) = same {
                    different.push(format!("seed {seed}, {recipe} ({:?}): {difference}", setup.budget));
                }
            }
        }
        let setup = &setups(seed)[seed as usize % 3];
        for (setup, (recipe, terms)) in by_a_deadline(setup, seed) {
            let same = batch_history::compare(&setup, seed, recipe.build(), terms, &mut seen);
            if let Err(difference) = same {
                different.push(format!("seed {seed}, live, {recipe} ({:?}): {difference}", setup.budget));
            }
        }
    }
    assert!(different.is_empty(), "{} differ; first\n{}", different.len(), different.join("\n"));
    assert!(seen.planned > 20 * seeds(SEEDS).count(), "{seen:?}");
}
