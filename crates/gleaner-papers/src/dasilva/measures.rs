//! Past the paper: what it names as future work, reliability and energy, as what a worker is judged by beside its power.
//!
//! Ten peers of the medium band, jobs of 1 to 40 tasks; each row of table 1 takes from 60 to 300 W, evenly drawn, whatever its
//! power. Once nothing fails; and once a run fails on a quarter of the workers, evenly drawn, after as long as the mean task takes
//! on a worker of mean power, on average, and begins anew.

use super::instances::{READINGS, Reading, instance};
use super::keeping::Keeping;
use super::table_2::{CELLS, Cell};
use crate::statistics::Estimate;
use crate::{Interrupted, Stream};
use gleaner_core::{Ad, WATTS};
use gleaner_policy::{Recipe, Score};
use gleaner_sim::peers::{Frail, PeersSetup, peers};
use gleaner_units::{Ops, PartyId, Span};

use rayon::prelude::*;

const LOADS: [f64; 3] = [0.3, 0.6, 0.9];
/// The most tasks of a job.
const BAG: u32 = 40;
/// Beside power.
pub(super) const SCORES: [Score; 4] =
    [Score::ReliablePower, Score::Energy, Score::EnergyDelay, Score::ReliableEnergyDelay];
const JOBS_MAX: u32 = 1_000;
const FRAIL: u64 = 11;
const POWER_TAKEN: u64 = 12;

/// What is measured of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Measured {
    /// The mean response of a job.
    Response,
    /// What workers took while they ran something.
    Energy,
    /// How long workers ran what failed or was stopped.
    Lost,
}

impl Measured {
    pub(super) const ALL: [Self; 3] = [Self::Response, Self::Energy, Self::Lost];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Energy => "energy",
            Self::Lost => "lost-time",
        }
    }

    pub(super) fn says(self) -> &'static str {
        match self {
            Self::Response => "the mean response of a job",
            Self::Energy => "the energy of workers that run something",
            Self::Lost => "the time of workers on what fails",
        }
    }
}

/// One load.
#[derive(Clone, PartialEq, Debug)]
pub struct Judged {
    /// What the jobs offer.
    pub load: f64,
    /// Whether runs fail on some workers.
    pub is_frail: bool,
    /// Response, joules and lost seconds by power, then by each of the scores compared with it; one a seed.
    pub runs: Vec<Runs>,
}

type Runs = [[f64; 3]; 1 + SCORES.len()];

impl Judged {
    pub(super) const SIMULATIONS: u64 = 2 * LOADS.len() as u64;

    /// By how much less it is under a score than by power, in per cent; in pairs by instance. Those in which a task
    /// [never ends](Self::endless) have no number: under the score it may be any less than is known from the others, under power
    /// any more.
    pub fn less(&self, score: usize, measured: Measured) -> Estimate {
        let both = self.runs.iter().map(|runs| [runs[0], runs[1 + score]]);
        let ended = both.filter(|both| !both.contains(&ENDLESS));
        let less =
            ended.map(|[power, score]| 100.0 * (1.0 - score[measured as usize] / power[measured as usize]));
        let never_ends = |rule: usize| self.runs.iter().any(|runs| runs[rule] == ENDLESS);
        Estimate::of(&less.collect::<Vec<f64>>()).or_more(never_ends(0)).or_less(never_ends(1 + score))
    }

    /// In how many instances a task never ends under a score, or by power.
    pub fn endless(&self, score: usize) -> usize {
        self.runs.iter().filter(|runs| [runs[0], runs[1 + score]].contains(&ENDLESS)).count()
    }

