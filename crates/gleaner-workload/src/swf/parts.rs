//! Lines that are a part of a job.
//!
//! Where a log knows when a job was interrupted and went on, the archive's definition of the format gives the job one line
//! that sums it up, with status 0, 1 or 5, and one for each part: status 2, or for the last part 3 or 4. All have the job's
//! number. Only the first is a job; the parts describe its execution. A line with status 2 to 4 whose job has no other line is
//! a job, since nothing else is known of it.

use super::Job;
use std::collections::{BTreeMap, BTreeSet};

/// Which lines are parts of a job that has a line of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// By the part's place, the place of its job.
    jobs: BTreeMap<usize, usize>,
}

impl Parts {
    pub(super) fn of(jobs: &[Job]) -> Self {
        let is_part = |job: &Job| matches!(job.status, Some(2..=4));
        let parts = jobs.iter().enumerate().filter(|(_, job)| is_part(job));
        let parts: Vec<(usize, u64)> = parts.filter_map(|(place, job)| Some((place, job.number?))).collect();
        if parts.is_empty() {
            return Self::default();
        }
        let whole = jobs.iter().enumerate().filter(|(_, job)| matches!(job.status, Some(0 | 1 | 5)));
        let whole: BTreeSet<(u64, usize)> =
            whole.filter_map(|(place, job)| Some((job.number?, place))).collect();
        // A job's lines stand together, its own first: where several jobs have one number, it is the nearest above.
        let job_of = |place: usize, number: u64| {
            let above = whole.range((number, 0)..(number, place)).next_back();
            above.or_else(|| whole.range((number, place)..=(number, usize::MAX)).next())
        };
        let jobs = parts.into_iter().filter_map(|(place, number)| Some((place, job_of(place, number)?.1)));
        Self { jobs: jobs.collect() }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.jobs.len()
    }

    /// The place of the job of which the line at `place` is a part.
    pub(super) fn job_of(&self, place: usize) -> Option<usize> {
        self.jobs.get(&place).copied()
    }
}
