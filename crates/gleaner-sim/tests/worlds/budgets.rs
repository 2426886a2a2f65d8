//! Batches under a budget: each rule equals its naive reference, decision for decision, on random grids; what is spent
//! never exceeds the recharge in any period, nor what is left at any moment; and faults are noticed.

mod ending;
mod moving;
mod priorities;
mod rules;

use crate::basics::seeds;
use gleaner_core::{Account, Charged, Grid};
use gleaner_policy::{
    Aim, Cheapest, Choice, Holding, Lengths, Level, PolicyError, Recipe, Relocate, Replan, Score, Spending,
    Staying, TaskOrder, When,
};
use gleaner_sim::{Setup, Simulation};
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive_batch::{self, First, Goal, Pick, Rule, Terms};
use gleaner_testkit::naive_lengths::Belief;
use gleaner_testkit::random;
use gleaner_testkit::record::{first_difference, run, run_checked};
use gleaner_units::{Credits, Span, Time};
use rules::{AIMS, ORDERS, RULES, first, pair};
use std::collections::BTreeSet;

/// As many as are usual.
const SEEDS: u64 = 60;

/// One budget for all, the same grid with one for each user, and with tasks of several cores.
fn setups(seed: u64) -> [Setup; 3] {
    [random::setup_with_budget(seed), random::setup_with_budgets(seed), random::setup_with_cores(seed)]
}

#[test]
fn batches_equal_their_references() {
    for (seed, setup) in seeds(SEEDS).flat_map(|seed| setups(seed).map(|setup| (seed, setup))) {
        for (order, rule) in ORDERS.into_iter().flat_map(|order| RULES.map(|rule| (order, rule))) {
            let (recipe, naive) = pair(&setup, order, rule, seed);
            // Without a rule there is no budget.
            let budget = setup.budget.filter(|_| recipe.heeds_budget());
            let setup = Setup { budget, ..setup.clone() };
            let fast = run_checked(&setup, recipe.build())
                .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
            if let Some(difference) = first_difference(&fast, &naive_batch::run(&setup, naive, None)) {
                panic!("seed {seed}, {recipe:?}: {difference}");
            }
        }
    }
}

/// The grids of a few users with labels, of whom some declare no lengths, and by which word of lengths their tasks are planned.
fn learning(seed: u64) -> impl Iterator<Item = (Setup, (Recipe, Terms))> {
    let beliefs = [(Lengths::Learnt, Belief::Learnt), (Lengths::LastTwo, Belief::LastTwo)];
    let setups = [random::setup_with_labels(seed, false), random::setup_with_labels(seed, true)];
    let both = setups.into_iter().flat_map(move |setup| beliefs.map(|belief| (setup.clone(), belief)));
    both.flat_map(move |(setup, (lengths, belief))| {
        ORDERS.map(|order| {
            let (recipe, naive) = pair(&setup, order, (Spending::Free, Rule::None), seed);
            let setup = Setup { budget: None, ..setup.clone() };
            (setup, (Recipe { lengths, ..recipe }, Terms { lengths: belief, ..naive }))
        })
    })
}

