//! The period that the paper tuned by hand.

use super::words::NO_CONDITION;
use crate::elleuch::case::{Case, Heuristic, Month};
use crate::elleuch::experiments::period;
use crate::elleuch::findings::Findings;
use crate::elleuch::{PERIOD_S, PERIODS_S};
use crate::{Claim, Criterion};

/// A rate is sustained if everything is done so long after the last arrival.
const SUSTAINED_S: f64 = 3600.0;

pub(super) fn claim(findings: &Findings) -> Claim {
    let free = Case::free(Month::September, Heuristic::MinMin);
    let shortest = |seed: usize| {
        let sustains = |period_s: u32| findings.after_s(period(free, period_s), seed) <= SUSTAINED_S;
        f64::from(PERIODS_S.into_iter().find(|period_s| sustains(*period_s)).unwrap_or(u32::MAX))
    };
    let after = PERIODS_S.map(|period_s| {
        let after = findings.over_seeds(|seed| findings.after_s(period(free, period_s), seed)).mean;
        format!("{period_s} s {:.1} h", after / 3600.0)
    });
    Claim {
        id: "section-5/period".to_owned(),
        claim: "the best value for R, to generate an arrival rate as close as possible to the completion rate without \
                exceeding it, is 2 minutes",
        paper: "2 min",
        quantity:
            "the shortest period tried with which everything is done an hour after the last arrival, in \
                   September without a budget"
                .to_owned(),
        besides: Some(format!("hours after the last arrival: {}", after.join(", "))),
        measured: findings.over_seeds(shortest),
        unit: "s",
        criterion: Criterion::Near { value: f64::from(PERIOD_S), holds: 12.0, partly: 36.0 },
        condition: None,
        reading: NO_CONDITION,
    }
}
