//! What work on borrowed workers was worth, job by job, as the borrower can know it.

use gleaner_units::{PartyId, Span, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Times of runs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Times {
    nanos: u64,
    runs: u32,
}

impl Times {
    fn add(&mut self, took: Span) {
        self.nanos = self.nanos.saturating_add(took.nanos());
        self.runs += 1;
    }

    fn mean(self) -> f64 {
        self.nanos as f64 / f64::from(self.runs)
    }
}

/// What each lender's part of a job was worth: its workers' time, made comparable by how much longer runs of the same job took
/// on one's own workers; where none did, as it is. A lender that is slow on purpose gains nothing.
pub fn worth(local: &[Span], remote: &[(PartyId, Span)]) -> Vec<(PartyId, Span)> {
    let mut job = OpenJob::default();
    for took in local {
        job.local.add(*took);
    }
    for (lender, took) in remote {
        job.remote(*lender, *took);
    }
    job.worth()
}

/// A job of which tasks are left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct OpenJob {
    pub(super) submitted: Time,
    pub(super) left: u32,
    /// What its peer calls the first of its tasks; the others follow on it.
    pub(super) first: TaskId,
    local: Times,
    remote: Times,
    by_lender: BTreeMap<PartyId, u64>,
}

impl OpenJob {
    pub(super) fn new(submitted: Time, (first, tasks): (TaskId, u32)) -> Self {
        Self { submitted, first, left: tasks, ..Self::default() }
    }

    pub(super) fn local(&mut self, took: Span) {
        self.local.add(took);
    }

    pub(super) fn remote(&mut self, lender: PartyId, took: Span) {
        self.remote.add(took);
        let sum = self.by_lender.entry(lender).or_default();
        *sum = sum.saturating_add(took.nanos());
    }

    /// See [`worth`].
    pub(super) fn worth(&self) -> Vec<(PartyId, Span)> {
        let both = self.local.runs > 0 && self.remote.nanos > 0;
        let power = if both { self.local.mean() / self.remote.mean() } else { 1.0 };
        let worth = |nanos: u64| Span::from_nanos((nanos as f64 * power).round() as u64);
        self.by_lender.iter().map(|(lender, nanos)| (*lender, worth(*nanos))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Span {
        Span::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_remote_run_is_worth_what_it_would_have_taken_at_home() {
        let lender = PartyId::new(3);
        let remote = [(lender, seconds(60)), (lender, seconds(60))];
        assert_eq!(worth(&[seconds(100), seconds(140)], &remote), [(lender, seconds(240))]);
        assert_eq!(worth(&[], &remote), [(lender, seconds(120))], "as it is, where nothing ran at home");
        assert_eq!(worth(&[seconds(5)], &[(lender, Span::ZERO)]), [(lender, Span::ZERO)]);
        let other = PartyId::new(4);
        assert_eq!(
            worth(&[seconds(90)], &[(lender, seconds(20)), (other, seconds(40))]),
            [(lender, seconds(60)), (other, seconds(120))],
            "by its part of the remote time"
        );
    }
}
