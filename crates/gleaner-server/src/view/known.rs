//! The one door to jobs and tasks for whoever looks: what lives is in memory, what is over may be in the store, and nobody
//! who asks has to know which.

use crate::desk::Desk;
use crate::ledger::{Job, Ledger, Record, RetiredTask};
use crate::store::{PastReader, ReadError, TaskRange, Wanted};
use gleaner_units::TaskId;
use gleaner_wire::JobId;
use gleaner_wire::api::JobState;
use std::borrow::Cow;

/// What is known at a moment.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    desk: &'a Desk,
    past: &'a dyn PastReader,
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
    /// In memory, and in the store.
    pub fn new(desk: &'a Desk, past: &'a dyn PastReader) -> Self {
        Self { desk, past }
    }

    /// What lives.
    pub fn desk(&self) -> &'a Desk {
        self.desk
    }

    /// The same.
    pub fn ledger(&self) -> &'a Ledger {
        self.desk.ledger()
    }

    /// A job, if there is one of that number.
    pub fn job(&self, id: JobId) -> Result<Option<Cow<'a, Job>>, ReadError> {
        match self.ledger().find_job(id) {
            Some(job) => Ok(Some(Cow::Borrowed(job))),
            None => Ok(Job::find_past(self.past, id)?.map(Cow::Owned)),
        }
    }

    /// The newest jobs of one user, or of all, to be listed: of what was asked for there is command, name and label.
    pub fn jobs(
        &self,
        user: Option<&str>,
        state: Option<JobState>,
        limit: usize,
    ) -> Result<Vec<(JobId, Cow<'a, Job>)>, ReadError> {
        let wanted = |job: &Job| {
            user.is_none_or(|user| job.user == user) && state.is_none_or(|state| job.tally.state() == state)
        };
        let living = self.ledger().jobs().filter(|(_, job)| wanted(job)).take(limit);
        let mut jobs: Vec<_> = living.map(|(id, job)| (id, Cow::Borrowed(job))).collect();
        let retired = Job::list_past(self.past, &Wanted { user: user.map(str::to_owned), state, limit })?;
        // A job that came back is not in the store any more, as soon as that is committed.
        let retired = retired.into_iter().filter(|(id, _)| self.ledger().find_job(*id).is_none());
        jobs.extend(retired.map(|(id, job)| (id, Cow::Owned(job))));
        jobs.sort_by_key(|(id, _)| std::cmp::Reverse(*id));
        jobs.truncate(limit);
        Ok(jobs)
    }

    /// A task that some job has.
    pub fn task(&self, id: TaskId) -> Result<KnownTask<'a>, ReadError> {
        if self.ledger().is_retired(id)
            && let Some(retired) = RetiredTask::find(self.past, id)?
        {
            return Ok(KnownTask::retired(id, retired));
        }
        Ok(self.living(id))
    }

    /// Tasks one after the other, each of which some job has.
    pub fn tasks(&self, range: TaskRange) -> Result<Vec<KnownTask<'a>>, ReadError> {
        let mut tasks = Vec::new();
        for (stretch, record) in self.ledger().stretches(range) {
            if record.is_retired() {
                let found = RetiredTask::find_all(self.past, stretch, stretch.count() as usize)?;
                tasks.extend(found.into_iter().map(|(id, retired)| KnownTask::retired(id, retired)));
            } else {
                tasks.extend(stretch.tasks().map(|id| self.living(id)));
            }
        }
        Ok(tasks)
    }

    fn living(&self, id: TaskId) -> KnownTask<'a> {
        let ledger = self.ledger();
        KnownTask {
            id,
            record: Cow::Borrowed(ledger.record(id)),
            runs: ledger.grid().task(id).runs(),
            length: ledger.grid().declared_length(id).map(gleaner_units::Ops::amount),
        }
    }
}

impl KnownTask<'_> {
    fn retired(id: TaskId, RetiredTask { record, runs, length }: RetiredTask) -> Self {
        Self { id, record: Cow::Owned(record), runs, length }
    }
}
