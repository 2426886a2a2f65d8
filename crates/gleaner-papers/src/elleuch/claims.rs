//! The paper's statements: pure functions from findings to claims.
//!
//! The bounds of each [`Rule`](crate::Rule) follow the paper's words and were written before anything was simulated: a
//! number that the paper gives is met within a tenth of it, and in part within three tenths; "close", "comparable" and
//! "able to sustain" are up to 1 %, and in part up to 5 %; "throughout" is at every budget.

mod figure_4;
mod figure_5;
mod heuristics;
mod periods;

use super::case::{Heuristic, Month, Part, Variant};
use super::findings::Findings;
use crate::Claim;
use crate::statistics::Estimate;

const NO_CONDITION: &str = "traces by their cumulative speeds; condition (5) has no part in it";

/// How the conditions were read.
fn reading(reading: Variant) -> &'static str {
    match reading {
        Variant::WithinPeriod => {
            "traces by their cumulative speeds; condition (5) as printed; BT on machines ready within the period"
        }
        Variant::AsDerived => "traces by their cumulative speeds; condition (5) as derived",
        _ => "traces by their cumulative speeds; condition (5) as printed",
    }
}

/// With the reading at the end, if it is not the letter.
fn id(name: String, reading: Variant) -> String {
    match reading {
        Variant::AsDerived => name + "-as-derived",
        Variant::WithinPeriod => name + "-within-period",
        _ => name,
    }
}

/// All claims of the parts that were run.
pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let mut claims = Vec::new();
    if findings.shows(4) {
        claims.extend(figure_4::claims(findings));
    }
    if findings.shows(5) {
        claims.extend(figure_5::claims(findings));
    }
    if findings.has(Part::Periods) {
        claims.push(periods::claim(findings));
    }
    if findings.has(Part::Heuristics) {
        claims.extend(heuristics::claims(findings));
    }
    claims
}

fn percent(of_one: Estimate) -> Estimate {
    let Estimate { mean, low, high } = of_one;
    Estimate { mean: 100.0 * mean, low: 100.0 * low, high: 100.0 * high }
}

/// `september` or `june`.
fn slug(month: Month) -> String {
    month.name().to_lowercase()
}

fn heuristic_slug(heuristic: Heuristic) -> &'static str {
    match heuristic {
        Heuristic::MinMin => "min-min",
        Heuristic::MaxMin => "max-min",
        Heuristic::Sufferage => "sufferage",
    }
}
