//! What a recharge pays for does not wait for ever, whenever tasks are charged.

use super::{SEEDS, setups};
use crate::basics::seeds;
use gleaner_core::{Budget, Charged};
use gleaner_policy::{Aim, Choice, Level, Recipe, Spending, TaskOrder, When};
use gleaner_sim::{Setup, Simulation};
use gleaner_testkit::random;
use gleaner_units::{Credits, Ops, Span};

/// The same with a recharge that pays for any one of the tasks on any machine.
fn affordable(setup: &Setup, charged: Charged) -> Setup {
    let declared = setup.tasks.declared.iter().copied().flatten();
    let longest = declared.map(Ops::amount).fold(0.0, f64::max);
    let dearest = setup.machine_classes.iter().map(|class| class.price).fold(0.0, f64::max);
    let recharge = Credits::new((longest * dearest).ceil() as u64 + 1);
    let budget = setup.budget.map(|budget| Budget { recharge, charged, ..budget });
    Setup { budget, ..setup.clone() }
}

/// Each task of the grids ends, whenever it is charged; batches are as often as recharges.
fn check_that_all_end(recipe: Recipe, seed: u64) {
    for setup in setups(seed).into_iter().chain([random::setup_with_priorities(seed)]) {
        for charged in Charged::all() {
            let setup = affordable(&setup, charged);
            let period = setup.budget.expect("a budget").period;
            let when = if recipe.when == When::AtEvents { When::AtEvents } else { When::Every(period) };
            let recipe = Recipe { when, ..recipe };
            let mut run = Simulation::new(&setup, recipe.build());
            run.run();
            assert_eq!(run.history().unfinished(), 0, "seed {seed}, {charged:?}, {recipe}");
        }
    }
}

/// Also where a plan takes nothing from what is left, so that more is planned than this period pays for.
#[test]
fn what_is_planned_as_it_comes_ends() {
    for seed in seeds(SEEDS) {
        for level in [Level::Machines, Level::Classes] {
            let recipe = Recipe { spending: Spending::Cap, level, ..Recipe::as_they_come(Aim::Earliest) };
            check_that_all_end(recipe, seed);
        }
    }
}

/// Also where none of the tasks is cheap enough for an even share of what is left.
#[test]
fn what_has_its_share_of_the_budget_ends() {
    for seed in seeds(SEEDS / 3) {
        for (order, spending) in TaskOrder::all()
            .into_iter()
            .flat_map(|order| [Spending::Share, Spending::LeastShare].map(|spending| (order, spending)))
        {
            let level = if seed.is_multiple_of(3) { Level::Classes } else { Level::Machines };
            let recipe = Recipe { spending, level, ..Recipe::in_batches(order, Span::ZERO) };
            check_that_all_end(recipe, seed);
        }
    }
}
