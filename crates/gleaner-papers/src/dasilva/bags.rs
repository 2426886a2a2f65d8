//! Past the paper: rules of our own beside greedy, on the same instances, by load and size of bags.

use super::instances::{READINGS, Reading, instance};
use super::keeping::Keeping;
use super::table_2::{CELLS, Cell};
use crate::Interrupted;
use crate::statistics::Estimate;
use gleaner_policy::{Holding, Input, Peering, Preset, Reach, Recipe, Replicate};
use gleaner_sim::peers::{PeersSetup, peers};
use rayon::prelude::*;

/// What the jobs offer, as a part of what all workers can do.
pub(super) const LOADS: [f64; 5] = [0.3, 0.45, 0.6, 0.75, 0.9];
/// The most tasks of a job.
pub(super) const BAGS: [u32; 2] = [1, 40];
/// The rules beside greedy, each with what it does.
pub(super) const RULES: [(&str, &str); 7] = [
    ("second-runs", "greedy, with second runs on idle machines"),
    ("whole-grid", "greedy, with the most powerful machine of the whole grid"),
    ("bags", "gleaner/bags: both"),
    ("held-whole-grid", "the same machine, but not one so slow that waiting is better"),
    ("held-bags", "gleaner/bags, but no machine so slow that waiting is better"),
    (
        "bags-learnt",
        "gleaner/bags where nobody knows how powerful a worker is before it ran something, beside greedy that knows",
    ),
    ("bags-longest", "gleaner/bags-longest: both, and each job's longest task first by declared lengths"),
];
/// Jobs of an instance at most: what waits at a load of 0.9 is seen with fewer.
const JOBS_MAX: u32 = 1_000;

/// One load and size of bags.
#[derive(Clone, PartialEq, Debug)]
pub struct Bagged {
    /// What the jobs offer.
    pub load: f64,
    /// The most tasks of a job.
    pub bag: u32,
    /// The mean response of a job under greedy, then under each of the rules of our own; one a seed.
    pub responses_s: Vec<[f64; 1 + RULES.len()]>,
}

impl Bagged {
    /// What holding back adds to each rule that can do without it, in points of greedy's mean response; in pairs by instance.
    pub(super) fn held(&self) -> impl Iterator<Item = (&'static str, Estimate)> + '_ {
        let place = |name: &str| 1 + RULES.iter().position(|rule| rule.0 == name).expect("one of the rules");
        ["whole-grid", "bags"].into_iter().map(move |name| {
            let (held, free) = (place(&format!("held-{name}")), place(name));
            let added = self.responses_s.iter().map(|took| 100.0 * (took[free] - took[held]) / took[0]);
            (name, Estimate::of(&added.collect::<Vec<f64>>()))
        })
    }

    pub(super) const SIMULATIONS: u64 = (LOADS.len() * BAGS.len()) as u64;

    /// By how much a rule shortens the mean response, in per cent; in pairs by instance.
    pub fn gain(&self, rule: usize) -> Estimate {
        let gain = |responses: &[f64; 1 + RULES.len()]| 100.0 * (1.0 - responses[1 + rule] / responses[0]);
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
                rules(reading.recipes()[1]).map(|rule| response_s(&setup, rule)).to_vec()
            })
        };
        let found: Vec<Vec<f64>> = inputs.into_par_iter().map(one).collect::<Result<_, Interrupted>>()?;
        let by_case = found.chunks(seeds as usize).zip(cases);
        let of_seed = |found: &Vec<f64>| found[..].try_into().expect("one for each rule");
        Ok(by_case
            .map(|(found, (bag, load))| Self { load, bag, responses_s: found.iter().map(of_seed).collect() })
            .collect())
    }
}

/// Greedy, and [`RULES`].
fn rules(greedy: Recipe) -> [(Recipe, Known); 1 + RULES.len()] {
    let of = |name: &str| Preset::named(name).expect("a preset of ours").recipe;
    let bags = of("gleaner/bags");
    let peering = greedy.peering.map(|own| Peering { reach: Reach::Grid, ..own });
    [
        (greedy, Known::Declared),
        (Recipe { replicate: Replicate::Idle, ..greedy }, Known::Declared),
        (Recipe { peering, ..greedy }, Known::Declared),
        (bags, Known::Declared),
        (Recipe { peering, hold: Holding::WhenSlower, ..greedy }, Known::Declared),
        (Recipe { hold: Holding::WhenSlower, ..bags }, Known::Declared),
        (bags, Known::Learnt),
        (of("gleaner/bags-longest"), Known::Declared),
    ]
}

/// How peers know what a worker can do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Declared,
    Learnt,
}

fn response_s(setup: &PeersSetup, (rule, known): (Recipe, Known)) -> f64 {
    let declares_lengths = rule.reads().contains(&Input::Lengths);
    let setup = PeersSetup { declares_lengths, learns_power: known == Known::Learnt, ..setup.clone() };
    let mut run = peers(&setup, |_| rule.build());
    run.run();
    assert_eq!(run.outside().tasks_left(), 0, "every task of an experiment ends");
    run.outside().outcome().mean_job_s()
}
