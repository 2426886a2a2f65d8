//! Where the tasks of type C₃ go that arrive last, in permutations 1 to 6, without relocation.

use super::jobs::PERMUTATIONS;
use super::scheme::{Parameters, Scheme};
use super::setups;
use crate::statistics::mean;
use crate::{Stopped, Watch};
use gleaner_policy::Score;
use gleaner_sim::Simulation;
use rayon::prelude::*;

/// Permutations 1 to 6.
const FIRST: usize = 6;
/// The type that comes last in them.
const LAST: usize = 3;

/// By seed: how many of the late tasks S₀ is given, in units of an even share, under GREEDY and under SOCIAL.
#[derive(Clone, PartialEq, Debug)]
pub struct Samples {
    /// One entry a seed.
    pub greedy: Vec<f64>,
    /// One entry a seed.
    pub social: Vec<f64>,
}

/// How many simulations a seed takes.
pub fn simulations() -> u64 {
    2 * FIRST as u64
}

/// Simulates, on all cores.
pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Samples, Stopped> {
    let one = |score: Score, seed: u64| -> Result<f64, Stopped> {
        let shares: Result<Vec<f64>, Stopped> = (0..FIRST)
            .map(|permutation| {
                let share = share_of_s0(score, permutation, seed);
                if watch().is_break() { Err(Stopped) } else { Ok(share) }
            })
            .collect();
        Ok(mean(shares?))
    };
    let of =
        |score| (1..=seeds).into_par_iter().map(|seed| one(score, seed)).collect::<Result<Vec<f64>, _>>();
    Ok(Samples { greedy: of(Score::Greedy)?, social: of(Score::Social)? })
}

fn share_of_s0(score: Score, permutation: usize, seed: u64) -> f64 {
    debug_assert_eq!(PERMUTATIONS[permutation][3], LAST);
    let setup = setups::figure_3(permutation, seed);
    let recipe = Scheme::alone(score).recipe(Parameters::default());
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    let tasks = simulation.history().tasks().iter().zip(&setup.tasks.classes);
    let late: Vec<bool> = tasks
        .filter(|(_, class)| class.index() == LAST)
        .map(|(task, _)| task.machine.is_some_and(|machine| machine.index() == 0))
        .collect();
    let there = late.iter().filter(|is_there| **is_there).count();
    there as f64 * setup.machines.len() as f64 / late.len() as f64
}
