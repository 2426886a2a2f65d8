//! How many jobs of which users read which files.

use super::job::Job;
use gleaner_units::UserId;
use gleaner_wire::BlobHash;
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Named(BTreeMap<(BlobHash, UserId), u32>);

impl Named {
    pub(super) fn add(&mut self, user: UserId, job: &Job) {
        for file in job.spec.files() {
            *self.0.entry((*file, user)).or_default() += 1;
        }
    }

    /// The job was added before.
    pub(super) fn remove(&mut self, user: UserId, job: &Job) {
        for file in job.spec.files() {
            let key = (*file, user);
            let count = self.0.get_mut(&key).expect("each job's files are named");
            *count -= 1;
            if *count == 0 {
                self.0.remove(&key);
            }
        }
    }

    pub(super) fn has(&self, user: UserId, file: &BlobHash) -> bool {
        self.0.contains_key(&(*file, user))
    }
}
