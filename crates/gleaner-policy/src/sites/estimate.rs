//! How long a job would hold its room, by what was declared and is known of links.

use crate::parts::sites::{Data, SiteRule};
use gleaner_core::{Grid, Part};
use gleaner_units::{TaskId, Time};

/// The seconds for which a job would hold its room on these parts: infinitely many where no length was declared.
pub(super) fn hold_s(grid: &Grid, rule: &SiteRule, task: TaskId, parts: &[Part]) -> f64 {
    let staging = if rule.staging { staging_s(grid, rule, task, parts) } else { 0.0 };
    staging + run_s(grid, rule, task, parts)
}

/// The moment at which a job that began then would have given its room back.
pub(super) fn end(grid: &Grid, rule: &SiteRule, task: TaskId, parts: &[Part], since: Time) -> Time {
    let seconds = hold_s(grid, rule, task, parts);
    if seconds.is_finite() { since.after_seconds(seconds) } else { Time::NEVER }
}

/// As long as its slowest part takes, and the longer, the more of its processes' pairs are at different sites.
pub(super) fn run_s(grid: &Grid, rule: &SiteRule, task: TaskId, parts: &[Part]) -> f64 {
    let class = grid.task(task).class();
    let Some(length) = grid.declared_length(task) else { return f64::INFINITY };
    let seconds_per_op =
        |part: &Part| grid.classes().seconds_per_op_in_parts(class, grid.machine(part.on).class());
    let slowest = parts.iter().map(seconds_per_op).fold(0.0, f64::max);
    length.amount() * slowest * (1.0 + rule.crossing * crossing(parts.iter().map(|part| part.cores)))
}

/// The part of the pairs of different processes whose two are on different parts: 1 where each part has one process, 0 where
/// there is one part.
pub fn crossing(cores: impl Iterator<Item = u32> + Clone) -> f64 {
    let all: f64 = cores.clone().map(f64::from).sum();
    let apart: f64 = cores.map(f64::from).map(|cores| cores * (all - cores)).sum();
    if apart == 0.0 { 0.0 } else { apart / (all * (all - 1.0)) }
}

/// Until the last part has its data.
fn staging_s(grid: &Grid, rule: &SiteRule, task: TaskId, parts: &[Part]) -> f64 {
    let class = grid.task(task).class();
    let cores: f64 = parts.iter().map(|part| f64::from(part.cores)).sum();
    let seconds = |part: &Part| {
        let whole = grid
            .catalogue()
            .site_of(part.on)
            .map_or(0.0, |site| grid.catalogue().seconds_to_bring(class, site));
        match rule.data {
            Data::Whole => whole,
            Data::Share => whole * (f64::from(part.cores) / cores),
        }
    };
    parts.iter().map(seconds).fold(0.0, f64::max)
}
