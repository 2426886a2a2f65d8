//! How the rules stand against each other, over every age of the index, both kinds of jobs and both numbers of brokers.

use super::ages::{cases, rules};
use super::case::Case;
use super::experiments::Findings;
use super::rule::Rule;
use crate::statistics::Estimate;

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
pub(super) fn all(findings: &Findings) -> Vec<Standing> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cavalieri::Part;

    #[test]
    fn ages_are_compared_with_ages_whatever_else_was_run() {
        // Each rule takes one of 100 s longer than the one before it, in every setting.
        for (at, standing) in all(&Findings::made().only(Part::Ages)).into_iter().enumerate() {
            assert_eq!(standing.rule, rules()[at]);
            assert!(
                (standing.worst - at as f64).abs() < 0.01,
                "{}: {}",
                standing.rule.name(),
                standing.worst
            );
            assert!((standing.mean - at as f64).abs() < 0.01, "{}: {}", standing.rule.name(), standing.mean);
        }
    }
}
