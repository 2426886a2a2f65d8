//! What is run, and what came of it: mean lifetimes, by case, rule and seed.

use super::ages;
use super::case::{Case, Ttl, Variant, Work};
use super::rule::Rule;
use super::sites::setup;
use super::{SEEDS_BESIDES, WARM_UP};
use crate::statistics::{Estimate, mean};
use crate::{Stopped, Watch};
use gleaner_sim::brokering::{Brokerage, BrokeringSetup};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// What may be run by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Figures 3 to 5.
    Figures,
    /// The figures' ends under other readings.
    Readings,
    /// Every choice and belief against the age of the index.
    Ages,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Figures, Part::Readings, Part::Ages];
}

/// Rules that are run in a case of a part.
struct Plan {
    part: Part,
    case: Case,
    rules: Vec<Rule>,
    seeds: u64,
}

/// Some parts, with some seeds.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiments {
    parts: Vec<Part>,
    seeds: u64,
}

impl Experiments {
    /// With the seeds 1 to `seeds`; what is not in a figure has [`SEEDS_BESIDES`] at most.
    ///
    /// # Panics
    /// With fewer than two seeds: there are no confidence intervals then.
    pub fn new(parts: &[Part], seeds: u64) -> Self {
        assert!(seeds >= 2, "a confidence interval needs two runs");
        Self { parts: parts.to_vec(), seeds }
    }

    fn plans(&self) -> Vec<Plan> {
        let besides = self.seeds.min(SEEDS_BESIDES);
        let plans = |part: &Part| -> Vec<Plan> {
            let (cases, seeds): (Vec<(Case, Vec<Rule>)>, u64) = match part {
                Part::Figures => (figures(), self.seeds),
                Part::Readings => {
                    (readings().into_iter().map(|case| (case, Rule::FIGURES.to_vec())).collect(), besides)
                }
                Part::Ages => {
                    (ages::cases().into_iter().map(|case| (case, ages::rules())).collect(), besides)
                }
            };
            cases.into_iter().map(|(case, rules)| Plan { part: *part, case, rules, seeds }).collect()
        };
        self.parts.iter().flat_map(plans).collect()
    }

    /// How many simulations [`run`](Self::run) takes, and so how often it calls its watch.
    pub fn simulations(&self) -> u64 {
        self.plans().iter().map(|plan| plan.rules.len() as u64 * plan.seeds).sum()
    }

    /// Simulates, on all cores.
    pub fn run(&self, watch: Watch<'_>) -> Result<Findings, Stopped> {
        let plans = self.plans();
        let inputs: Vec<(usize, u64)> =
            (0..plans.len()).flat_map(|plan| (1..=plans[plan].seeds).map(move |seed| (plan, seed))).collect();
        let lives: Result<Vec<Vec<f64>>, Stopped> = inputs
            .into_par_iter()
            .map(|(plan, seed)| {
                let Plan { case, rules, .. } = &plans[plan];
                let setup = setup(case, seed);
                rules.iter().map(|rule| life(&setup, case, rule, seed, watch)).collect()
            })
            .collect();
        let mut lives = lives?.into_iter();
        let cells = plans.into_iter().map(|Plan { part, case, rules, seeds }| Cell {
            part,
            case,
            rules,
            lives: lives.by_ref().take(seeds as usize).collect(),
        });
        Ok(Findings { parts: self.parts.clone(), seeds: self.seeds, cells: cells.collect() })
    }
}

/// The mean lifetime of the jobs that count.
fn life(
    setup: &BrokeringSetup,
    case: &Case,
    rule: &Rule,
    seed: u64,
    watch: Watch<'_>,
) -> Result<f64, Stopped> {
    let mut run = Brokerage::new(setup, rule.recipe(case), seed).expect("the paper's sites make sense");
    run.run();
    let jobs = setup.jobs.iter().zip(run.records()).skip(WARM_UP);
    let life = mean(jobs.map(|(job, record)| {
        let finished = record.finished.expect("every job finds an element");
        finished.since(job.arrival).seconds()
    }));
    match watch() {
        ControlFlow::Continue(()) => Ok(life),
        ControlFlow::Break(()) => Err(Stopped),
    }
}

fn figures() -> Vec<(Case, Vec<Rule>)> {
    let works = [Work::Balanced, Work::Unbalanced, Work::Heavy, Work::HeavyScaled];
    let points =
        works.into_iter().flat_map(|work| work.loads_s().iter().map(move |inter| Case::of(work, *inter)));
    let slow = [Work::Heavy, Work::HeavyScaled].into_iter().flat_map(|work| {
        work.loads_s().iter().map(move |inter| (slow(Case::of(work, *inter)), vec![Rule::STOCHASTIC]))
    });
    points.map(|case| (case, Rule::FIGURES.to_vec())).chain(slow).collect()
}

/// The index is refreshed at a tenth of the rate.
pub(super) fn slow(case: Case) -> Case {
    case.with_ttl(Ttl::Jobs(10.0))
}

