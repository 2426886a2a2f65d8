//! Figure 3 of the first paper: 24 orders of arrival, six schemes, five runs each.

use crate::setups::of_jobs;
use gleaner_papers::bertasi::jobs::{PERMUTATIONS, Permutation, job_set_2};
use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_sim::{Setup, Simulation};

/// What the paper averages over.
const RUNS: u64 = 5;

/// A line of the figure.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Scheme {
    /// As it is shown.
    pub name: &'static str,
    /// How it places and moves.
    pub recipe: Recipe,
}

/// The figure's six lines.
pub fn schemes() -> [Scheme; 6] {
    let stays = |name, score| Scheme { name, recipe: Recipe::by(score) };
    let moves = |name, score| {
        let relocate = Some(Relocate::by(score));
        Scheme { name, recipe: Recipe { relocate, ..Recipe::by(score) } }
    };
    [
        stays("greedy", Score::Greedy),
        moves("greedy, relocated", Score::Greedy),
        stays("social", Score::Social),
        moves("social, relocated", Score::Social),
        stays("min-num", Score::MinNum),
        moves("min-num, relocated", Score::MinNum),
    ]
}

/// One run's input.
pub fn setup(seed: u64, order: &Permutation) -> Setup {
    of_jobs(job_set_2(seed, order))
}

/// The inputs of all runs of one line: each order with each seed.
pub fn setups() -> Vec<Setup> {
    (1..=RUNS).flat_map(|seed| PERMUTATIONS.iter().map(move |order| setup(seed, order))).collect()
}

/// Runs all of them under one scheme; how many events that were.
pub fn run(setups: &[Setup], recipe: Recipe) -> u64 {
    let one = |setup| {
        let mut run = Simulation::new(setup, recipe.build());
        run.run();
        run.progress().events
    };
    setups.iter().map(one).sum()
}
