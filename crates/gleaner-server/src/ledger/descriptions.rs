//! What descriptions of jobs take in memory: of each user's that are not over, and of all that are.

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

    /// Those of a user's jobs that are not over.
    pub(super) fn of(&self, user: &str) -> u64 {
        self.open.get(user).copied().unwrap_or(0)
    }

    /// Those of all jobs that are over.
    pub(super) fn over(&self) -> u64 {
        self.over
    }
}
