//! What came of the cases, and what can be said of it.

use super::case::{Case, Group};
use crate::statistics::Estimate;

/// What came of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// AWT: from submission to the beginning of transmission.
    pub wait_s: f64,
    /// QCT: from the first submission to the last end.
    pub completion_s: f64,
    /// AGU: the part of the processors that was held until then.
    pub use_share: f64,
    /// Likewise, that computed.
    pub compute_share: f64,
    /// The part of the sites that held something.
    pub sites_share: f64,
    /// From submission to end.
    pub response_s: f64,
    /// AWT of jobs with more than a twentieth of all processors.
    pub wide_wait_s: f64,
    /// AWT of the others.
    pub narrow_wait_s: f64,
    /// The longest wait.
    pub longest_wait_s: f64,
    /// Processors × seconds that were held.
    pub held: f64,
    /// Likewise, for copies that did not count.
    pub wasted: f64,
    /// Over how many sites a job was divided.
    pub parts: f64,
    /// How many jobs waited, on average.
    pub waiting: f64,
}

/// What the paper compares by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Average wait time: less is better.
    Wait,
    /// Queue completion time: less is better.
    Completion,
    /// Average grid utilisation: more is better.
    Use,
    /// The same, computing only.
    Compute,
    /// The mean from submission to end: less is better.
    Response,
    /// The wait of wide jobs: less is better.
    WideWait,
}

impl Metric {
    /// The paper's three.
    pub const OF_TABLE: [Self; 3] = [Self::Wait, Self::Completion, Self::Use];

    /// As the paper calls it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Wait => "AWT",
            Metric::Completion => "QCT",
            Metric::Use => "AGU",
            Metric::Compute => "AGU, computing",
            Metric::Response => "response",
            Metric::WideWait => "AWT of wide jobs",
        }
    }

    /// Of one run.
    pub fn of(self, outcome: &Outcome) -> f64 {
        match self {
            Metric::Wait => outcome.wait_s,
            Metric::Completion => outcome.completion_s,
            Metric::Use => 100.0 * outcome.use_share,
            Metric::Compute => 100.0 * outcome.compute_share,
            Metric::Response => outcome.response_s,
            Metric::WideWait => outcome.wide_wait_s,
        }
    }

    /// In per cent, of the first: how much better the second is.
    pub fn improvement(self, first: f64, second: f64) -> f64 {
        let less = 100.0 * (first - second) / first;
        match self {
            Metric::Wait | Metric::Completion | Metric::Response | Metric::WideWait => less,
            Metric::Use | Metric::Compute => -less,
        }
    }
}

/// By case, seed and rule.
#[derive(Clone, Debug)]
pub struct Findings {
    cases: Vec<Case>,
    seeds: u64,
    outcomes: Vec<Vec<Vec<Outcome>>>,
}

impl Findings {
    pub(super) fn new(cases: Vec<Case>, seeds: u64, outcomes: Vec<Vec<Vec<Outcome>>>) -> Self {
        Self { cases, seeds, outcomes }
    }

    /// Seeds from 1 to this.
    pub fn seeds(&self) -> u64 {
        self.seeds
    }

    /// The cases, each with its place.
    pub fn cases(&self, group: Group) -> impl Iterator<Item = (usize, &Case)> {
        self.cases.iter().enumerate().filter(move |(_, case)| case.group == group)
    }

    /// The case as it was chosen, if it was run.
    pub fn base(&self) -> Option<usize> {
        self.cases(Group::Base).next().map(|(index, _)| index)
    }

    /// One number a seed.
    pub fn values(&self, case: usize, rule: &str, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        let at = self.cases[case].rules.iter().position(|(name, _)| *name == rule);
        let at = at.unwrap_or_else(|| panic!("{rule} was not run on {}", self.cases[case].name));
        self.outcomes[case].iter().map(|rules| of(&rules[at])).collect()
    }

    /// The mean over the seeds.
    pub fn estimate(&self, case: usize, rule: &str, of: impl Fn(&Outcome) -> f64) -> Estimate {
        Estimate::of(&self.values(case, rule, of))
    }

    /// How much better `rule` is than `other`, in per cent of the other's mean; with the jackknife's interval over seeds.
    pub fn improvement(&self, case: usize, other: &str, rule: &str, metric: Metric) -> Estimate {
        self.improvement_among((case, rule), (other, metric), 1)
    }

    /// The least of how much better `rule` is than each of the others by its measure: from where it surely is better than all, to
    /// where it surely is worse than one. It is better than all only if each interval by itself says so; to be worse than one,
    /// any of them is enough, and so they have to hold at a time.
    pub fn least_improvement(&self, case: usize, rule: &str, others: &[(&str, Metric)]) -> Estimate {
        let least = |among: usize| {
            let improvement = |other: &(&str, Metric)| self.improvement_among((case, rule), *other, among);
            Estimate::least(others.iter().map(improvement))
        };
        Estimate { low: least(1).low, ..least(others.len()) }
    }

    /// One of so many improvements whose intervals are to hold at a time.
    fn improvement_among(
        &self,
        (case, rule): (usize, &str),
        (other, metric): (&str, Metric),
        among: usize,
    ) -> Estimate {
        let first = self.values(case, other, |outcome| metric.of(outcome));
        let second = self.values(case, rule, |outcome| metric.of(outcome));
        let (first_sum, second_sum): (f64, f64) = (first.iter().sum(), second.iter().sum());
        let whole = metric.improvement(first_sum, second_sum);
        let without =
            first.iter().zip(&second).map(|(one, two)| metric.improvement(first_sum - one, second_sum - two));
        Estimate::of_all_among(whole, &without.collect::<Vec<_>>(), among)
    }

    /// All runs as CSV.
    pub(super) fn csv(&self) -> String {
        use std::fmt::Write;
        let mut lines = "group,case,rule,seed,wait_s,completion_s,use_share,compute_share,sites_share,response_s,wide_wait_s,\
                         narrow_wait_s,longest_wait_s,held,wasted,parts,waiting\n"
            .to_owned();
        for (case, seeds) in self.cases.iter().zip(&self.outcomes) {
            for (seed, outcomes) in seeds.iter().enumerate() {
                for ((name, _), outcome) in case.rules.iter().zip(outcomes) {
                    let Outcome { wait_s, completion_s, use_share, compute_share, sites_share, .. } = outcome;
                    let Outcome { response_s, wide_wait_s, narrow_wait_s, longest_wait_s, .. } = outcome;
                    let Outcome { held, wasted, parts, waiting, .. } = outcome;
                    writeln!(
                        lines,
                        "{:?},\"{}\",\"{name}\",{},{wait_s:.3},{completion_s:.3},{use_share:.6},{compute_share:.6},\
                         {sites_share:.6},{response_s:.3},{wide_wait_s:.3},{narrow_wait_s:.3},{longest_wait_s:.3},\
                         {held:.0},{wasted:.0},{parts:.4},{waiting:.4}",
                        case.group,
                        case.name,
                        seed + 1
                    )
                    .expect("a string takes what it is given");
                }
            }
        }
        lines
    }
}
