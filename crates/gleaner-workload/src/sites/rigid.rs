//! When drawn jobs come, and what they take, before anything is known of sites.

use super::scenario::{Arrivals, Estimates, JobModel, JobsDrawn};
use crate::Stream;
use crate::models::Lublin;
use crate::swf::{Job, Log};

pub(super) const DAY_S: f64 = 86_400.0;

/// A job before its data.
pub(super) struct Rigid {
    pub(super) submitted_s: f64,
    pub(super) processors: u32,
    pub(super) run_s: f64,
    pub(super) estimate_s: f64,
}

/// The jobs of a log of which all is known that is needed, for [`JobModel::Log`].
pub fn usable_jobs(log: &Log) -> Vec<Job> {
    let is_usable = |job: &&Job| {
        job.run_s.is_some_and(|run_s| run_s >= 1.0) && job.submit_s.is_some() && processors(job).is_some()
    };
    log.whole_jobs().filter(is_usable).copied().collect()
}

/// In order of submission.
pub(super) fn rigid(drawn: &JobsDrawn, seed: u64, stream: &mut Stream) -> Vec<Rigid> {
    let log = match &drawn.model {
        JobModel::Lublin => Lublin::of_one_kind().draw(seed, drawn.count),
        JobModel::Log(log) => {
            let first = stream.below(log.len() - drawn.count + 1);
            log[first..first + drawn.count].to_vec()
        }
    };
    let submitted = |job: &Job| job.submit_s.unwrap_or(0.0);
    let first = log.iter().map(submitted).fold(f64::INFINITY, f64::min);
    let last = log.iter().map(submitted).fold(0.0, f64::max);
    let span_s = (last - first).max(1.0);
    let days_s = drawn.days.map_or(span_s, |days| days * DAY_S);
    let mut jobs: Vec<Rigid> = log
        .iter()
        .map(|job| {
            let run_s = job.run_s.unwrap_or(1.0).max(1.0);
            let estimate_s = match drawn.estimates {
                Estimates::Times(times) => run_s * times,
                Estimates::Logged => job.requested_s.filter(|said| *said > 0.0).unwrap_or(run_s).max(run_s),
            };
            let submitted_s = match drawn.arrivals {
                Arrivals::Model => (submitted(job) - first) / span_s * days_s,
                Arrivals::Even => stream.uniform(0.0, days_s),
            };
            Rigid { submitted_s, processors: processors(job).unwrap_or(1), run_s, estimate_s }
        })
        .collect();
    jobs.sort_by(|one, other| one.submitted_s.total_cmp(&other.submitted_s));
    jobs
}

/// What it had, or else asked for.
fn processors(job: &Job) -> Option<u32> {
    let had = job.processors.filter(|count| *count > 0);
    had.or(job.requested_processors.filter(|count| *count > 0))
}
