//! What is ordered about the results of jobs: by their users, that they be kept; by the coordinator, that what is due be removed.
//!
//! **What is removed is looked at here once more**: between the look that found it due and the order, somebody may have wanted
//! it kept, or run again.

use super::Desk;
use super::admission::{Rejection, RejectionKind};
use crate::journal::{Fact, RemovedResults};
use crate::ledger::Job;
use crate::limits::{GAP_MIN, RECORDS_KEPT_DAYS, RESULTS_KEPT_DAYS, RETIRE_AFTER, REVIVED_MAX};
use crate::moments::{day, long};
use crate::store::{Amount, PastReader, ReadError, Removal, Results};
use gleaner_units::{Span, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::Actor;
use gleaner_wire::job::JobSpec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long what is over is kept; for ever, where nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keeping {
    /// What jobs read, left and wrote, from the end of the job on.
    pub results: Option<Span>,
    /// All else that is known of them.
    pub records: Option<Span>,
}

impl Default for Keeping {
    fn default() -> Self {
        let days = |days: u64| Some(Span::from_nanos(days * 86_400_000_000_000));
        Self { results: days(RESULTS_KEPT_DAYS), records: days(RECORDS_KEPT_DAYS) }
    }
}

impl Keeping {
    /// How long tasks that are over stay in memory at most: what is there is not removed.
    pub(crate) fn in_memory(self) -> Span {
        let most = Span::from_nanos(RETIRE_AFTER.as_nanos() as u64);
        self.results.map_or(most, |results| results.min(most))
    }
}

impl Desk {
    /// A job, in memory or in the store, as what is not committed yet leaves it. **What the store has of it that is long is not
    /// read here**: everybody would wait for that.
    pub(super) fn known_job(&self, id: JobId, past: &dyn PastReader) -> Result<Option<Job>, ReadError> {
        match self.ledger.find_job(id) {
            Some(job) => Ok(Some(job.clone())),
            None => self.ledger.past_job(past, id),
        }
    }

    pub(super) fn keep_results(
        &mut self,
        now: Time,
        by: Actor,
        (id, job): (JobId, &Job),
        keep: bool,
    ) -> Result<(), Rejection> {
        match job.results {
            Results::There if keep => self.record(now, Fact::ResultsKept { job: id, keep, by }),
            Results::Kept if !keep => self.record(now, Fact::ResultsKept { job: id, keep, by }),
            Results::There | Results::Kept => {}
            Results::Going | Results::Gone => {
                return Err(Rejection::of(RejectionKind::Conflict, removed(id, job.removed)));
            }
        }
        Ok(())
    }

    /// Has results removed of jobs that were over for long enough. Returns of how many.
    pub(super) fn remove_results(
        &mut self,
        now: Time,
        jobs: &[JobId],
        past: &dyn PastReader,
    ) -> Result<Amount, ReadError> {
        let Some(kept_for) = self.terms.keeping.results else { return Ok(Amount::default()) };
        let mut due = Vec::new();
        for (id, job) in self.long_over(now, (jobs, kept_for), Results::There, past)? {
            due.push(RemovedResults { job: id, tasks: job.range(), bytes: job.bytes, user: job.user });
        }
        let amount = Amount { jobs: due.len() as u64, bytes: due.iter().map(|removed| removed.bytes).sum() };
        if !due.is_empty() {
            self.record(now, Fact::ResultsRemoved { jobs: due, kept_for });
        }
        Ok(amount)
    }

    /// No file of results that were removed is left.
    pub(super) fn results_gone(
        &mut self,
        now: Time,
        jobs: &[JobId],
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        let going = self.long_over(now, (jobs, Span::ZERO), Results::Going, past)?;
        if !going.is_empty() {
            self.record(now, Fact::ResultsGone(going.into_iter().map(|(id, _)| id).collect()));
        }
        Ok(())
    }

    /// Has nothing known any more of jobs that were over for long enough.
    pub(super) fn forget_jobs(
        &mut self,
        now: Time,
        jobs: &[JobId],
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        let Some(kept_for) = self.terms.keeping.records else { return Ok(()) };
        let due = self.long_over(now, (jobs, kept_for), Results::Gone, past)?;
        if !due.is_empty() {
            let mut described = BTreeMap::new();
            for (_, job) in due.iter().filter(|(_, job)| job.described > 0) {
                *described.entry(job.user.clone()).or_insert(0) += job.described;
            }
            let jobs = due.into_iter().map(|(id, job)| (id, job.range())).collect();
            self.record(now, Fact::JobsForgotten { jobs, kept_for, described });
        }
        Ok(())
    }

    /// The coordinator's machine slept for so long until now. What was over before is kept for as much longer, as after a start.
    pub(crate) fn slept(&mut self, now: Time, length: Span) {
        if length.nanos() >= GAP_MIN.as_nanos() as u64 {
            self.record(now, Fact::CoordinatorSlept { length });
        }
    }

    /// Those of some jobs that are retired, have been over for so long, and whose results stand so.
    fn long_over(
        &self,
        now: Time,
        (jobs, kept_for): (&[JobId], Span),
        results: Results,
        past: &dyn PastReader,
    ) -> Result<Vec<(JobId, Job)>, ReadError> {
        let mut found = Vec::new();
        // Nothing there is about what was asked for, which may be long.
        let nothing = Arc::new(JobSpec::new([""; 0]));
        for &id in jobs.iter().filter(|id| self.ledger.find_job(**id).is_none()) {
            let is_long_over = |ended| self.ledger.kept_until(ended, kept_for) <= now;
            let is_due = |job: &Job| job.results == results && job.ended.is_some_and(is_long_over);
            found.extend(
                self.ledger
                    .past_job(past, id)?
                    .filter(is_due)
                    .map(|job| (id, Job { spec: Arc::clone(&nothing), ..job })),
            );
        }
        Ok(found)
    }
}

/// Whether tasks of a retired job can be run again.
pub(super) fn check_rerun(id: JobId, job: &Job) -> Result<(), Rejection> {
    match job.results {
        Results::There | Results::Kept => Ok(()),
        Results::Going => Err(Rejection::of(
            RejectionKind::Conflict,
            format!("the results of job {id} are being removed at this moment; run it again in a minute"),
        )),
        Results::Gone if job.spec.files().next().is_none() => Ok(()),
        Results::Gone => Err(Rejection::of(
            RejectionKind::Conflict,
            removed(id, job.removed)
                + "; the files that it reads were removed with them: submit it as a new job",
        )),
    }
}

/// Whether so many retired tasks can be run again with one order.
pub(super) fn check_revival(id: JobId, count: u32) -> Result<(), Rejection> {
    if count <= REVIVED_MAX {
        return Ok(());
    }
    Err(Rejection::of(
        RejectionKind::Conflict,
        format!(
            "these are more than {REVIVED_MAX} tasks of job {id} that are long over, and at most {REVIVED_MAX} of such are run again with \
             one order: name some of them, take those that failed (`gleaner rerun --failed {id}`), or submit the job again"
        ),
    ))
}

/// That results were removed, when, and by which rule.
pub fn removed(id: JobId, removal: Option<Removal>) -> String {
    let Some(Removal { at, kept_for }) = removal else {
        return format!("the results of job {id} were removed");
    };
    format!(
        "the results of job {id} were removed on {}: this grid keeps results for {} after their job is over \
         (--keep-results-for)",
        day(at),
        long(kept_for)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{Start, Terms};
    use crate::ledger::Ledger;
    use gleaner_wire::Lineage;

    #[test]
    fn a_sleep_is_recorded_from_the_length_of_a_gap_on() {
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let least = GAP_MIN.as_nanos() as u64;
        let now = Time::from_nanos(least);
        for (length, expected) in [(least - 1, 0), (least, 1)] {
            let mut desk = Desk::new(Ledger::new(), Terms::default(), Time::ZERO, start);
            desk.slept(now, Span::from_nanos(length));
            let recorded = desk.settle(now).recorded.into_iter().map(|recorded| recorded.entry.fact);
            let slept = recorded.filter(|fact| matches!(fact, Fact::CoordinatorSlept { .. }));
            assert_eq!(slept.count(), expected, "{length}");
        }
    }

    #[test]
    fn so_many_tasks_come_back_by_one_order() {
        assert!(check_revival(JobId(1), REVIVED_MAX).is_ok());
        let refused = check_revival(JobId(1), REVIVED_MAX + 1).expect_err("too many").message;
        assert!(refused.contains(&format!("at most {REVIVED_MAX}")), "{refused}");
    }

    #[test]
    fn what_is_over_is_kept_for_so_long() {
        const HOUR: u64 = 3_600;
        let seconds = |span: Option<Span>| span.expect("not for ever").nanos() / 1_000_000_000;
        let usual = Keeping::default();
        assert_eq!(seconds(usual.results), RESULTS_KEPT_DAYS * 24 * HOUR);
        assert_eq!(seconds(usual.records), RECORDS_KEPT_DAYS * 24 * HOUR);
        let in_memory = |results| seconds(Some(Keeping { results, ..usual }.in_memory()));
        assert_eq!(in_memory(usual.results), RETIRE_AFTER.as_secs());
        assert_eq!(in_memory(None), RETIRE_AFTER.as_secs());
        assert_eq!(in_memory(Some(Span::from_nanos(7_000_000_000))), 7, "what is there is not removed");
    }
}
