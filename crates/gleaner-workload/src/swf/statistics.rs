//! What a log amounts to.

use super::{LeftOut, Log};
use serde::Serialize;
use std::collections::BTreeSet;

/// What a log amounts to on a machine. Means and quantiles are those of the jobs that can be scheduled there.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// Lines that are jobs, and no part of one.
    pub jobs: usize,
    /// Those that can be scheduled.
    pub kept: usize,
    /// Those that cannot.
    pub left_out: LeftOut,
    /// Of the machine.
    pub cores: u32,
    /// Users whose jobs can be scheduled, as far as the log knows.
    pub users: usize,
    /// Jobs that stand below one that is submitted later.
    pub out_of_order: usize,
    /// When the first job is submitted.
    pub first_submit_s: f64,
    /// When the last one is.
    pub last_submit_s: f64,
    /// Processors times run time of all jobs, by what the machine has from the first submission to the last.
    pub load: f64,
    /// The mean number of processors.
    pub size_mean: f64,
    /// The largest.
    pub size_max: u32,
    /// The share of jobs on one processor.
    pub serial: f64,
    /// The share of jobs on a power of two, 1 among them.
    pub powers_of_two: f64,
    /// The mean run time.
    pub run_mean_s: f64,
    /// Half of the jobs run longer: of an even number the mean of the two in the middle.
    pub run_median_s: f64,
    /// The longest.
    pub run_max_s: f64,
    /// The share of jobs whose user said how long they would run.
    pub with_estimate: f64,
    /// The share of jobs that run longer than their estimate.
    pub past_estimate: f64,
}

impl Statistics {
    /// Of a log on a machine of `cores` processors; numbers of no jobs are 0.
    pub fn of(log: &Log, cores: u32) -> Self {
        let kept = log.kept(cores);
        let jobs = &kept.jobs;
        let count = jobs.len().max(1) as f64;
        let share =
            |is: &dyn Fn(&super::KeptJob) -> bool| jobs.iter().filter(|job| is(job)).count() as f64 / count;
        let first = jobs.first().map_or(0.0, |job| job.submit.seconds());
        let last = jobs.last().map_or(0.0, |job| job.submit.seconds());
        let area: f64 = jobs.iter().map(|job| f64::from(job.processors) * job.run.seconds()).sum();
        let room = f64::from(cores) * (last - first);
        let mut runs: Vec<f64> = jobs.iter().map(|job| job.run.seconds()).collect();
        runs.sort_by(f64::total_cmp);
        let said = |place: usize| log.jobs()[place].requested_s.is_some_and(|seconds| seconds > 0.0);
        Self {
            jobs: log.jobs().len() - log.parts.count(),
            kept: jobs.len(),
            left_out: kept.left_out,
            cores,
            users: jobs.iter().filter_map(|job| job.user).collect::<BTreeSet<_>>().len(),
            out_of_order: out_of_order(log),
            first_submit_s: first,
            last_submit_s: last,
            load: if room > 0.0 { area / room } else { 0.0 },
            size_mean: jobs.iter().map(|job| f64::from(job.processors)).sum::<f64>() / count,
            size_max: jobs.iter().map(|job| job.processors).max().unwrap_or(0),
            serial: share(&|job| job.processors == 1),
            powers_of_two: share(&|job| job.processors.is_power_of_two()),
            run_mean_s: runs.iter().sum::<f64>() / count,
            run_median_s: median(&runs),
            run_max_s: runs.last().copied().unwrap_or(0.0),
            with_estimate: share(&|job| said(job.place)),
            past_estimate: share(&|job| job.run > job.estimate),
        }
    }

    /// The processors that a log's jobs ask for at most: what stands for a machine whose size nobody says.
    pub fn cores_of(log: &Log) -> u32 {
        let largest = || log.jobs().iter().filter_map(super::Job::size).max();
        log.processors().or_else(largest).unwrap_or(1)
    }
}

/// How many jobs stand below one that is submitted later.
fn out_of_order(log: &Log) -> usize {
    let mut latest = f64::NEG_INFINITY;
    let submits = log.whole_jobs().filter_map(|job| job.submit_s);
    let is_late = |submit: &f64| {
        latest = latest.max(*submit);
        *submit < latest
    };
    submits.filter(is_late).count()
}

/// Of what is in order; 0 of nothing.
fn median(sorted: &[f64]) -> f64 {
    let middle = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        f64::midpoint(middle(half.saturating_sub(1)), middle(half))
    } else {
        middle(half)
    }
}
