//! Runs every case with every seed.

use super::case::{self, Case, Group, Log};
use super::findings::{Findings, Outcome};
use crate::Stopped;
use gleaner_policy::{Recipe, SiteRule};
use gleaner_sim::sites::{SitesSetup, simulate};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Called after each setup, from any thread: whether to go on.
pub type Watch<'a> = &'a (dyn Fn() -> ControlFlow<()> + Sync);

/// Seeds that each point of the sweep is run with at most.
const SWEEP_SEEDS_MAX: u64 = 50;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Experiments {
    cases: Vec<Case>,
    seeds: u64,
}

impl Experiments {
    /// All cases, with the seeds from 1 to this, 100 if nothing is said; with these logs beside the model.
    pub fn new(seeds: Option<u64>, logs: &[Log]) -> Self {
        Self { cases: case::all(logs), seeds: seeds.unwrap_or(100) }
    }

    /// Only the cases for which `is_wanted`.
    #[must_use]
    pub fn only(mut self, is_wanted: impl Fn(&Case) -> bool) -> Self {
        self.cases.retain(is_wanted);
        self
    }

    /// How many setups are simulated, each with all its rules.
    pub fn setups(&self) -> u64 {
        self.cases.iter().map(|case| self.seeds_of(case)).sum()
    }

    fn seeds_of(&self, case: &Case) -> u64 {
        match case.group {
            Group::Sweep => self.seeds.min(SWEEP_SEEDS_MAX),
            Group::Base | Group::Reading | Group::Parts => self.seeds,
        }
    }

    /// On all cores.
    pub fn run(self, watch: Watch<'_>) -> Result<Findings, Stopped> {
        let inputs: Vec<(usize, u64)> = (0..self.cases.len())
            .flat_map(|case| (1..=self.seeds_of(&self.cases[case])).map(move |seed| (case, seed)))
            .collect();
        let one = |(case, seed): (usize, u64)| {
            let Case { scenario, rules, .. } = &self.cases[case];
            let setup = scenario.setup(seed).expect("jobs that fit the sites of an experiment");
            let outcomes: Vec<Outcome> = rules.iter().map(|(_, rule)| outcome(&setup, *rule)).collect();
            if watch().is_break() { Err(Stopped) } else { Ok(outcomes) }
        };
        let outcomes: Result<Vec<Vec<Outcome>>, Stopped> = inputs.into_par_iter().map(one).collect();
        let mut outcomes = outcomes?.into_iter();
        let by_case =
            self.cases.iter().map(|case| outcomes.by_ref().take(self.seeds_of(case) as usize).collect());
        let by_case = by_case.collect();
        Ok(Findings::new(self.cases, self.seeds, by_case))
    }
}

fn outcome(setup: &SitesSetup, rule: SiteRule) -> Outcome {
    let outcome = simulate(setup, || Recipe::over_sites(rule).build());
    assert_eq!(outcome.unfinished(), 0, "every job of an experiment ends, with {rule}");
    let wide = setup.processors() / 20;
    Outcome {
        wait_s: outcome.wait_s(),
        completion_s: outcome.completion_s(),
        use_share: outcome.use_share(),
        compute_share: outcome.compute_share(),
        sites_share: outcome.sites_share(),
        response_s: outcome.response_s(),
        wide_wait_s: outcome.wait_s_of(|processors| u64::from(processors) > wide),
        narrow_wait_s: outcome.wait_s_of(|processors| u64::from(processors) <= wide),
        longest_wait_s: outcome.jobs.iter().map(gleaner_sim::sites::JobOutcome::wait_s).fold(0.0, f64::max),
        held: outcome.used.held,
        wasted: outcome.wasted,
        parts: outcome.parts_mean(),
        waiting: outcome.waited / outcome.completion_s(),
    }
}
