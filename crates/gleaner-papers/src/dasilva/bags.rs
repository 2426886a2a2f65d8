//! Past the paper: second runs on idle machines beside greedy, on the same instances, by load and size of bags.

use super::instances::{READINGS, Reading, instance};
use super::keeping::Keeping;
use super::table_2::{CELLS, Cell};
use crate::Interrupted;
use crate::statistics::Estimate;
use gleaner_policy::{Recipe, Replicate};
use gleaner_sim::peers::peers;
use rayon::prelude::*;

/// What the jobs offer, as a part of what all workers can do.
pub(super) const LOADS: [f64; 5] = [0.3, 0.45, 0.6, 0.75, 0.9];
/// The most tasks of a job.
pub(super) const BAGS: [u32; 2] = [1, 40];
/// Jobs of an instance at most: what waits at a load of 0.9 is seen with fewer.
const JOBS_MAX: u32 = 1_000;

/// One load and size of bags.
#[derive(Clone, PartialEq, Debug)]
pub struct Bagged {
    /// What the jobs offer.
    pub load: f64,
    /// The most tasks of a job.
    pub bag: u32,
    /// The mean response of a job under greedy and with second runs, one a seed.
    pub responses_s: Vec<[f64; 2]>,
}

impl Bagged {
    pub(super) const SIMULATIONS: u64 = (LOADS.len() * BAGS.len()) as u64;

    /// By how much second runs shorten the mean response, in per cent; in pairs by instance.
    pub fn gain(&self) -> Estimate {
        let gain = |[greedy, bags]: &[f64; 2]| 100.0 * (1.0 - bags / greedy);
        Estimate::of(&self.responses_s.iter().map(gain).collect::<Vec<f64>>())
    }

    /// Ten peers of the paper's medium band.
    pub(super) fn all(seeds: u64, jobs_max: u32, kept: &Keeping<'_>) -> Result<Vec<Self>, Interrupted> {
        let medium = |cell: &&Cell| cell.peers == 10 && cell.months == 3 && cell.band.name() == "medium";
        let cell = CELLS.iter().find(medium).expect("a cell of table 2");
        let jobs = JOBS_MAX.min(jobs_max);
        let cases = BAGS.iter().flat_map(|bag| LOADS.map(|load| (*bag, load)));
        let inputs: Vec<((u32, f64), u64)> =
            cases.clone().flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let one = |((bag, load), seed): ((u32, f64), u64)| {
            kept.or(format!("bags-{bag} load-{load} jobs-{jobs} seed-{seed}"), || {
                let reading = Reading { bag, load, ..READINGS[0] };
                let setup = instance(cell, &reading, seed, jobs);
                let [_, greedy] = reading.recipes();
                let rules = [greedy, Recipe { replicate: Replicate::Idle, ..greedy }];
                let response = |recipe: Recipe| {
                    let mut run = peers(&setup, |_| recipe.build());
                    run.run();
                    run.outside().outcome().mean_job_s()
                };
                rules.map(response).to_vec()
            })
        };
        let found: Vec<Vec<f64>> = inputs.into_par_iter().map(one).collect::<Result<_, Interrupted>>()?;
        let by_case = found.chunks(seeds as usize).zip(cases);
        Ok(by_case
            .map(|(found, (bag, load))| Self {
                load,
                bag,
                responses_s: found.iter().map(|pair| [pair[0], pair[1]]).collect(),
            })
            .collect())
    }
}
