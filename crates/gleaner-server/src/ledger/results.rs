//! What becomes of the results of jobs that are over: they are kept, removed, and at last nothing is known of their jobs.
//!
//! The ledger knows no retired job: what is said of one is for the store, and the facts say what the ledger forgot.

use super::gap::Gap;
use super::{Job, Ledger};
use crate::journal::RemovedResults;
use crate::limits::GAP_MIN;
use crate::store::{Past, PastReader, ReadError, Removal, Results, Seq, TaskRange};
use gleaner_units::{Span, Time};
use gleaner_wire::JobId;
use std::collections::BTreeMap;

/// How many gaps are told apart.
const GAPS_MAX: usize = 64;

impl Ledger {
    /// A retired job, as the store has it and as what is not committed yet leaves it: of what was asked for there is command,
    /// name and label.
    pub(crate) fn past_job(&self, past: &dyn PastReader, id: JobId) -> Result<Option<Job>, ReadError> {
        let found = Job::find_listed(past, id)?;
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

    pub(super) fn jobs_forgotten(&mut self, jobs: &[(JobId, TaskRange)], described: &BTreeMap<String, u64>) {
        for (user, bytes) in described {
            self.drop_bytes(user, *bytes);
        }
        self.left(Past { forgotten: jobs.to_vec(), ..self.now_past() });
    }

    /// A start so long after the last row: a clock that is wrong by a year must not remove what was kept for an hour.
    pub(super) fn note_gap(&mut self, back: Time) {
        let length = back.since(self.books.now);
        if self.books.epoch == 0 || length.nanos() < GAP_MIN.as_nanos() as u64 {
            return;
        }
        self.add_gap(back, length);
    }

    /// A time in which the coordinator was not there, or slept.
    pub(super) fn add_gap(&mut self, back: Time, length: Span) {
        let gaps = &mut self.books.gaps;
        gaps.push(Gap { back, length });
        if gaps.len() > GAPS_MAX {
            // Both as one at the later moment: what was over between them is kept for longer.
            let first = gaps.remove(0);
            let both = gaps[0].length.nanos().saturating_add(first.length.nanos());
            gaps[0].length = Span::from_nanos(both);
        }
    }

    /// When what is kept for so long is due to be removed of a job that was over then.
    pub(crate) fn kept_until(&self, ended: Time, kept_for: Span) -> Time {
        let gaps = self.books.gaps.iter().filter(|gap| gap.back > ended);
        gaps.fold(ended + kept_for, |until, gap| until + gap.length)
    }

    /// Between which moments, both included, those jobs were over of which what is kept for so long is due now.
    pub(crate) fn long_over(&self, now: Time, kept_for: Span) -> Vec<(Time, Time)> {
        let backs = self.books.gaps.iter().map(|gap| gap.back);
        let begins = std::iter::once(Time::ZERO).chain(backs.clone());
        let before = |back: Time| Time::from_nanos(back.nanos().saturating_sub(1));
        let ends = backs.map(before).chain([Time::NEVER]);
        let due = begins.zip(ends).filter_map(|(from, by)| {
            let counted = self.kept_until(from, kept_for).since(from);
            let last = now.nanos().checked_sub(counted.nanos()).map(Time::from_nanos)?;
            Some((from, by.min(last))).filter(|(from, by)| from <= by)
        });
        due.collect()
    }

    fn now_past(&self) -> Past {
        Past { upto: Seq::new(self.books.rows), ..Past::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Entry, Fact};
    use gleaner_wire::Lineage;

    const DAY: u64 = 86_400_000_000_000;

    fn started(ledger: &mut Ledger, day: u64) {
        let (epoch, lineage) = (ledger.epoch() + 1, Lineage::of(day.to_le_bytes()));
        let fact =
            Fact::CoordinatorStarted { epoch, lineage, program: "test".to_owned(), seed: day, policy: None };
        ledger.apply(&Entry { at: Time::from_nanos(day * DAY), fact });
    }

    /// A clock 400 days ahead, a week's holidays, and starts that follow each other closely.
    #[test]
    fn what_no_row_tells_of_does_not_count() {
        let mut ledger = Ledger::new();
        for day in [100, 101, 501, 502, 509, 510] {
            started(&mut ledger, day);
        }
        let at = |day: u64| Time::from_nanos(day * DAY);
        let month = Span::from_nanos(30 * DAY);
        let until = |day| ledger.kept_until(at(day), month);
        assert_eq!(
            [100, 101, 501, 502, 509, 510].map(until),
            [537, 538, 538, 539, 539, 540].map(at),
            "as many days as the coordinator was there"
        );
        for now in 100..700 {
            let over = ledger.long_over(at(now), month);
            for ended in 100..700 {
                let is_due = over.iter().any(|(from, by)| (*from..=*by).contains(&at(ended)));
                assert_eq!(
                    is_due,
                    until(ended) <= at(now),
                    "over on day {ended}, looked at on day {now}: {over:?}"
                );
            }
        }
    }

    #[test]
    fn what_its_machine_slept_through_does_not_count() {
        let mut ledger = Ledger::new();
        started(&mut ledger, 100);
        let at = |day: u64| Time::from_nanos(day * DAY);
        let (month, length) = (Span::from_nanos(30 * DAY), Span::from_nanos(31 * DAY));
        ledger.apply(&Entry { at: at(132), fact: Fact::CoordinatorSlept { length } });
        assert_eq!([100, 132].map(|day| ledger.kept_until(at(day), month)), [161, 162].map(at));
        let over = ledger.long_over(at(160), month);
        assert!(over.iter().all(|(_, by)| *by < at(100)), "nothing is due yet: {over:?}");
    }

    #[test]
    fn a_gap_is_so_long_at_least() {
        let least = GAP_MIN.as_nanos() as u64;
        for (length, gaps) in [(least - 1, 0), (least, 1)] {
            let mut ledger = Ledger::new();
            for (epoch, at) in [(1, 0), (2, length)] {
                let (lineage, program) = (Lineage::of([epoch; 8]), "test".to_owned());
                let fact =
                    Fact::CoordinatorStarted { epoch: epoch.into(), lineage, program, seed: 1, policy: None };
                ledger.apply(&Entry { at: Time::from_nanos(at), fact });
            }
            assert_eq!(ledger.books.gaps.len(), gaps, "{length}");
            let lineage = Lineage::of([3; 8]);
            let at = ledger.now() + Span::from_nanos(length);
            ledger.apply(&Entry { at, fact: Fact::JournalRestored { lineage } });
            assert_eq!(ledger.books.gaps.len(), 2 * gaps, "{length} before it was put back");
        }
    }

    #[test]
    fn of_many_gaps_the_first_are_one() {
        let mut ledger = Ledger::new();
        for start in 0..=2 * GAPS_MAX as u64 {
            started(&mut ledger, 1 + start * 10);
        }
        assert_eq!(ledger.books.gaps.len(), GAPS_MAX);
        let until = ledger.kept_until(Time::from_nanos(DAY), Span::ZERO);
        assert_eq!(until, ledger.now(), "none of them counts");
    }
}
