//! How long tasks waited for their first start, by user and by label, since the coordinator started: for Prometheus.

use crate::ledger::Job;
use crate::limits::{LABELS_MEASURED, USERS_MEASURED};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use std::collections::BTreeSet;

/// From a second to a week.
const BUCKETS_S: [f64; 9] = [1.0, 10.0, 60.0, 300.0, 1_800.0, 7_200.0, 28_800.0, 86_400.0, 604_800.0];
/// Who came after there was a series for as many as there may be.
const OTHERS: &str = "(others)";

/// Names the series of a user.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub struct OfUser {
    user: String,
}

/// Names the series of a label.
#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
pub struct OfLabel {
    label: String,
}

/// See the module. A copy goes on with the same numbers.
#[derive(Clone, Debug)]
pub struct Waits {
    /// Of each user's tasks.
    pub by_user: Family<OfUser, Histogram>,
    /// Of tasks with each label.
    pub by_label: Family<OfLabel, Histogram>,
    users: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl Default for Waits {
    fn default() -> Self {
        let new = (|| Histogram::new(BUCKETS_S)) as fn() -> Histogram;
        Self {
            by_user: Family::new_with_constructor(new),
            by_label: Family::new_with_constructor(new),
            users: BTreeSet::new(),
            labels: BTreeSet::new(),
        }
    }
}

impl Waits {
    pub(super) fn add(&mut self, job: &Job, wait_s: f64) {
        let user = called(&mut self.users, &job.user, USERS_MEASURED);
        self.by_user.get_or_create(&OfUser { user }).observe(wait_s);
        if let Some(label) = &job.spec.label {
            let label = called(&mut self.labels, label, LABELS_MEASURED);
            self.by_label.get_or_create(&OfLabel { label }).observe(wait_s);
        }
    }
}

/// As it is called, if it is one of the first so many.
fn called(known: &mut BTreeSet<String>, name: &str, most: usize) -> String {
    if known.contains(name) {
        return name.to_owned();
    }
    if known.len() == most {
        return OTHERS.to_owned();
    }
    known.insert(name.to_owned());
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Entry, Fact};
    use crate::ledger::Ledger;
    use gleaner_units::Time;
    use gleaner_wire::job::JobSpec;
    use std::sync::Arc;

    #[test]
    fn so_many_users_and_labels_have_a_series_of_their_own() {
        let (mut ledger, mut waits) = (Ledger::new(), Waits::default());
        let mut wait = |number: usize| {
            let (job, user) = (ledger.next_job(), format!("user{number}"));
            let spec = Arc::new(JobSpec { label: Some(format!("label{number}")), ..JobSpec::new(["true"]) });
            ledger.apply(&Entry {
                at: Time::ZERO,
                fact: Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 },
            });
            waits.add(ledger.find_job(job).expect("a job"), 1.0);
            (waits.users.len(), waits.labels.len())
        };
        for number in 1..USERS_MEASURED.max(LABELS_MEASURED) {
            wait(number);
        }
        assert_eq!(wait(0), (USERS_MEASURED, LABELS_MEASURED));
        assert_eq!(wait(1_000), (USERS_MEASURED, LABELS_MEASURED));
        let others = OfUser { user: OTHERS.to_owned() };
        assert!(
            waits.by_user.get(&others).is_some()
                && waits.by_label.get(&OfLabel { label: OTHERS.to_owned() }).is_some()
        );
    }

    #[test]
    fn those_who_come_late_are_counted_together() {
        let mut known = BTreeSet::new();
        let names = ["ada", "ben", "cy", "ada", "dee"].map(|name| called(&mut known, name, 2));
        assert_eq!(names, ["ada", "ben", OTHERS, "ada", OTHERS]);
    }
}
