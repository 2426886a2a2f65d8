//! What is run for which question.

use super::case::{Case, Heuristic, Month, Part, Rule, Variant};
use super::findings::Findings;
use super::outcome::Outcome;
use super::setups::{self, Traces};
use super::{AMPLE, BUDGETS, DAYS, PERIODS_S, SCARCE};
use crate::kept::{Interrupted, Kept, Progress};
use rayon::prelude::*;
use std::collections::BTreeMap;

impl Part {
    /// What it takes. Parts may share cases.
    pub fn cases(self) -> Vec<Case> {
        match self {
            Part::Figures => figures(Heuristic::MinMin, &BUDGETS),
            Part::Periods => {
                let free = Case::free(Month::September, Heuristic::MinMin);
                PERIODS_S.map(|period_s| period(free, period_s)).to_vec()
            }
            Part::Heuristics => Heuristic::ALL
                .into_iter()
                .flat_map(|heuristic| figures(heuristic, &[SCARCE, AMPLE]))
                .collect(),
            Part::Readings => readings(),
            Part::Machines => machines(),
            Part::Recommended => recommended(),
            Part::Stays => stays(),
            Part::FutureWork => forecasts().into_iter().chain(demand_prices()).chain(reputation()).collect(),
        }
    }
}

/// A case with another period; the paper's own is nothing else.
pub(super) fn period(case: Case, period_s: u32) -> Case {
    if period_s == super::PERIOD_S { case } else { case.with(Variant::Period(period_s)) }
}

fn figures(heuristic: Heuristic, budgets: &[u64]) -> Vec<Case> {
    let of_month = |month: Month| {
        let budgeted = Rule::ALL_BUDGETED
            .into_iter()
            .flat_map(move |rule| budgets.iter().map(move |budget| Case::min_min(month, rule, *budget)))
            .flat_map(|case| case.readings().iter().map(move |reading| case.read(*reading)));
        budgeted.chain([Case::free(month, Heuristic::MinMin)])
    };
    Month::ALL.into_iter().flat_map(of_month).map(|case| case.by(heuristic)).collect()
}

/// What is compared with what, in September.
pub(super) fn readings() -> Vec<Case> {
    let case = |rule, budget| Case::min_min(Month::September, rule, budget);
    let mut cases = vec![Case::free(Month::September, Heuristic::MinMin)];
    for budget in [SCARCE, AMPLE] {
        for rule in Rule::ALL_BUDGETED {
            let variants =
                [Variant::Standard, Variant::ChargedAtStart, Variant::ChargedAtEnd, Variant::PlansStand];
            cases.extend(variants.map(|variant| case(rule, budget).with(variant)));
        }
    }
    cases
}

/// The default machines, and many as slow as printed; tasks wherever they end first, and held back from slow machines.
pub(super) fn machines() -> Vec<Case> {
    let of_month = |month: Month| {
        let budgeted = [SCARCE, AMPLE].into_iter().flat_map(move |budget| {
            Rule::ALL_BUDGETED.into_iter().map(move |rule| Case::min_min(month, rule, budget))
        });
        budgeted.chain([Case::free(month, Heuristic::MinMin)])
    };
    let variants = [Variant::Standard, Variant::ManyMachines, Variant::Held, Variant::HeldManyMachines];
    let of_case = |case: Case| variants.map(|variant| case.with(variant));
    let all = Month::ALL.into_iter().flat_map(of_month).flat_map(of_case);
    // Not every rule goes with tasks that wait.
    all.filter(|case| case.recipe().check().is_ok()).collect()
}

/// No budget, `gleaner/budget`, BTT within reach, BTT and LBTT.
pub(super) fn recommended() -> Vec<Case> {
    let of_month = |month: Month| {
        let budgeted = [SCARCE, AMPLE].into_iter().flat_map(move |budget| {
            let case = |rule| Case::min_min(month, rule, budget);
            let rules = [Rule::WithinReach, Rule::PerTaskAndTime, Rule::PerClass].map(case);
            [case(Rule::MovingPrice).with(Variant::Held)].into_iter().chain(rules)
        });
        [Case::free(month, Heuristic::MinMin)].into_iter().chain(budgeted)
    };
    Month::ALL.into_iter().flat_map(of_month).collect()
}

/// Without a budget and by a moving price, with machines that are taken to stay and with machines of which it counts how often
/// they were lost; tasks wherever they end first, and held back from slow machines.
pub(super) fn stays() -> Vec<Case> {
    let of_month = |month: Month| {
        [Case::free(month, Heuristic::MinMin), Case::min_min(month, Rule::MovingPrice, SCARCE)]
    };
    let variants = [Variant::Standard, Variant::StaysLearnt, Variant::Held, Variant::HeldStaysLearnt];
    Month::ALL
        .into_iter()
        .flat_map(of_month)
        .flat_map(|case| variants.map(|variant| case.with(variant)))
        .collect()
}

