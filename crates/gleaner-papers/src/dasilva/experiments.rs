//! Both rules on the same instances, on all cores.

use super::JOBS_MAX;
use super::favours::{Contention, Shares};
use super::instances::{READINGS, Reading, instance};
use super::table_2::{CELLS, Cell};
use crate::statistics::Estimate;
use crate::{Stopped, Watch};
use gleaner_policy::Recipe;
use gleaner_sim::peers::{PeersSetup, peers};
use rayon::prelude::*;

/// The traditional rule's number and the greedy one's, of one instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// Seconds.
    pub traditional: f64,
    /// Seconds.
    pub greedy: f64,
    /// The deviation of workers' busy time relative to its mean, of both.
    pub deviations: [f64; 2],
}

impl Pair {
    /// Per cent.
    pub fn improvement(&self) -> f64 {
        100.0 * (self.traditional / self.greedy - 1.0)
    }
}

/// A cell of table 2 under a reading.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Which.
    pub cell: Cell,
    /// How the paper was taken.
    pub reading: Reading,
    /// One a seed.
    pub pairs: Vec<Pair>,
}

impl Case {
    /// Over the instances.
    pub fn improvement(&self) -> Estimate {
        Estimate::of(&self.pairs.iter().map(Pair::improvement).collect::<Vec<f64>>())
    }
}

/// What is to be simulated.
#[derive(Clone, Debug)]
pub struct Experiments {
    seeds: u64,
    jobs_max: u32,
    cases: Vec<(Cell, Reading)>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Findings {
    pub(super) seeds: u64,
    /// The default reading's cells first, in the order of table 2.
    pub(super) cases: Vec<Case>,
    /// By contention, then by rule.
    pub(super) contentions: Vec<Contention>,
    pub(super) shares: Shares,
}

impl Experiments {
    /// All cells in the default reading, and those of one and of ten peers over three months in every other; jobs counted down
    /// to [`JOBS_MAX`] unless all are wanted.
    pub fn new(seeds: u64, is_full: bool) -> Self {
        let all = CELLS.iter().map(|cell| (*cell, READINGS[0]));
        let few = CELLS.iter().filter(|cell| cell.peers < 100 && cell.months == 3);
        let others = READINGS[1..].iter().flat_map(|reading| few.clone().map(move |cell| (*cell, *reading)));
        let jobs_max = if is_full { u32::MAX } else { JOBS_MAX };
        Self { seeds, jobs_max, cases: all.chain(others).collect() }
    }

    /// How often a rule runs.
    pub fn simulations(&self) -> u64 {
        (self.cases.len() as u64 * 2 + Contention::SIMULATIONS + Shares::SIMULATIONS) * self.seeds
    }

    /// Runs all of them.
    pub fn run(&self, watch: Watch<'_>) -> Result<Findings, Stopped> {
        let inputs: Vec<(usize, u64)> =
            (0..self.cases.len()).flat_map(|case| (1..=self.seeds).map(move |seed| (case, seed))).collect();
        let pair = |(case, seed): (usize, u64)| {
            let (cell, reading) = &self.cases[case];
            let setup = instance(cell, reading, seed, self.jobs_max);
            let [traditional, greedy] = reading.recipes().map(|recipe| run(&setup, reading, recipe, watch));
            let (traditional, greedy) = (traditional?, greedy?);
            Ok(Pair { traditional: traditional.0, greedy: greedy.0, deviations: [traditional.1, greedy.1] })
        };
        let pairs: Result<Vec<Pair>, Stopped> = inputs.into_par_iter().map(pair).collect();
        let mut pairs = pairs?.into_iter();
        let cases = self.cases.iter().map(|(cell, reading)| Case {
            cell: *cell,
            reading: *reading,
            pairs: pairs.by_ref().take(self.seeds as usize).collect(),
        });
        let cases = cases.collect();
        let contentions = Contention::all(self.seeds, watch)?;
        let shares = Shares::of(self.seeds, watch)?;
        Ok(Findings { seeds: self.seeds, cases, contentions, shares })
    }
}

/// A cell's first instance at its full size under both rules: which, the seconds that it took, and how many tasks.
pub fn largest(cell: &Cell) -> [(String, f64, u64); 2] {
    let setup = instance(cell, &READINGS[0], 1, u32::MAX);
    READINGS[0].recipes().map(|recipe| {
        let begin = std::time::Instant::now();
        let mut parties = peers(&setup, |_| recipe.build());
        parties.run();
        (recipe.to_string(), begin.elapsed().as_secs_f64(), parties.outside().outcome().tasks)
    })
}

fn run(
    setup: &PeersSetup,
    reading: &Reading,
    recipe: Recipe,
    watch: Watch<'_>,
) -> Result<(f64, f64), Stopped> {
    let mut parties = peers(setup, |_| recipe.build());
    parties.run();
    let outcome = parties.outside().outcome();
    assert_eq!(parties.outside().tasks_left(), 0, "every task of an experiment ends");
    let seconds = if reading.by_task { outcome.mean_task_s() } else { outcome.mean_job_s() };
    if watch().is_break() { Err(Stopped) } else { Ok((seconds, outcome.load_deviation())) }
}
