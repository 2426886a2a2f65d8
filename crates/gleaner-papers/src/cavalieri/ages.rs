//! What the paper did not ask: every choice and both beliefs, against the age of the index over three decades, with one broker
//! and with four.

use super::case::{Case, Ttl, Work};
use super::experiments::Findings;
use super::rule::Rule;
use crate::statistics::Estimate;

/// The time to live of the index, in mean interarrival times.
pub(super) const AGES: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// Jobs, and how often they come.
pub(super) const WORKS: [(Work, f64); 2] = [(Work::Balanced, 60.0), (Work::HeavyScaled, 750.0)];

/// How many brokers.
pub(super) const BROKERS: [u32; 2] = [1, 4];

pub(super) fn rules() -> Vec<Rule> {
    Rule::all()
}

/// The cases of one work and one number of brokers, by age.
pub(super) fn row((work, inter_s): (Work, f64), brokers: u32) -> [Case; 7] {
    AGES.map(|age| Case { ttl: Ttl::Jobs(age), brokers, ..Case::of(work, inter_s) })
}

pub(super) fn cases() -> Vec<Case> {
    let rows = WORKS.into_iter().flat_map(|work| BROKERS.map(|brokers| row(work, brokers)));
    rows.flatten().collect()
}

/// How a rule stands over all cases.
pub(super) struct Standing {
    pub(super) rule: Rule,
    /// In how many cases some other rule is better by more than chance explains.
    pub(super) beaten: usize,
    /// By how many per cent its lifetimes are above the best rule's, at worst.
    pub(super) worst: f64,
    /// The same on average.
    pub(super) mean: f64,
}

/// All rules, the one that is beaten least first.
pub(super) fn standings(findings: &Findings) -> Vec<Standing> {
    let cases = cases();
    let standing = |rule: Rule| {
        let (mut beaten, mut losses) = (0, Vec::new());
        for case in &cases {
            let best = rules()
                .into_iter()
                .map(|other| findings.life(*case, other).mean)
                .fold(f64::INFINITY, f64::min);
            losses.push(100.0 * (findings.life(*case, rule).mean / best - 1.0));
            // Of so many comparisons some would show a difference by chance: 99.9 % and not 95 % of certainty.
            let is_beaten = |other: Rule| other != rule && certainly_below(findings, *case, other, rule);
            beaten += usize::from(rules().into_iter().any(is_beaten));
        }
        let worst = losses.iter().copied().fold(0.0, f64::max);
        Standing { rule, beaten, worst, mean: losses.iter().sum::<f64>() / losses.len() as f64 }
    };
    let mut all: Vec<Standing> = rules().into_iter().map(standing).collect();
    all.sort_by(|one, other| one.beaten.cmp(&other.beaten).then(one.worst.total_cmp(&other.worst)));
    all
}

/// Whether one rule's lifetimes are below another's by twice what the 95 % interval reaches, which is far beyond chance.
fn certainly_below(findings: &Findings, case: Case, one: Rule, other: Rule) -> bool {
    let gain: Estimate = findings.gain(&[case], one, other);
    gain.mean > 2.0 * gain.reach()
}