#[test]
fn batches_by_learnt_lengths_equal_their_references() {
    for (seed, (setup, (recipe, naive))) in
        seeds(SEEDS).flat_map(|seed| learning(seed).map(move |it| (seed, it)))
    {
        let fast = run_checked(&setup, recipe.build())
            .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        if let Some(difference) = first_difference(&fast, &naive_batch::run(&setup, naive, None)) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
}

/// What was learnt makes a difference, and so does one that learns something else.
#[test]
fn a_batch_that_learns_wrongly_is_noticed() {
    for (right, wrong) in [
        (Lengths::Learnt, Belief::LastTwo),
        (Lengths::LastTwo, Belief::Learnt),
        (Lengths::Learnt, Belief::Declared),
    ] {
        let differs = |seed: u64| {
            learning(seed).filter(|(_, (recipe, _))| recipe.lengths == right).any(
                |(setup, (recipe, naive))| {
                    let naive = Terms { lengths: wrong, ..naive };
                    first_difference(&run(&setup, recipe.build()), &naive_batch::run(&setup, naive, None))
                        .is_some()
                },
            )
        };
        assert!((1..=20).any(differs), "{right:?} is the same as {wrong:?}");
    }
}

/// Orders on machines that come and go, where it counts that they leave.
fn leaving(seed: u64) -> impl Iterator<Item = (Setup, (Recipe, Terms))> {
    let whole = random::setup_with_leaving(seed);
    ORDERS.into_iter().filter_map(move |order| {
        let (recipe, naive) = pair(&whole, order, (Spending::Free, Rule::None), seed);
        let setup = Setup { budget: None, ..whole.clone() };
        let recipe = Recipe { availability: Staying::Learnt, hold: Holding::Never, ..recipe };
        recipe.check().is_ok().then_some((setup, (recipe, Terms { weighs: true, holds: false, ..naive })))
    })
}

#[test]
fn batches_on_machines_that_leave_equal_their_references() {
    let mut compared = 0;
    for (seed, (setup, (recipe, naive))) in
        seeds(SEEDS).flat_map(|seed| leaving(seed).map(move |it| (seed, it)))
    {
        compared += 1;
        let fast = run_checked(&setup, recipe.build())
            .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        if let Some(difference) = first_difference(&fast, &naive_batch::run(&setup, naive, None)) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
    assert!(compared >= 2 * seeds(SEEDS).count(), "{compared} make sense");
}

/// That machines leave makes a difference.
#[test]
fn a_batch_that_takes_machines_to_stay_is_noticed() {
    let differs = |seed: u64| {
        leaving(seed).any(|(setup, (recipe, naive))| {
            let naive = Terms { weighs: false, ..naive };
            first_difference(&run(&setup, recipe.build()), &naive_batch::run(&setup, naive, None)).is_some()
        })
    };
    assert!((1..=20).any(differs));
}

/// Every choice for every part with every other. What is drawn elsewhere is a few numbers here.
fn combinations(period: Span) -> impl Iterator<Item = Recipe> {
    let whens = [When::AtEvents, When::Every(period)];
    let relocations = Score::ALL
        .into_iter()
        .flat_map(move |score| whens.map(|when| Some(Relocate { when, ..Relocate::by(score) })));
    let relocations: Vec<Option<Relocate>> = std::iter::once(None).chain(relocations).collect();
    let levels = [Level::Machines, Level::Classes];
    let spent: Vec<(Spending, Level)> =
        RULES.into_iter().flat_map(|(spending, _)| levels.map(|level| (spending, level))).collect();
    let numbers: Vec<(u32, Option<Time>)> = [0, 2]
        .into_iter()
        .flat_map(|aging| [None, Some(Time::ZERO.after_seconds(50.0))].map(|deadline| (aging, deadline)))
        .collect();
    let goals = Choice::all().into_iter().flat_map(move |goal| whens.map(|when| (goal, when)));
    let orders =
        goals.flat_map(|(goal, when)| TaskOrder::all().into_iter().map(move |order| (goal, when, order)));
    let replans = orders.flat_map(|parts| Replan::all().into_iter().map(move |replan| (parts, replan)));
    replans.flat_map(move |((goal, when, order), replan)| {
        let base = Recipe { when, order, goal, replan, ..Recipe::by(Score::Greedy) };
        let spent = spent.iter().flat_map(|rule| numbers.iter().map(move |numbers| (*rule, *numbers)));
        let whole = spent.flat_map(|((spending, level), (aging, deadline))| {
            let base = Recipe { spending, level, aging, deadline, ..base };
            relocations.iter().map(move |&relocate| Recipe { relocate, ..base })
        });
        whole.collect::<Vec<_>>()
    })
}

/// The reference of a recipe that plans.
fn reference(recipe: &Recipe, aim: Aim, period: Span) -> Terms {
    let (_, pick) = ORDERS.into_iter().find(|(order, _)| *order == recipe.order).expect("an order");
    let (_, rule) = RULES.into_iter().find(|(spending, _)| *spending == recipe.spending).expect("a rule");
    let goal = match aim {
        Aim::EarliestOfFastest { percent } => Goal::EarliestOfFastest(percent as u32),
        _ => AIMS.into_iter().find(|(known, _)| *known == aim).expect("an aim").1,
    };
    Terms {
        period,
        pick,
        rule,
        first: first(recipe.spending),
        goal,
        by_class: recipe.level == Level::Classes,
        aging: recipe.aging as usize,
        deadline: recipe.deadline,
        stands: recipe.replan == Replan::Lost,
        at_once: recipe.when == When::AtEvents,
        lengths: Belief::Declared,
        weighs: false,
        holds: recipe.hold == Holding::WhenSlower,
    }
}

/// What is made of the parts runs, whole after every event, and a plan is what the reference plans; or it is said which part
/// does not go with the others, and why. Placing by a score is compared in `references.rs`.
#[test]
fn every_combination_of_parts_runs_or_is_refused_with_a_reason() {
    let period = |setup: &Setup| setup.budget.expect("a budget").period;
    let (mut run_count, mut reasons) = (0_u64, BTreeSet::new());
    for recipe in combinations(period(&random::setup_with_budget(1))) {
        if let Err(PolicyError { key, expected, .. }) = recipe.check() {
            reasons.insert((key, expected));
            continue;
        }
        run_count += 1;
        let seed = 1 + run_count % 40;
        let setup = random::setup_with_budget(seed);
        let period = period(&setup);
        let when = if recipe.when == When::AtEvents { When::AtEvents } else { When::Every(period) };
        let recipe = Recipe { when, ..recipe };
        let setup = Setup { budget: setup.budget.filter(|_| recipe.heeds_budget()), ..setup };
        let fast = run_checked(&setup, recipe.build())
            .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        let gleaner_policy::Goal::End(aim) = recipe.goal else { continue };
        let naive = naive_batch::run(&setup, reference(&recipe, aim, period), None);
        if let Some(difference) = first_difference(&fast, &naive) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
    assert!(run_count > 500, "{run_count} make sense");
    assert!(reasons.iter().all(|(key, expected)| !key.is_empty() && expected.contains(": ")), "{reasons:?}");
}

/// What an outsider sees of an account at one moment.
fn check_account(account: &Account, now: Time) -> Result<(), String> {
    let (spent, held, left) = (account.spent(now), account.held(), account.left(now));
    let recharge = account.budget().recharge;
    // What is left is never less than nothing: a sum that were too large would not come out.
    if spent + held + left == recharge {
        Ok(())
    } else {
        Err(format!("{spent} spent, {held} held and {left} left of {recharge}"))
    }
}

#[test]
fn what_is_spent_never_exceeds_the_recharge() {
    let recipes = |seed: u64, setup: &Setup| {
        let batches = ORDERS.into_iter().flat_map(|order| RULES.map(|rule| (order, rule)));
        let batches: Vec<Recipe> = batches.map(|(order, rule)| pair(setup, order, rule, seed).0).collect();
        let matched = Score::ALL.into_iter().flat_map(|score| {
            [Spending::Cap, Spending::PerTask(Cheapest::First)]
                .map(|spending| Recipe { spending, ..Recipe::by(score) })
        });
        batches.into_iter().chain(matched).collect::<Vec<_>>()
    };
    for (seed, setup) in seeds(SEEDS).flat_map(|seed| setups(seed).map(|setup| (seed, setup))) {
        for recipe in recipes(seed, &setup) {
            let mut simulation = Simulation::new(&setup, recipe.build());
            while simulation.step() {
                let now = simulation.progress().now;
                let accounts = simulation.scheduler().grid().accounts().expect("a budget");
                let each = accounts.used().try_for_each(|(_, account)| check_account(account, now));
                each.unwrap_or_else(|broken| panic!("seed {seed}, {recipe}: {broken}"));
            }
            let history = simulation.history();
            let ended = cost_of_ended(&setup, &simulation);
            assert_eq!(ended, unless_running(&simulation, history.paid()), "seed {seed}, {recipe}");
        }
    }
}

/// ⌈declared length × price⌉ of each task that ended, where it did.
fn cost_of_ended<P: gleaner_core::Policy>(setup: &Setup, run: &Simulation<'_, P>) -> Credits {
    let tasks = run.history().tasks().iter().zip(&setup.tasks.declared);
    let ended = tasks.filter(|(task, _)| task.finished != Time::NEVER);
    let costs = ended.filter_map(|(task, length)| {
        let class = setup.machines[task.machine?.index()];
        Some((length.as_ref()?.amount() * setup.machine_classes[class.index()].price).ceil())
    });
    Credits::new(costs.sum::<f64>() as u64)
}

/// What was paid, less what was paid for tasks that are planned or run: with nothing of that kind, all of it.
fn unless_running<P: gleaner_core::Policy>(run: &Simulation<'_, P>, paid: Credits) -> Credits {
    let grid: &Grid = run.scheduler().grid();
    let charged = grid.accounts().map(|accounts| accounts.budget().charged);
    let planned = if charged == Some(Charged::Planned) { grid.plans().len() } else { 0 };
    assert!(!grid.has_placed() && planned == 0, "a run ends when nothing runs");
    paid
}

#[test]
fn a_run_that_was_saved_goes_on_to_the_same_end() {
    for (seed, setup) in (1..=10).flat_map(|seed| setups(seed).map(|setup| (seed, setup))) {
        for (order, rule) in ORDERS.into_iter().flat_map(|order| RULES.map(|rule| (order, rule))) {
            let recipe = pair(&setup, order, rule, seed).0;
            let name = recipe.to_string();
            let mut whole = Simulation::new(&setup, recipe.build());
            whole.run();
            let mut broken = Simulation::new(&setup, recipe.build());
            for _ in 0..whole.progress().events / 2 {
                broken.step();
            }
            let saved = broken.save(&name);
            let mut resumed =
                Simulation::restore(&setup, || recipe.build(), &name, &saved).expect("what was just saved");
            resumed.scheduler().check().expect("a whole grid");
            resumed.run();
            assert_eq!(resumed.save(&name), whole.save(&name), "seed {seed}, {recipe}");
        }
    }
}

#[test]
fn a_fault_in_a_batch_is_noticed() {
    for order in ORDERS {
        for rule in RULES {
            for fault in [Fault::Deaf(3), Fault::Astray(5)] {
                let differs = |seed: u64| {
                    let setup = random::setup_with_budget(seed);
                    let (recipe, naive) = pair(&setup, order, rule, seed);
                    let mutant = run(&setup, Mutant::new(recipe.build(), fault, seed));
                    first_difference(&mutant, &naive_batch::run(&setup, naive, None)).is_some()
                };
                assert!((1..=60).any(differs), "{order:?} {rule:?} with {fault:?} went unnoticed");
            }
        }
    }
}

/// The reference keeps books of its own: where these are kept wrongly, the two part.
#[test]
fn books_that_are_kept_wrongly_are_noticed() {
    use naive_batch::Fault;
    for fault in [Fault::ChargedTwice, Fault::NeverRecharged, Fault::NoProgress] {
        for (spending, rule) in RULES.into_iter().filter(|(spending, _)| spending.heeds_budget()) {
            let differs = |seed: u64| {
                let setup = random::setup_with_budget(seed);
                let (recipe, naive) = pair(&setup, (TaskOrder::MinMin, Pick::MinMin), (spending, rule), seed);
                let fast = run(&setup, recipe.build());
                first_difference(&fast, &naive_batch::run(&setup, naive, Some(fault))).is_some()
            };
            assert!((1..=60).any(differs), "{spending:?} with {fault:?} went unnoticed");
        }
    }
}

#[test]
fn line_9_read_one_way_is_not_line_9_read_the_other_way() {
    let rules = RULES.into_iter().filter(|(spending, _)| first(*spending) != First::Price);
    for (spending, rule) in rules {
        let differs = |seed: u64| {
            let setup = random::setup_with_budget(seed);
            let (recipe, terms) = pair(&setup, (TaskOrder::MinMin, Pick::MinMin), (spending, rule), seed);
            let letter = Terms { first: First::Price, ..terms };
            let fast = run(&setup, recipe.build());
            first_difference(&fast, &naive_batch::run(&setup, letter, None)).is_some()
        };
        assert!((1..=60).any(differs), "{spending:?}: nobody would notice which machines are asked first");
    }
}

/// Somewhere a machine is so slow that a task waits: a reference that never has one wait parts from the policy there.
#[test]
fn what_is_held_back_is_not_planned_elsewhere_by_the_reference() {
    let differs = |(seed, rule): (u64, (Spending, Rule))| {
        let setup = random::setup_with_budget(seed);
        let (recipe, terms) = pair(&setup, (TaskOrder::MinMin, Pick::MinMin), rule, seed);
        let careless = Terms { holds: false, ..terms };
        recipe.hold == Holding::WhenSlower
            && first_difference(&run(&setup, recipe.build()), &naive_batch::run(&setup, careless, None))
                .is_some()
    };
    let mut all = (1..=60).flat_map(|seed| RULES.map(|rule| (seed, rule)));
    assert!(all.any(differs), "nobody would notice whether a task waits");
}
