//! The paper's statements: pure functions from findings to claims.
//!
//! The bounds of each [`Rule`](crate::Rule) follow the paper's words and were written before anything was simulated: a
//! number that the paper gives is met within a tenth of it, and in part within three tenths; "close", "comparable" and
//! "able to sustain" are up to 1 %, and in part up to 5 %; "throughout" is at every budget.

mod computing;
mod figure_4;
mod figure_5;
mod heuristics;
mod periods;

use super::case::{Heuristic, Month, Part, Variant};
use super::findings::Findings;
use crate::Claim;
use crate::statistics::Estimate;

const NO_CONDITION: &str =
    "94 and 101 machines, ten times as fast as printed; condition (5) has no part in it";

/// How the conditions were read.
fn reading(reading: Variant) -> &'static str {
    match reading {
        Variant::WithinPeriod => {
            "94 and 101 machines; condition (5) as printed; BT on the cheapest machines and those ready within the period"
        }
        Variant::AsDerived => "94 and 101 machines; condition (5) as derived; line 9 to the letter",
        Variant::CheapestAsOthers => {
            "94 and 101 machines; condition (5) as printed; BT's condition (4) for the cheapest machines too"
        }
        Variant::CheapestIfReady => {
            "94 and 101 machines; condition (5) as printed; the cheapest machines only if ready within the period"
        }
        _ => "94 and 101 machines; condition (5) as printed; line 9 to the letter",
    }
}

/// What each reading but the letter adds to a claim's name, and how a table calls it.
pub(super) const SUFFIXES: [(&str, &str); 4] = [
    ("-as-derived", "(5) as derived"),
    ("-cheapest-if-ready", "The cheapest if ready"),
    ("-cheapest-as-others", "BT with (4) for the cheapest too"),
    ("-within-period", "BT within the period"),
];

/// With the reading at the end, if it is not the letter.
fn id(name: String, reading: Variant) -> String {
    match reading {
        Variant::AsDerived => name + "-as-derived",
        Variant::CheapestIfReady => name + "-cheapest-if-ready",
        Variant::CheapestAsOthers => name + "-cheapest-as-others",
        Variant::WithinPeriod => name + "-within-period",
        _ => name,
    }
}

/// All claims of the parts that were run.
pub(super) fn claims(findings: &Findings) -> Vec<Claim> {
    let mut claims = Vec::new();
    if findings.shows(4) {
        claims.extend(figure_4::claims(findings));
        claims.extend(Month::ALL.map(computing::claim));
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
