//! The paper's statements: pure functions from findings to claims.
//!
//! The bounds of each [`Criterion`](crate::Criterion) follow the paper's words and were written before anything was simulated: a
//! number that the paper gives is met within a tenth of it, and in part within three tenths; "close", "comparable" and
//! "able to sustain" are up to 1 %, and in part up to 5 %; "throughout" is at every budget.

mod computing;
mod figure_4;
mod figure_5;
mod heuristics;
mod periods;
mod words;

pub(super) use words::SUFFIXES;

use super::case::{Month, Part};
use super::findings::Findings;
use crate::Claim;

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