/// The ends and the middle of a figure.
pub(super) fn corners(work: Work) -> [f64; 3] {
    let loads = work.loads_s();
    [loads[0], loads[3], loads[loads.len() - 1]]
}

/// The times to live that are tried on light jobs.
pub(super) const TTLS: [Ttl; 4] = [Ttl::Seconds(30.0), Ttl::Seconds(300.0), Ttl::Jobs(1.0), Ttl::Jobs(10.0)];

/// The figures' corners, otherwise.
pub(super) fn readings() -> Vec<Case> {
    let mut cases = Vec::new();
    for work in [Work::Balanced, Work::Unbalanced, Work::HeavyScaled] {
        for inter in corners(work) {
            let case = Case::of(work, inter);
            cases.extend(Variant::ALL.map(|variant| case.but(variant)));
            if work.is_light() {
                cases.extend(TTLS.map(|ttl| case.with_ttl(ttl)));
            }
        }
    }
    cases
}

#[derive(Clone, PartialEq, Debug)]
struct Cell {
    part: Part,
    case: Case,
    rules: Vec<Rule>,
    /// By seed, then by rule.
    lives: Vec<Vec<f64>>,
}

/// What came of the parts that were asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    parts: Vec<Part>,
    seeds: u64,
    cells: Vec<Cell>,
}

impl Findings {
    /// Whether a part was run.
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// The seeds of the figures.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// What came of one part. **Whatever is compared is of one part**: two may have cases in common, with other numbers of seeds,
    /// and sites differ from seed to seed by more than rules do.
    #[must_use]
    pub(super) fn only(&self, part: Part) -> Self {
        let cells = self.cells.iter().filter(|cell| cell.part == part).cloned().collect();
        Self { parts: vec![part], seeds: self.seeds, cells }
    }

    /// All lifetimes, by seed; those that parts have in common once for each.
    pub(super) fn all(&self) -> impl Iterator<Item = (Case, Rule, Vec<f64>)> + '_ {
        self.cells.iter().flat_map(|cell| {
            let by_rule = cell.rules.iter().enumerate();
            by_rule.map(|(at, rule)| (cell.case, *rule, cell.lives.iter().map(|lives| lives[at]).collect()))
        })
    }

    /// The mean lifetime under a rule in a case, for each seed.
    ///
    /// # Panics
    /// Where it was not run.
    pub(super) fn lives(&self, case: Case, rule: Rule) -> Vec<f64> {
        let cells = self.cells.iter().filter(|cell| cell.case == case);
        let found =
            cells.filter_map(|cell| Some((cell, cell.rules.iter().position(|known| *known == rule)?)));
        let (cell, at) = found.into_iter().next().expect("a rule that was run in this case");
        cell.lives.iter().map(|by_rule| by_rule[at]).collect()
    }

    pub(super) fn life(&self, case: Case, rule: Rule) -> Estimate {
        Estimate::of(&self.lives(case, rule))
    }

    /// By how many per cent lifetimes are shorter than under another rule, seed by seed, each a mean over the cases.
    pub(super) fn gains(&self, cases: &[Case], rule: Rule, other: Rule) -> Vec<f64> {
        let of_case = |case: &Case| {
            let pairs = self.lives(*case, rule).into_iter().zip(self.lives(*case, other));
            pairs.map(|(life, other)| 100.0 * (1.0 - life / other)).collect::<Vec<f64>>()
        };
        let by_case: Vec<Vec<f64>> = cases.iter().map(of_case).collect();
        (0..by_case[0].len()).map(|seed| mean(by_case.iter().map(|gains| gains[seed]))).collect()
    }

    /// The same with an interval.
    pub(super) fn gain(&self, cases: &[Case], rule: Rule, other: Rule) -> Estimate {
        Estimate::of(&self.gains(cases, rule, other))
    }
}

#[cfg(test)]
impl Findings {
    /// All ages with two seeds, and a point of figure 5 that they have in common with three: with the third everything takes ten
    /// times as long. A rule takes longer than those before it.
    pub(super) fn made() -> Self {
        let life = |seed: u32, at: usize| {
            let slow = if seed == 2 { 10.0 } else { 1.0 };
            (100.0 + at as f64 + 0.01 * f64::from(seed)) * slow
        };
        let place = |rule: &Rule| ages::rules().iter().position(|known| known == rule).unwrap_or(99);
        let cell = |part: Part, case: Case, rules: Vec<Rule>, seeds: u32| {
            let of_seed =
                |seed: u32| -> Vec<f64> { rules.iter().map(|rule| life(seed, place(rule))).collect() };
            Cell { part, case, lives: (0..seeds).map(of_seed).collect(), rules }
        };
        let figure = cell(Part::Figures, Case::of(Work::HeavyScaled, 750.0), Rule::FIGURES.to_vec(), 3);
        let of_ages = ages::cases().into_iter().map(|case| cell(Part::Ages, case, ages::rules(), 2));
        let cells = std::iter::once(figure).chain(of_ages).collect();
        Self { parts: vec![Part::Figures, Part::Ages], seeds: 3, cells }
    }
}
