use super::case::{Case, Heuristic, Month, Part, Rule};
use super::outcome::Outcome;
use crate::statistics::Estimate;
use std::collections::BTreeMap;

/// What came of the parts that were asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Findings {
    parts: Vec<Part>,
    seeds: u64,
    days: f64,
    /// Of [`Part::Figures`] this one only, and not both.
    figure: Option<u32>,
    /// By seed.
    outcomes: BTreeMap<Case, Vec<Outcome>>,
}

impl Findings {
    /// From results: of each case of the parts, one a seed; tasks arrived for so many days.
    pub fn new(parts: Vec<Part>, seeds: u64, days: f64, outcomes: BTreeMap<Case, Vec<Outcome>>) -> Self {
        Self { parts, seeds, days, figure: None, outcomes }
    }

    /// Whether a part was asked for.
    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// The same without what belongs to the paper's other figures.
    #[must_use]
    pub fn of_figure(self, number: u32) -> Self {
        Self { figure: Some(number), ..self }
    }

    /// Whether a figure was asked for.
    pub(super) fn shows(&self, number: u32) -> bool {
        self.has(Part::Figures) && self.figure.is_none_or(|figure| figure == number)
    }

    /// The patterns of the seeds 1 to this.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// How long tasks arrived, in days.
    pub fn days(&self) -> f64 {
        self.days
    }

    /// All cases, each with what came of it by seed.
    pub(super) fn outcomes(&self) -> &BTreeMap<Case, Vec<Outcome>> {
        &self.outcomes
    }

    /// What came of a case with a seed, counted from 0.
    ///
    /// # Panics
    /// If the case was not run.
    pub(super) fn outcome(&self, case: Case, seed: usize) -> Outcome {
        self.outcomes[&case][seed]
    }

    /// Whether every task of a case was done, with every seed.
    pub(super) fn always_ends(&self, case: Case) -> bool {
        self.outcomes[&case].iter().all(|outcome| outcome.unfinished == 0)
    }

    /// The seeds, counted from 0, with which every task of a case was done.
    pub(super) fn ended(&self, case: Case) -> Vec<usize> {
        let outcomes = self.outcomes[&case].iter().enumerate();
        outcomes.filter(|(_, outcome)| outcome.unfinished == 0).map(|(seed, _)| seed).collect()
    }

    /// The makespan in units of that without a budget.
    pub(super) fn normalized(&self, case: Case, seed: usize) -> f64 {
        self.outcome(case, seed).makespan_s / self.outcome(case.yardstick(), seed).makespan_s
    }

    /// How long the last task ends after the last arrival, in seconds.
    pub(super) fn after_s(&self, case: Case, seed: usize) -> f64 {
        self.outcome(case, seed).makespan_s - self.days * 86_400.0
    }

    /// An estimate from one number a seed.
    pub(super) fn over_seeds(&self, of: impl Fn(usize) -> f64) -> Estimate {
        Estimate::of(&(0..self.seeds as usize).map(of).collect::<Vec<f64>>())
    }

    /// The same of how much longer some runs take than others. One that was given up or cut off takes at least as long
    /// as is counted for it, so that the difference may be more, or less.
    pub(super) fn longer(
        &self,
        of: impl Fn(usize) -> f64,
        (longer, shorter): (impl IntoIterator<Item = Case>, impl IntoIterator<Item = Case>),
    ) -> Estimate {
        let may_be_more = longer.into_iter().any(|case| !self.always_ends(case));
        let may_be_less = shorter.into_iter().any(|case| !self.always_ends(case));
        self.over_seeds(of).or_more(may_be_more).or_less(may_be_less)
    }

    /// The budgets that all versions of a heuristic were run with in a month.
    pub(super) fn budgets(&self, month: Month, heuristic: Heuristic) -> Vec<u64> {
        let cap = |case: &&Case| {
            (case.month, case.heuristic, case.rule) == (month, heuristic, Rule::Cap)
                && **case == case.with(super::Variant::Standard)
        };
        self.outcomes.keys().filter(cap).filter_map(|case| case.budget).collect()
    }
}
