//! What becomes of the results of jobs that are over: they are kept, removed, and at last nothing is known of their jobs.
//!
//! The ledger knows no retired job: what is said of one is for the store, and the facts say what the ledger forgot.

use super::{Job, Ledger};
use crate::journal::RemovedResults;
use crate::store::{Past, PastReader, ReadError, Removal, Results, Seq, TaskRange, WithResults};
use gleaner_units::{Span, Time};
use gleaner_wire::JobId;

impl Job {
    /// The retired jobs whose results stand so, those first that were over first: of what was asked for there is command,
    /// name and label.
    pub fn list_with(
        past: &dyn PastReader,
        wanted: &WithResults,
        limit: usize,
    ) -> Result<Vec<(JobId, Self)>, ReadError> {
        let found = past.past_with(wanted, limit)?.into_iter();
        found.map(|found| Ok((found.job, Self::of_listed(&found)?))).collect()
    }
}

impl Ledger {
    /// A retired job, as the store has it and as what is not committed yet leaves it.
    pub(crate) fn past_job(&self, past: &dyn PastReader, id: JobId) -> Result<Option<Job>, ReadError> {
        let found = Job::find_past(past, id)?;
        let Some(pending) = &self.past else { return Ok(found) };
        if pending.forgotten.iter().any(|(job, _)| *job == id) {
            return Ok(None);
        }
        Ok(found.map(|mut job| {
            if let Some((.., removal)) = pending.removed.iter().find(|(job, ..)| *job == id) {
                (job.results, job.bytes, job.removed) = (Results::Going, 0, Some(*removal));
            }
            let last = pending.results.iter().rfind(|(job, _)| *job == id);
            job.results = last.map_or(job.results, |(_, results)| *results);
            job
        }))
    }

    pub(super) fn results_kept(&mut self, id: JobId, keep: bool) {
        let results = if keep { Results::Kept } else { Results::There };
        match self.books.jobs.get_mut(id) {
            Some(job) => job.results = results,
            None => self.left(Past { results: vec![(id, results)], ..self.now_past() }),
        }
    }

    pub(super) fn results_removed(&mut self, at: Time, jobs: &[RemovedResults], kept_for: Span) {
        let mut removed = Vec::new();
        for RemovedResults { job, user, tasks, bytes } in jobs {
            self.drop_bytes(user, *bytes);
            removed.push((*job, *tasks, Removal { at, kept_for }));
        }
        self.left(Past { removed, ..self.now_past() });
    }

    pub(super) fn results_gone(&mut self, jobs: &[JobId]) {
        let results = jobs.iter().map(|job| (*job, Results::Gone)).collect();
        self.left(Past { results, ..self.now_past() });
    }

    pub(super) fn jobs_forgotten(&mut self, jobs: &[(JobId, TaskRange)]) {
        self.left(Past { forgotten: jobs.to_vec(), ..self.now_past() });
    }

    fn now_past(&self) -> Past {
        Past { upto: Seq::new(self.books.rows), ..Past::default() }
    }
}
