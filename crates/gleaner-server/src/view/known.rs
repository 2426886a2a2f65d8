//! The one door to jobs and tasks for whoever looks: what lives is in memory, what is over may be in the store, and nobody
//! who asks has to know which.

use super::fetched::{Fetched, Unread};
use crate::desk::Desk;
use crate::ledger::{Job, Ledger, Record, RetiredTask};
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::borrow::Cow;

/// What is known at a moment. **What left memory is not read here**: where it was not fetched before, the look says so, and is done
/// again once it was.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    desk: &'a Desk,
    fetched: &'a Fetched,
}

/// A task.
#[derive(Clone, Debug)]
pub struct KnownTask<'a> {
    /// The task's number.
    pub id: TaskId,
    /// All that is known of it.
    pub record: Cow<'a, Record>,
    /// How many runs it was given.
    pub runs: u32,
    /// How long it is, in the scheduler's operations, if anybody said so.
    pub length: Option<f64>,
}

impl<'a> Known<'a> {
    /// In memory, and fetched from the store.
    pub fn new(desk: &'a Desk, fetched: &'a Fetched) -> Self {
        Self { desk, fetched }
    }

    /// What lives.
    pub fn desk(&self) -> &'a Desk {
        self.desk
    }

    /// The same.
    pub fn ledger(&self) -> &'a Ledger {
        self.desk.ledger()
    }

    /// A job, if there is one of that number. What was asked for with it may be long, and is read too.
    pub fn job(&self, id: JobId) -> Result<Option<Cow<'a, Job>>, Unread> {
        self.found(id, Fetched::job)
    }

    /// A job, if there is one of that number; of what was asked for with a retired one there is command, name and label.
    pub fn listed(&self, id: JobId) -> Result<Option<Cow<'a, Job>>, Unread> {
        self.found(id, Fetched::listed)
    }

    fn found(
        &self,
        id: JobId,
        retired: impl FnOnce(&'a Fetched, JobId) -> Result<Option<&'a Job>, Unread>,
    ) -> Result<Option<Cow<'a, Job>>, Unread> {
        if let Some(job) = self.ledger().find_job(id) {
            return Ok(Some(Cow::Borrowed(job)));
        }
        if id >= self.ledger().next_job() {
            return Ok(None);
        }
        Ok(retired(self.fetched, id)?.map(Cow::Borrowed))
    }

    /// A task that some job has.
    pub fn task(&self, id: TaskId) -> Result<KnownTask<'a>, Unread> {
        if self.ledger().is_retired(id)
            && let Some(retired) = self.fetched.task(id)?
        {
            return Ok(KnownTask::retired(id, retired));
        }
        Ok(KnownTask::living(self.ledger(), id))
    }
}

impl<'a> KnownTask<'a> {
    pub(super) fn living(ledger: &'a Ledger, id: TaskId) -> Self {
        Self {
            id,
            record: Cow::Borrowed(ledger.record(id)),
            runs: ledger.grid().task(id).runs(),
            length: ledger.grid().declared_length(id).map(gleaner_units::Ops::amount),
        }
    }

    pub(super) fn retired(id: TaskId, retired: &'a RetiredTask) -> Self {
        let RetiredTask { ref record, runs, length } = *retired;
        Self { id, record: Cow::Borrowed(record), runs, length }
    }
}
