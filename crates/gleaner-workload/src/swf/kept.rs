//! Which jobs of a log can be scheduled.
//!
//! Kept is a job with a submit time, a run time of 0 or more, and at least one processor: field 5 if that is more than
//! 0, else field 8; but none larger than the machine. Its estimate is field 9 if that is more than 0, else its run time,
//! and at least 1 s. A log need not be in order: jobs come by submit time, then by their place in the file. A line that is a
//! part of a job is none.

use super::{Job, Log};
use gleaner_units::{Span, Time};
use serde::Serialize;

/// A second: nobody asks for less.
const ESTIMATE_MIN: Span = Span::from_nanos(1_000_000_000);

/// The jobs of a log that can be scheduled, and how many cannot.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// By submit time, then by place.
    pub jobs: Vec<KeptJob>,
    /// The others.
    pub left_out: LeftOut,
}

/// A job that can be scheduled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptJob {
    /// Its index in [`Log::jobs`].
    pub place: usize,
    /// When it comes.
    pub submit: Time,
    /// How long it runs, which may be no time at all.
    pub run: Span,
    /// How long its user said that it would run, at least 1 s.
    pub estimate: Span,
    /// At least 1.
    pub processors: u32,
    /// Whose it is, if the log knows.
    pub user: Option<u64>,
}

/// How many lines were left out, by the first reason that holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct LeftOut {
    /// Not a job, but a part of one that has another line.
    pub parts: u64,
    /// Without a submit time.
    pub no_submit_time: u64,
    /// Without a run time.
    pub no_run_time: u64,
    /// Without a processor.
    pub no_processors: u64,
    /// Of more processors than the machine has.
    pub too_large: u64,
}

impl Log {
    /// The jobs that a machine of `cores` processors can run.
    pub fn kept(&self, cores: u32) -> Kept {
        let mut left_out = LeftOut::default();
        let mut jobs = Vec::with_capacity(self.jobs.len());
        for (place, job) in self.jobs.iter().enumerate() {
            if self.parts.job_of(place).is_some() {
                left_out.parts += 1;
                continue;
            }
            let Some(submit) = job.submit_s.and_then(Time::from_seconds) else {
                left_out.no_submit_time += 1;
                continue;
            };
            let Some(run) = job.run_s.and_then(Span::from_seconds) else {
                left_out.no_run_time += 1;
                continue;
            };
            let Some(processors) = job.size() else {
                left_out.no_processors += 1;
                continue;
            };
            if processors > cores {
                left_out.too_large += 1;
                continue;
            }
            let said = job.requested_s.filter(|&seconds| seconds > 0.0).and_then(Span::from_seconds);
            let estimate = said.unwrap_or(run).max(ESTIMATE_MIN);
            jobs.push(KeptJob { place, submit, run, estimate, processors, user: job.user });
        }
        jobs.sort_by_key(|job| job.submit);
        Kept { jobs, left_out }
    }
}

impl Job {
    /// How many processors it takes: field 5 if that is more than 0, else field 8 if that is.
    pub fn size(&self) -> Option<u32> {
        let given = |count: &u32| *count > 0;
        self.processors.filter(given).or_else(|| self.requested_processors.filter(given))
    }
}

impl LeftOut {
    /// All of them.
    pub fn count(&self) -> u64 {
        self.parts + self.no_submit_time + self.no_run_time + self.no_processors + self.too_large
    }
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let reasons = [
            (self.parts, "that are a part (status 2, 3 or 4) of a job that has another line"),
            (self.no_submit_time, "without a submit time"),
            (self.no_run_time, "without a run time"),
            (self.no_processors, "without processors"),
            (self.too_large, "larger than the machine"),
        ];
        let reasons = reasons.into_iter().filter(|&(count, _)| count > 0);
        let reasons: Vec<String> = reasons.map(|(count, why)| format!("{count} {why}")).collect();
        if reasons.is_empty() { f.write_str("none") } else { f.write_str(&reasons.join(", ")) }
    }
}
