//! Batches and plans where some tasks are more urgent than others: these come first, whatever the order among equals is.

use super::rules::{ORDERS, RULES, pair};
use super::{SEEDS, setups};
use crate::basics::{seconds, seeds};
use gleaner_core::{Budget, Charged, Decision, Scope, TaskClass};
use gleaner_policy::{Aim, Recipe, Spending, TaskOrder};
use gleaner_sim::Setup;
use gleaner_testkit::batch_history::{self, Seen};
use gleaner_testkit::naive_batch;
use gleaner_testkit::random;
use gleaner_testkit::record::{Entry, first_difference, run, run_checked};
use gleaner_testkit::table;
use gleaner_units::{Credits, TaskClassId, Time};

#[test]
fn batches_by_priority_equal_their_references() {
    let mut seen = Seen::default();
    for seed in seeds(SEEDS) {
        let whole = random::setup_with_priorities(seed);
        for order in ORDERS {
            // A third of the rules, others for each seed.
            for rule in RULES.into_iter().skip(seed as usize % 3).step_by(3) {
                let (recipe, terms) = pair(&whole, order, rule, seed);
                let budget = whole.budget.filter(|_| recipe.heeds_budget());
                let setup = Setup { budget, ..whole.clone() };
                let fast = run_checked(&setup, recipe.build())
                    .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
                let same = first_difference(&fast, &naive_batch::run(&setup, terms.clone(), None));
                if let Some(difference) = same {
                    panic!("seed {seed}, {recipe:?}: {difference}");
                }
                batch_history::compare(&setup, seed, recipe.build(), terms, &mut seen)
                    .unwrap_or_else(|difference| panic!("seed {seed}, live, {recipe:?}: {difference}"));
            }
        }
    }
    assert!(seen.planned > 20 * seeds(SEEDS).count(), "{seen:?}");
}

fn decisions(setup: &Setup, recipe: Recipe) -> Vec<(Time, Decision)> {
    let passed = run(setup, recipe.build()).0.into_iter();
    let decisions = passed.filter_map(|(at, entry)| match entry {
        Entry::Decision(decision) => Some((at, decision)),
        Entry::Event(_) | Entry::Command(_) => None,
    });
    decisions.collect()
}

/// Which priority it is makes no difference where all have the same.
#[test]
fn one_priority_for_all_is_none() {
    for seed in seeds(SEEDS) {
        let setup = &setups(seed)[seed as usize % 3];
        let mut urgent = setup.clone();
        urgent.task_classes.iter_mut().for_each(|class| class.priority = 3);
        for order in ORDERS {
            let (recipe, _) = pair(setup, order, RULES[seed as usize % RULES.len()], seed);
            assert_eq!(decisions(setup, recipe), decisions(&urgent, recipe), "seed {seed}, {recipe}");
        }
    }
}

/// Which tasks one machine begins, in order: three short ones and a long one that is more urgent, all handed in at once.
fn begun(recipe: Recipe) -> Vec<usize> {
    let tasks = "task 0 10 1\ntask 0 20 1\ntask 0 30 1\ntask 0 40 1\n";
    let mut setup = table::setup(&format!("weights 1\nmachine 1\n{tasks}"));
    setup.machine_classes[0].room.slots = Some(1);
    let urgent = TaskClass { priority: 100, ..setup.task_classes[0].clone() };
    setup.task_classes.push(urgent);
    setup.tasks.classes[3] = TaskClassId::new(1);
    starts(&setup, recipe)
}

/// Which tasks begin, in order.
fn starts(setup: &Setup, recipe: Recipe) -> Vec<usize> {
    let begun = decisions(setup, recipe).into_iter().filter_map(|(_, decision)| match decision {
        Decision::Start { task, .. } => Some(task.index()),
        _ => None,
    });
    begun.collect()
}

#[test]
fn the_most_urgent_task_is_first() {
    for (order, _) in ORDERS {
        let begun = begun(Recipe::in_batches(order, seconds(60.0)));
        assert_eq!((begun.len(), begun[0]), (4, 3), "{order:?}: {begun:?}");
    }
    // The first begins before the others are there, and the plans of the others stay.
    assert_eq!(begun(Recipe::as_they_come(Aim::Earliest)), [0, 3, 1, 2]);
}

/// Two tasks that are too dear for an even share of what a recharge brings, which pays for either: the less urgent one leaves its share,
/// though it came first.
#[test]
fn who_is_less_urgent_leaves_its_share_first() {
    let mut setup = table::setup("weights 1\nmachine 1\ntask 0 20 1\ntask 0 20 1\n");
    setup.machine_classes[0].price = 1.0;
    setup.machine_classes[0].room.slots = Some(1);
    let urgent = TaskClass { priority: 100, ..setup.task_classes[0].clone() };
    setup.task_classes.push(urgent);
    setup.tasks.classes[1] = TaskClassId::new(1);
    let period = seconds(60.0);
    let (charged, scope) = (Charged::Planned, Scope::Shared);
    setup.budget = Some(Budget { recharge: Credits::new(30), period, charged, scope });
    for (order, _) in ORDERS.into_iter().filter(|(order, _)| *order != TaskOrder::Submission) {
        for spending in [Spending::Share, Spending::LeastShare] {
            let recipe = Recipe { spending, ..Recipe::in_batches(order, period) };
            assert_eq!(starts(&setup, recipe), [1, 0], "{recipe}");
        }
    }
}