    pub(super) fn all(seeds: u64, jobs_max: u32, kept: &Keeping<'_>) -> Result<Vec<Self>, Interrupted> {
        let medium = |cell: &&Cell| cell.peers == 10 && cell.months == 3 && cell.band.name() == "medium";
        let cell = CELLS.iter().find(medium).expect("a cell of table 2");
        let jobs = JOBS_MAX.min(jobs_max);
        let cases = [true, false].into_iter().flat_map(|is_frail| LOADS.map(|load| (is_frail, load)));
        let inputs: Vec<((bool, f64), u64)> =
            cases.clone().flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
        let one = |((is_frail, load), seed): ((bool, f64), u64)| {
            let sound = if is_frail { "" } else { "sound-" };
            kept.or(format!("scores {sound}load-{load} jobs-{jobs} seed-{seed}"), || {
                let reading = Reading { bag: BAG, load, ..READINGS[0] };
                let setup = with_watts(instance(cell, &reading, seed, jobs), seed);
                let setup = if is_frail { with_frail_workers(setup, seed) } else { setup };
                let greedy = reading.recipes()[1];
                let of = |score: Score| Recipe { goal: Recipe::by(score).goal, ..greedy };
                let rules = [greedy].into_iter().chain(SCORES.map(of));
                rules.flat_map(|rule| measured(&setup, rule)).collect()
            })
        };
        let found: Vec<Vec<f64>> = inputs.into_par_iter().map(one).collect::<Result<_, Interrupted>>()?;
        let three = |numbers: &[f64]| [numbers[0], numbers[1], numbers[2]];
        let of_seed = |found: &Vec<f64>| std::array::from_fn(|rule| three(&found[3 * rule..3 * rule + 3]));
        let by_case = found.chunks(seeds as usize).zip(cases);
        Ok(by_case
            .map(|(found, (is_frail, load))| Self {
                load,
                is_frail,
                runs: found.iter().map(of_seed).collect(),
            })
            .collect())
    }
}

fn with_watts(setup: PeersSetup, seed: u64) -> PeersSetup {
    let mut watts = Stream::new(seed, POWER_TAKEN);
    let kinds = setup.machine_classes.iter().map(|kind| {
        let ad = Ad::parse(&format!("[ {WATTS} = {:.1} ]", 60.0 + 240.0 * watts.unit()));
        gleaner_core::MachineClass { ad: Some(ad.expect("a number makes an ad")), ..kind.clone() }
    });
    PeersSetup { machine_classes: kinds.collect(), ..setup }
}

fn with_frail_workers(setup: PeersSetup, seed: u64) -> PeersSetup {
    let workers: Vec<_> = setup.peers.iter().flat_map(|site| &site.workers).collect();
    let power: f64 = workers.iter().map(|kind| setup.machine_classes[kind.index()].speeds[0]).sum();
    let ops: f64 = setup.lengths.iter().map(|length| Ops::amount(*length)).sum();
    let mean_s = ops / setup.lengths.len() as f64 / (power / workers.len() as f64);
    let fails_after = Span::from_seconds(mean_s).expect("seconds");
    let mut drawn = Stream::new(seed, FRAIL);
    let mut frail = Vec::new();
    for (peer, site) in setup.peers.iter().enumerate() {
        let some = (0..site.workers.len()).filter(|_| drawn.below(4) == 0);
        frail.extend(some.map(|worker| Frail { peer: PartyId::new(peer), worker, fails_after }));
    }
    PeersSetup { frail, ..setup }
}

/// What a run comes to in which a task never ends: a rule may give it to the same failing worker until the end of time.
const ENDLESS: [f64; 3] = [f64::MAX; 3];

fn measured(setup: &PeersSetup, rule: Recipe) -> [f64; 3] {
    let mut run = peers(setup, |_| rule.build());
    run.run();
    if run.outside().tasks_left() > 0 {
        return ENDLESS;
    }
    let outcome = run.outside().outcome();
    [outcome.mean_job_s(), outcome.energy_j, outcome.lost_s]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Criterion;
    use gleaner_report::Verdict;

    #[test]
    fn what_never_ends_leaves_it_open_whether_the_rest_gains() {
        let gains = |seed: u32| std::array::from_fn(|rule| [100.0 - rule as f64 + 0.1 * f64::from(seed); 3]);
        let mut runs: Vec<Runs> = (0..30).map(gains).collect();
        let judge = |runs: &[Runs]| {
            let judged = Judged { load: 0.3, is_frail: true, runs: runs.to_vec() };
            let less = judged.less(0, Measured::Response);
            (Criterion::Positive.judge(less), judged.endless(0))
        };
        assert_eq!(judge(&runs), (Verdict::Holds, 0));
        runs[7][0] = ENDLESS;
        assert_eq!(judge(&runs), (Verdict::Holds, 1), "by power: all the better");
        runs[8][1] = ENDLESS;
        assert_eq!(judge(&runs), (Verdict::Undecided, 2));
    }
}
