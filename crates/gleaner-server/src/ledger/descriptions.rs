//! What descriptions of jobs take in memory: of each user's that are not over, and of all that are.

use super::Ledger;
use gleaner_wire::JobId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Descriptions {
    /// Of each job in memory.
    jobs: BTreeMap<JobId, u64>,
    /// Of each user's jobs that are not over.
    open: BTreeMap<String, u64>,
    /// Of all that are.
    over: u64,
}

impl Descriptions {
    /// A job came to memory, and is over.
    pub(super) fn add(&mut self, job: JobId, bytes: u64) {
        self.jobs.insert(job, bytes);
        self.over += bytes;
    }

    /// A job that is over left memory.
    pub(super) fn remove(&mut self, job: JobId) {
        self.over -= self.jobs.remove(&job).expect("it was added");
    }

    /// A job is not over any more.
    pub(super) fn open(&mut self, job: JobId, user: &str) {
        let bytes = self.jobs[&job];
        self.over -= bytes;
        *self.open.entry(user.to_owned()).or_default() += bytes;
    }

    /// A job is over.
    pub(super) fn close(&mut self, job: JobId, user: &str) {
        let bytes = self.jobs[&job];
        self.over += bytes;
        let of_user = self.open.get_mut(user).expect("it was counted");
        *of_user -= bytes;
        if *of_user == 0 {
            self.open.remove(user);
        }
    }

    /// Those of all jobs that are over.
    pub(super) fn over(&self) -> u64 {
        self.over
    }
}

impl Ledger {
    /// What descriptions of a user's jobs that are not over take in memory.
    pub fn description_bytes_of(&self, user: &str) -> u64 {
        self.books.descriptions.open.get(user).copied().unwrap_or(0)
    }

    /// What does not fit together. Costs O(all descriptions).
    pub(super) fn check_descriptions(&self) -> Result<(), String> {
        let mut expected = Descriptions::default();
        for (id, job) in self.jobs() {
            expected.add(id, job.spec.memory_bytes());
            if job.tally.open() > 0 {
                expected.open(id, &job.user);
            }
        }
        let counted = &self.books.descriptions;
        if *counted == expected { Ok(()) } else { Err(format!("descriptions take {expected:?}, not {counted:?}")) }
    }
}
