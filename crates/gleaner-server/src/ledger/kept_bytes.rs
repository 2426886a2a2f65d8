//! How many bytes are kept for each user: files that their jobs read, files and checkpoints that their tasks left, and output; and long
//! descriptions of their jobs, which stay when results are removed.

use super::Ledger;
use gleaner_units::{RunId, TaskId};
use gleaner_wire::limits::{BLOB_BYTES_MAX, OUTPUT_BYTES_MAX};
use gleaner_wire::session::{End, Stored};
use gleaner_wire::{BlobHash, JobId};
use std::collections::{BTreeMap, BTreeSet};

impl Ledger {
    /// How many bytes are kept for a user.
    pub fn bytes_of(&self, user: &str) -> u64 {
        self.books.bytes.get(user).copied().unwrap_or(0)
    }

    /// What descriptions of a user's jobs that are not over take in memory.
    pub fn description_bytes_of(&self, user: &str) -> u64 {
        self.books.descriptions.of(user)
    }

    /// How many cores the runs of a user take.
    pub fn cores_of(&self, user: &str) -> u64 {
        self.books.payers.get(user).map_or(0, |&payer| self.grid().cores_taken(payer))
    }

    /// How much the files of a run would be above the quota of its user, if they were kept, and the quota.
    pub(crate) fn bytes_above_quota(&self, run: RunId, end: &End) -> Option<(u64, u64)> {
        let files = end.files.as_ref()?;
        // The same file as that of an answer that is kept takes no more room.
        if self.compared_files(run.task).any(|kept| kept.blob == files.blob) {
            return None;
        }
        let user = &self.job_of(run.task).1.user;
        let most = self.people().quota(user).bytes;
        let others = self.bytes_of(user).saturating_sub(self.bytes_replaced_by(run));
        let above = (others + size(files)).saturating_sub(most);
        (above > 0).then_some((above, most))
    }

    /// How many bytes of files these runs of a user may leave within the quota. What a run's files take the place of is not counted, nor
    /// what they may be the same as.
    pub(crate) fn bytes_left_for(&self, user: &str, runs: &BTreeSet<RunId>) -> u64 {
        let left = self.people().quota(user).bytes.saturating_sub(self.bytes_of(user));
        let there = runs.iter().map(|&run| self.bytes_there_for(run));
        there.fold(left, u64::saturating_add)
    }

    /// What files of a run may have without more being kept: as much as they take the place of, or as an answer that is kept, if they are
    /// the same.
    fn bytes_there_for(&self, run: RunId) -> u64 {
        let largest = self.compared_files(run.task).map(size).max();
        self.bytes_replaced_by(run).max(largest.unwrap_or(0))
    }

    fn bytes_replaced_by(&self, run: RunId) -> u64 {
        let files = self.record(run.task).last.as_ref().and_then(|last| last.files.as_ref());
        let is_kept = |files: &&Stored| self.compared_files(run.task).any(|kept| kept.blob == files.blob);
        files.filter(|files| !is_kept(files)).map_or(0, size)
    }

    /// The files of the answers to a task that are kept to be compared by its user's program.
    fn compared_files(&self, task: TaskId) -> impl Iterator<Item = &Stored> {
        let answers = self.books.answers.get(&task).into_iter().flat_map(BTreeMap::values);
        answers.filter_map(|last| last.files.as_ref())
    }

    /// How many bytes these take beside what the task left.
    pub(super) fn compared_beside(&self, task: TaskId) -> u64 {
        let own = self.record(task).last.as_ref().and_then(|last| last.files.as_ref());
        let mut seen: BTreeSet<&BlobHash> = own.map(|files| &files.blob).into_iter().collect();
        self.compared_files(task).filter(|files| seen.insert(&files.blob)).map(size).sum()
    }

    /// What a task has left that its next run may replace, and what is kept beside it to be compared.
    pub(super) fn left_by(&self, task: TaskId) -> u64 {
        left(self.record(task)) + self.compared_beside(task)
    }

    /// More is kept for a user.
    pub(super) fn keep_bytes(&mut self, user: &str, bytes: u64) {
        if bytes > 0 {
            let kept = self.books.bytes.entry(user.to_owned()).or_default();
            *kept = kept.saturating_add(bytes);
        }
    }

    /// Less is kept for a user.
    pub(super) fn drop_bytes(&mut self, user: &str, bytes: u64) {
        if let Some(kept) = self.books.bytes.get_mut(user) {
            *kept -= bytes.min(*kept);
        }
    }

    /// Something else is kept of a job instead of what was.
    pub(super) fn replace_bytes(&mut self, id: JobId, before: u64, now: u64) {
        let Some(job) = self.books.jobs.get_mut(id) else { return };
        let before = before.min(job.bytes);
        job.bytes = (job.bytes - before).saturating_add(now);
        let user = job.user.clone();
        self.drop_bytes(&user, before);
        self.keep_bytes(&user, now);
    }
}

/// What a task has left that its next run may replace.
pub(super) fn left(record: &super::Record) -> u64 {
    let files = record.last.as_ref().and_then(|last| last.files.as_ref());
    record.checkpoint.iter().chain(files).map(size).sum()
}

/// What a run wrote to its two streams, as far as it is kept, whatever its agent said: an older journal may have more.
pub(super) fn written(end: &End) -> u64 {
    [&end.stdout, &end.stderr]
        .map(|tail| tail.offset.saturating_add(tail.bytes.len() as u64).min(OUTPUT_BYTES_MAX))
        .into_iter()
        .sum()
}

/// Likewise.
fn size(stored: &Stored) -> u64 {
    stored.size.min(BLOB_BYTES_MAX)
}
