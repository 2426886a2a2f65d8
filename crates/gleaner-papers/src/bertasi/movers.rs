//! Which of a machine's jobs moves, of those that would gain alike: the paper does not say.

use super::compared::{Compared, Measure, measured};
use super::jobs::PERMUTATIONS;
use super::scheme::{Parameters, Scheme, name};
use super::setups;
use crate::{Stopped, Watch};
use gleaner_policy::{Choice as _, Mover, Recipe, Relocate, Score};
use gleaner_sim::{Setup, Simulation};

/// A figure's inputs, by order of arrival and seed.
type Inputs = (&'static str, fn(usize, u64) -> Setup);

const FIGURES: [Inputs; 2] = [("figure 3", setups::figure_3), ("figure 4", setups::figure_4)];

const SCORES: [Score; 3] = [Score::Greedy, Score::Social, Score::MinNum];

#[derive(Clone, Copy, PartialEq, Debug)]
struct Case {
    figure: usize,
    score: Score,
    mover: Mover,
}

fn cases() -> Vec<Case> {
    let movers = |figure, score| Mover::all().into_iter().map(move |mover| Case { figure, score, mover });
    let scores = |figure| SCORES.into_iter().flat_map(move |score| movers(figure, score));
    (0..FIGURES.len()).flat_map(scores).collect()
}

/// How many simulations it takes.
pub fn simulations(seeds: u64) -> u64 {
    seeds * cases().len() as u64
}

/// Simulates, on all cores.
pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Compared, Stopped> {
    let cases = cases();
    let measures = measured(&cases, seeds, watch, |Case { figure, score, mover }, seed| {
        let setup = FIGURES[*figure].1((seed - 1) as usize % PERMUTATIONS.len(), seed);
        let recipe = Scheme::relocating(*score).recipe(Parameters::default());
        let relocate = recipe.relocate.map(|rule| Relocate { mover: *mover, ..rule });
        let mut simulation = Simulation::new(&setup, Recipe { relocate, ..recipe }.build());
        simulation.run();
        let history = simulation.history();
        Measure { makespan_s: history.makespan().seconds(), more: vec![history.moves() as f64] }
    })?;
    let first = |case: &Case| cases.iter().position(|other| *other == Case { mover: Mover::First, ..*case });
    let rules = cases.iter().zip(measures).map(|(case, runs)| {
        let rule = format!("{}, {}, {}", FIGURES[case.figure].0, name(case.score), case.mover.name());
        (rule, first(case).expect("each was run"), runs)
    });
    let about = "Which of the jobs moves that would gain alike, as those of one type on one machine do; the orders of arrival \
                 in turn.";
    Ok(Compared::of("readings", about.to_owned(), vec!["moves"], &rules.collect::<Vec<_>>()))
}
