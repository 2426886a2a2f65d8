//! Both rules on the same instances, on all cores.

use super::JOBS_MAX;
use super::bags::Bagged;
use super::favours::{Contention, Need, Shares};
use super::instances::{READINGS, Reading, instance, week};
use super::keeping::Keeping;
use super::measures::Judged;
use super::table_2::{CELLS, Cell};
use crate::statistics::Estimate;
use crate::{Interrupted, Kept, Progress};
use gleaner_sim::peers::{PeersSetup, peers};
use gleaner_workload::ourgrid::trace::Workload;
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
    /// As [`pair`] has it.
    fn of(numbers: &[f64]) -> Self {
        let [traditional, one, greedy, other] = numbers.try_into().expect("four numbers of a pair");
        Self { traditional, greedy, deviations: [one, other] }
    }

    /// Per cent.
    pub fn improvement(&self) -> f64 {
        100.0 * (self.traditional / self.greedy - 1.0)
    }
}

/// A cell of table 2 under a reading.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The cell.
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
    workload: Option<Workload>,
    /// The part of their time that favours are looked at.
    horizon: f64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Findings {
    pub(super) seeds: u64,
    /// The default reading's cells first, in the order of table 2.
    pub(super) cases: Vec<Case>,
    /// Rules of our own beside greedy, by size of bags, then by load.
    pub(super) bags: Vec<Bagged>,
    /// What else a worker can be judged by, by load.
    pub(super) judged: Vec<Judged>,
    /// By contention, then by rule.
    pub(super) contentions: Vec<Contention>,
    /// With as much need of others' workers, and with bags of one size.
    pub(super) shares: [Shares; 2],
    /// Both rules on a week of `OurGrid`'s work, one a seed.
    pub(super) week: Option<Vec<Pair>>,
}

impl Experiments {
    /// All cells in the default reading, and those of one and of ten peers over three months in every other; jobs counted down
    /// to [`JOBS_MAX`] unless all are wanted.
    pub fn new(seeds: u64, is_full: bool) -> Self {
        let all = CELLS.iter().map(|cell| (*cell, READINGS[0]));
        let few = CELLS.iter().filter(|cell| cell.peers < 100 && cell.months == 3);
        let others = READINGS[1..].iter().flat_map(|reading| few.clone().map(move |cell| (*cell, *reading)));
        let jobs_max = if is_full { u32::MAX } else { JOBS_MAX };
        Self { seeds, jobs_max, cases: all.chain(others).collect(), workload: None, horizon: 1.0 }
    }

    /// All readings, with few jobs and without 100 peers: for those who look at how experiments go, not at what comes out.
    pub fn small(seeds: u64) -> Self {
        let mut experiments = Self::new(seeds, false);
        experiments.cases.retain(|(cell, _)| cell.peers < 100 && cell.months == 3);
        experiments.cases.truncate(3);
        let readings = READINGS[1..].iter().map(|reading| (CELLS[0], *reading));
        experiments.cases.extend(readings);
        Self { jobs_max: 20, horizon: 0.02, ..experiments }
    }

    /// The same, and both rules on a week of `OurGrid`'s work.
    #[must_use]
    pub fn with_workload(self, workload: Workload) -> Self {
        Self { workload: Some(workload), ..self }
    }

    /// How many simulations [`run`](Self::run) takes, of a pair of rules or of one, those that are kept already with them.
    pub fn simulations(&self) -> u64 {
        let week = u64::from(self.workload.is_some());
        let of_ours = Bagged::SIMULATIONS + Judged::SIMULATIONS;
        (self.cases.len() as u64 + week + of_ours + Contention::SIMULATIONS + Shares::SIMULATIONS)
            * self.seeds
    }

    /// Runs what is not kept yet, on all cores.
    pub fn run(&self, kept: &Kept<Vec<f64>>, progress: Progress<'_>) -> Result<Findings, Interrupted> {
        let keeping = Keeping { kept, progress };
        // Seed by seed, so that what is done when somebody stops is whole for the first seeds.
        let cases = self.cases.len();
        let inputs: Vec<(u64, usize)> =
            (1..=self.seeds).flat_map(|seed| (0..cases).map(move |case| (seed, case))).collect();
        let one = |(seed, case): (u64, usize)| -> Result<Pair, Interrupted> {
            let (cell, reading) = &self.cases[case];
            let (band, jobs) = (cell.band.name(), cell.jobs.min(self.jobs_max));
            let name =
                format!("{}-{}-{band} {} jobs-{jobs} seed-{seed}", cell.peers, cell.months, reading.name);
            let setup = || instance(cell, reading, seed, self.jobs_max);
            Ok(Pair::of(&keeping.or(name, || pair(&setup(), reading))?))
        };
        let pairs: Result<Vec<Pair>, Interrupted> = inputs.into_par_iter().map(one).collect();
        let pairs = pairs?;
        let of_case = |case: usize| pairs.iter().skip(case).step_by(cases).copied().collect();
        let cases = self.cases.iter().enumerate().map(|(number, (cell, reading))| Case {
            cell: *cell,
            reading: *reading,
            pairs: of_case(number),
        });
        let cases = cases.collect();
        let week = self.workload.as_ref().map(|workload| {
            let one = |seed: u64| {
                let setup = || week(workload, seed);
                Ok(Pair::of(&keeping.or(format!("ourgrid seed-{seed}"), || pair(&setup(), &READINGS[0]))?))
            };
            (1..=self.seeds).into_par_iter().map(one).collect::<Result<Vec<Pair>, Interrupted>>()
        });
        let bagged = Bagged::all(self.seeds, self.jobs_max, &keeping)?;
        let judged = Judged::all(self.seeds, self.jobs_max, &keeping)?;
        let contentions = Contention::all(self.seeds, self.horizon, &keeping)?;
        let shares = [Need::EqualBeyond, Need::EqualBags]
            .map(|need| Shares::of(need, (self.seeds, self.horizon), &keeping));
        let [beyond, bags] = shares;
        Ok(Findings {
            seeds: self.seeds,
            cases,
            bags: bagged,
            judged,
            contentions,
            shares: [beyond?, bags?],
            week: week.transpose()?,
        })
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

/// Both rules on a setup: the execution times, and the deviations of workers' load.
fn pair(setup: &PeersSetup, reading: &Reading) -> Vec<f64> {
    let runs = reading.recipes().map(|recipe| {
        let mut parties = peers(setup, |_| recipe.build());
        parties.run();
        let outcome = parties.outside().outcome();
        assert_eq!(parties.outside().tasks_left(), 0, "every task of an experiment ends");
        let seconds = if reading.by_task { outcome.mean_task_s() } else { outcome.mean_job_s() };
        [seconds, outcome.load_deviation()]
    });
    runs.concat()
}

#[cfg(test)]
impl Findings {
    /// Nothing but cells.
    pub(super) fn of_cells(seeds: u64, cases: Vec<Case>) -> Self {
        let shares = [Need::EqualBeyond, Need::EqualBags];
        let shares = shares.map(|need| Shares { need, with: Vec::new(), without: Vec::new() });
        let (bags, judged, contentions) = (Vec::new(), Vec::new(), Vec::new());
        Self { seeds, cases, bags, judged, contentions, shares, week: None }
    }
}
