//! Each fast policy equals its naive reference, decision for decision, on random grids; and each fault put into a
//! policy on purpose is noticed.

use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::Setup;
use gleaner_testkit::mutant::{Fault, Mutant};
use gleaner_testkit::naive::{Naive, RULES, Relocation, Rule};
use gleaner_testkit::random::{self, Choices};
use gleaner_testkit::record::{first_difference, run, run_checked};

/// Every placement with every relocation and none, with parameters drawn from the seed.
fn combination(seed: u64) -> (Recipe, Naive) {
    let choices = &mut Choices::seeded(seed ^ 0x5eed);
    let (place, relocate) = (choices.below(4), choices.below(5));
    let scores = [Score::Greedy, Score::Social, Score::SocialAsPrinted, Score::MinNum];
    let (moves, theta) = (choices.below(5) as u32, 0.3 * choices.unit());
    let difference = 1 + choices.below(3) as u32;
    let rule = |rule: Rule| Relocation { rule, moves, theta, difference: f64::from(difference) };
    let recipe = |score: Score| Relocate {
        moves_max: moves,
        gain_min: theta,
        difference_min: difference,
        ..Relocate::by(score)
    };
    (
        Recipe { place: scores[place], relocate: scores.get(relocate).copied().map(recipe) },
        Naive { place: RULES[place], relocate: RULES.get(relocate).copied().map(rule) },
    )
}

fn seeds() -> impl Iterator<Item = u64> {
    let count = std::env::var("GLEANER_SEEDS").map_or(400, |text| text.parse().expect("a number of seeds"));
    1..=count
}

#[test]
fn fast_policies_equal_their_references() {
    for seed in seeds() {
        let setup = random::setup(seed);
        let (recipe, naive) = combination(seed);
        let fast = run_checked(&setup, recipe.build())
            .unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
        let reference = run(&setup, naive);
        if let Some(difference) = first_difference(&fast, &reference) {
            panic!("seed {seed}, {recipe:?}: {difference}");
        }
    }
}

/// How many seeds it takes until the comparison with the reference fails.
fn noticed_after(place: usize, relocate: Option<usize>, fault: Fault) -> Option<u64> {
    let scores = [Score::Greedy, Score::Social, Score::SocialAsPrinted, Score::MinNum];
    let recipe = Recipe { place: scores[place], relocate: relocate.map(|index| Relocate::by(scores[index])) };
    let relocation = |index: usize| Relocation { rule: RULES[index], moves: 3, theta: 0.10, difference: 2.0 };
    let naive = Naive { place: RULES[place], relocate: relocate.map(relocation) };
    let differs = |setup: &Setup, seed: u64| {
        let mutant = run(setup, Mutant::new(recipe.build(), fault, seed));
        first_difference(&mutant, &run(setup, naive)).is_some()
    };
    (1..=60).find(|&seed| differs(&random::setup(seed), seed))
}

#[test]
fn a_fault_in_any_policy_is_noticed() {
    for place in 0..RULES.len() {
        for relocate in [None, Some(0), Some(1), Some(2), Some(3)] {
            for fault in [Fault::Deaf(7), Fault::Astray(7)] {
                let seed = noticed_after(place, relocate, fault);
                assert!(seed.is_some(), "{:?} {relocate:?} with {fault:?} went unnoticed", RULES[place]);
            }
        }
    }
}