/// Knowledge of the next fifteen minutes, and forecasts.
pub(super) fn forecasts() -> Vec<Case> {
    let free = Month::ALL.map(|month| Case::free(month, Heuristic::MinMin));
    let budgeted =
        [SCARCE, AMPLE].map(|budget| Case::min_min(Month::September, Rule::PerTaskAndTime, budget));
    let cases = free.into_iter().chain(budgeted);
    cases.flat_map(|case| [case, case.with(Variant::Forecast)]).collect()
}

/// Prices by speed, and those that follow demand.
pub(super) fn demand_prices() -> Vec<Case> {
    let rules = [Rule::Cap, Rule::PerTaskAndTime].into_iter();
    let cases = rules.map(|rule| Case::min_min(Month::September, rule, SCARCE));
    let free = Case::free(Month::September, Heuristic::MinMin);
    [free].into_iter().chain(cases.flat_map(|case| [case, case.with(Variant::DemandPrices)])).collect()
}

/// Without saboteurs, with them, and with them put aside.
pub(super) fn reputation() -> Vec<Case> {
    let cases = Month::ALL.map(|month| Case::free(month, Heuristic::MinMin)).into_iter();
    let cases = cases.chain([Case::min_min(Month::September, Rule::PerTaskAndTime, AMPLE)]);
    let variants = [Variant::Standard, Variant::Saboteurs, Variant::PutAside];
    cases.flat_map(|case| variants.map(|variant| case.with(variant))).collect()
}

/// Some of the parts, with some patterns of arrivals.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiments {
    parts: Vec<Part>,
    seeds: u64,
    days: f64,
}

impl Experiments {
    /// Some parts with the patterns of the seeds 1 to `seeds`, each as long as the paper's.
    ///
    /// # Panics
    /// With fewer than two seeds: there are no confidence intervals then.
    pub fn new(parts: &[Part], seeds: u64) -> Self {
        assert!(seeds >= 2, "a confidence interval needs two runs");
        Self { parts: parts.to_vec(), seeds, days: DAYS }
    }

    /// The same with patterns of another length, in days: shorter ones take less time, and claims about two weeks are
    /// then judged as if they were about that.
    #[must_use]
    pub fn lasting(self, days: f64) -> Self {
        Self { days, ..self }
    }

    /// How many simulations [`run`](Self::run) takes, those that are kept already with them.
    pub fn simulations(&self) -> u64 {
        self.cases().len() as u64 * self.seeds
    }

    fn cases(&self) -> Vec<Case> {
        let mut cases: Vec<Case> = self.parts.iter().flat_map(|part| part.cases()).collect();
        cases.sort_unstable();
        cases.dedup();
        cases
    }

    /// Simulates what is not kept yet, on all cores.
    pub fn run(&self, kept: &Kept<Outcome>, watch: Progress<'_>) -> Result<Findings, Interrupted> {
        let (traces, cases) = (Traces::new(self.days), self.cases());
        // Seed by seed, so that what is done when somebody stops is whole for the first seeds.
        let seeds = 1..=self.seeds;
        let inputs: Vec<(Case, u64)> =
            seeds.flat_map(|seed| cases.iter().map(move |case| (*case, seed))).collect();
        let one = |(case, seed): (Case, u64)| -> Result<(Case, u64, Outcome), Interrupted> {
            let simulation = format!("{case} days-{} seed-{seed}", self.days);
            if let Some(outcome) = kept.find(&simulation) {
                (watch.done)();
                return Ok((case, seed, outcome));
            }
            let stop = || (watch.stop)();
            if stop() {
                return Err(Interrupted::Stopped);
            }
            let outcome = setups::simulate(case, seed, &traces, &stop).ok_or(Interrupted::Stopped)?;
            kept.keep(simulation, outcome)?;
            (watch.done)();
            Ok((case, seed, outcome))
        };
        // One at a time to each thread, in this order: they take from a second to minutes.
        let mut outcomes: Vec<(Case, u64, Outcome)> =
            inputs.into_iter().par_bridge().map(one).collect::<Result<_, Interrupted>>()?;
        // They come as they end.
        outcomes.sort_unstable_by_key(|&(case, seed, _)| (case, seed));
        let mut by_case: BTreeMap<Case, Vec<Outcome>> = BTreeMap::new();
        for (case, _, outcome) in outcomes {
            by_case.entry(case).or_default().push(outcome);
        }
        Ok(Findings::new(self.parts.clone(), self.seeds, self.days, by_case))
    }
}
