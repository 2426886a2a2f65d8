//! What the paper did not ask: every choice and both beliefs, against the age of the index over three decades, with one broker
//! and with four.

use super::case::{Case, Ttl, Work};
use super::rule::Rule;

/// The time to live of the index, in mean interarrival times.
pub(super) const AGES: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

/// Jobs, and how often they come.
pub(super) const WORKS: [(Work, f64); 2] = [(Work::Balanced, 60.0), (Work::HeavyScaled, 750.0)];

/// How many brokers.
pub(super) const BROKERS: [u32; 2] = [1, 4];

pub(super) fn rules() -> Vec<Rule> {
    Rule::all()
}

/// The cases of one work and one number of brokers, by age.
pub(super) fn row((work, inter_s): (Work, f64), brokers: u32) -> [Case; 4] {
    AGES.map(|age| Case { ttl: Ttl::Jobs(age), brokers, ..Case::of(work, inter_s) })
}

pub(super) fn cases() -> Vec<Case> {
    let rows = WORKS.into_iter().flat_map(|work| BROKERS.map(|brokers| row(work, brokers)));
    rows.flatten().collect()
}
