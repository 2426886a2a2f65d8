//! What left memory and a look at the desk needs: it is read in the store before the look, so that the desk's thread does not wait
//! for the disk.

use crate::ledger::{Job, RetiredTask};
use crate::store::{PastReader, ReadError};
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use std::collections::BTreeMap;

/// A look came to something that left memory and was not read yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unread {
    /// A job, with all that was asked for, which may be long.
    Job(JobId),
    /// A job: of what was asked for, command, name and label.
    Listed(JobId),
    /// A task.
    Task(TaskId),
}

/// What was read for a look, and what was looked for and is not in the store.
#[derive(Debug, Default)]
pub struct Fetched {
    jobs: BTreeMap<JobId, Option<Job>>,
    listed: BTreeMap<JobId, Option<Job>>,
    tasks: BTreeMap<TaskId, Option<RetiredTask>>,
}

impl Fetched {
    /// Reads what a look came to.
    pub fn fetch(&mut self, past: &dyn PastReader, unread: Unread) -> Result<(), ReadError> {
        match unread {
            Unread::Job(id) => drop(self.jobs.insert(id, Job::find_past(past, id)?)),
            Unread::Listed(id) => drop(self.listed.insert(id, Job::find_listed(past, id)?)),
            Unread::Task(id) => drop(self.tasks.insert(id, RetiredTask::find(past, id)?)),
        }
        Ok(())
    }

    pub(super) fn job(&self, id: JobId) -> Result<Option<&Job>, Unread> {
        self.jobs.get(&id).map(Option::as_ref).ok_or(Unread::Job(id))
    }

    pub(super) fn listed(&self, id: JobId) -> Result<Option<&Job>, Unread> {
        self.listed.get(&id).map(Option::as_ref).ok_or(Unread::Listed(id))
    }

    pub(super) fn task(&self, id: TaskId) -> Result<Option<&RetiredTask>, Unread> {
        self.tasks.get(&id).map(Option::as_ref).ok_or(Unread::Task(id))
    }
}
