//! Tasks that are over leave memory, those first that were over first, and a job with the last of its tasks: the store
//! keeps them, to be asked for.
//!
//! **What is known of retired tasks here is that they are over, and how.** So what is said of their runs is as stale as
//! before, and all that is known of them is in what [`Ledger::take_past`] hands out beside the fact: it follows from the facts, as
//! the ledger does.
//!
//! A policy that learns from what ran needs the scheduler's tasks as they were: while one is in force, the scheduler forgets
//! none.

use super::{Job, Ledger, Record};
use crate::limits::{OVER_DESCRIPTION_BYTES_MAX, RETIRED_AT_ONCE};
use crate::store::{FoundJob, Past, PastJob, PastReader, PastTask, ReadError, Seq, TaskRange};
use gleaner_core::{Event, Stage};
use gleaner_units::{Ops, Span, TaskId, Time};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{BlobHash, JobId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A task that is retired, as the store has it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RetiredTask {
    /// What was known of it.
    pub record: Record,
    /// How many runs it was given.
    pub runs: u32,
    /// How long it is, in the scheduler's operations, if anybody said so.
    pub length: Option<f64>,
}

impl RetiredTask {
    /// The task, if it ever was retired.
    pub fn find(past: &dyn PastReader, task: TaskId) -> Result<Option<Self>, ReadError> {
        past.past_task(task)?.map(|body| unpacked(&body)).transpose()
    }

    /// The task as it was retired where the journal begins.
    pub fn find_at_base(past: &dyn PastReader, task: TaskId) -> Result<Option<Self>, ReadError> {
        let found = past.base_tasks(task, 1)?.into_iter().find(|found| found.task == task);
        found.map(|found| unpacked(&found.body)).transpose()
    }

    /// Those of some tasks that ever were, in order, `at_most` of them.
    pub fn find_all(
        past: &dyn PastReader,
        range: TaskRange,
        at_most: usize,
    ) -> Result<Vec<(TaskId, Self)>, ReadError> {
        let found = past.past_tasks(range, at_most)?.into_iter();
        found.map(|(task, body)| Ok((task, unpacked(&body)?))).collect()
    }
}

impl Job {
    /// The job, if it is retired.
    pub fn find_past(past: &dyn PastReader, id: JobId) -> Result<Option<Self>, ReadError> {
        past.past_job(id)?.map(|found| Self::of_found(&found)).transpose()
    }

    /// The same without what is long: of what was asked for there is command, name and label.
    pub fn find_listed(past: &dyn PastReader, id: JobId) -> Result<Option<Self>, ReadError> {
        past.past_job_listed(id)?.map(|found| Self::of_listed(&found)).transpose()
    }

    /// Likewise the retired job that a user submitted under a key.
    pub fn find_listed_with_key(
        past: &dyn PastReader,
        user: &str,
        key: &str,
    ) -> Result<Option<(JobId, Self)>, ReadError> {
        let found = past.past_job_with_key(user, key)?;
        found.map(|found| Ok((found.job, Self::of_listed(&found)?))).transpose()
    }

    fn of_found(found: &FoundJob) -> Result<Self, ReadError> {
        Ok(Self { spec: unpacked(&found.spec)?, ..Self::of_listed(found)? })
    }

    /// Of what was asked for there is command, name and label.
    pub(super) fn of_listed(found: &FoundJob) -> Result<Self, ReadError> {
        let FoundJob { results, bytes, removed, ref body, .. } = *found;
        Ok(Self { results, bytes, removed, ..unpacked(body)? })
    }

    fn to_list(&self) -> Self {
        let JobSpec { command, name, label, .. } = &*self.spec;
        let (name, label) = (name.clone(), label.clone());
        Self {
            spec: Arc::new(JobSpec { name, label, ..JobSpec::new(command.iter().map(String::as_str)) }),
            ..self.clone()
        }
    }
}

impl Ledger {
    /// The tasks that are to be retired next: those over since `since`, as far as they are more than `most` or long over, or their jobs'
    /// descriptions take too much memory. None of which anything is still to be heard.
    pub fn due_to_retire(&self, now: Time, since: Time, (most, after): (u64, Span)) -> Vec<TaskRange> {
        let long_ago = Time::from_nanos(now.nanos().saturating_sub(after.nanos()));
        let over = &self.books.over;
        let surplus = over.count().saturating_sub(most);
        let is_too_much = self.books.descriptions.over() > OVER_DESCRIPTION_BYTES_MAX;
        let mut due = Vec::new();
        let mut count = 0;
        for (ended, tasks) in over.before(since) {
            let is_due = is_too_much || ended <= long_ago;
            let most = RETIRED_AT_ONCE.min(if is_due { u64::MAX } else { surplus }).saturating_sub(count);
            if most == 0 {
                break;
            }
            let last = TaskId::new(tasks.last().index().min(tasks.first().index() + most as usize - 1));
            let tasks = TaskRange::between(tasks.first(), last).expect("it has its first task");
            // Whoever cancelled a task does not wait for a machine that may never come back.
            let is_settled =
                |task: &TaskId| self.grid().runs_of(*task).all(|run| run.stage() == Stage::Missing);
            let settled = tasks.tasks().filter(is_settled);
            let before = due.len();
            due.extend(settled.map(TaskRange::one));
            count += (due.len() - before) as u64;
        }
        TaskRange::merged(due)
    }

    pub(super) fn is_listed_as_over(&self, task: TaskId) -> bool {
        self.record(task).ended.is_some_and(|ended| self.books.over.has(ended, task))
    }

    /// What left memory since the last call, for the store.
    pub fn take_past(&mut self) -> Option<Past> {
        self.past.take()
    }

    /// The last row by which anything left memory, or came back.
    pub fn past_at(&self) -> Seq {
        Seq::new(self.books.past_at)
    }

    /// Whether the store has what is to be known of a task.
    pub fn is_retired(&self, task: TaskId) -> bool {
        task.index() < self.task_count() && self.record(task).is_retired
    }

    pub(super) fn retire(&mut self, at: Time, ranges: &[TaskRange]) {
        let mut past = Past { upto: Seq::new(self.books.rows), ..Past::default() };
        for range in ranges {
            let mut rest = Some(*range);
            while let Some(tasks) = rest {
                let (id, job) = self.job_of(tasks.first());
                let of_job = TaskRange::between(tasks.first(), tasks.last().min(job.range().last()));
                let stretch = self.books.records.alike_from(of_job.expect("it has its first task"));
                let record = self.record(stretch.first()).clone();
                past.tasks.extend(stretch.tasks().map(|task| self.as_past(task, &record)));
                let ended = record.ended.expect("what is over ended");
                self.books.over.remove(ended, stretch);
                self.books.records.retire(stretch, record.phase);
                if !self.recipe().lengths.is_learnt() {
                    let (first, count) = (stretch.first(), stretch.count());
                    self.tell(at, &Event::TasksRetired { first, count });
                    self.forget_orders(stretch);
                }
                if self.is_last_of(id, stretch.count()) {
                    past.jobs.extend(self.retire_job(at, id));
                }
                rest = stretch.behind_within(*range);
            }
        }
        self.left(past);
    }

    /// The scheduler forgets what it had to know for a policy that learnt from it.
    pub(super) fn forget_what_was_learnt_from(&mut self, at: Time) {
        let Some(last) = self.task_count().checked_sub(1) else { return };
        let all = TaskRange::between(TaskId::new(0), TaskId::new(last)).expect("in order");
        let retired = self.stretches(all).filter(|(_, record)| record.is_retired);
        let retired: Vec<TaskRange> = retired.map(|(tasks, _)| tasks).collect();
        for tasks in retired {
            self.tell(at, &Event::TasksRetired { first: tasks.first(), count: tasks.count() });
            self.forget_orders(tasks);
        }
    }

    fn as_past(&self, task: TaskId, record: &Record) -> PastTask {
        let runs = self.grid().task(task).runs();
        let length = self.grid().declared_length(task).map(Ops::amount);
        let left = record.last.as_ref().and_then(|last| last.files.as_ref());
        let files = left.into_iter().chain(&record.checkpoint).map(|stored| stored.blob);
        let body = RetiredTask { record: record.clone(), runs, length };
        PastTask { task, files: files.collect(), body: packed(&body) }
    }

    /// So many tasks more of a job are retired; whether they were the last.
    fn is_last_of(&mut self, id: JobId, tasks: u32) -> bool {
        self.books.jobs.get_mut(id).is_some_and(|job| {
            job.retired += tasks;
            job.retired == job.count
        })
    }

    fn retire_job(&mut self, at: Time, id: JobId) -> Option<PastJob> {
        let job = self.books.jobs.remove(id)?;
        self.books.elsewhere.leave(id);
        self.books.descriptions.remove(id);
        self.leave_class(at, job.class);
        if let Some(key) = &job.key {
            self.books.keys.remove(&(job.user.clone(), key.clone()));
        }
        self.named.remove(self.books.payers[&job.user], &job);
        let files: Vec<BlobHash> = job.spec.files().copied().collect();
        Some(PastJob {
            job: id,
            user: job.user.clone(),
            key: job.key.clone(),
            state: job.tally.state(),
            ended: job.ended.unwrap_or(self.books.now),
            files,
            results: job.results,
            bytes: job.bytes,
            removed: job.removed,
            body: packed(&job.to_list()),
            spec: packed(&job.spec),
        })
    }

    pub(super) fn left(&mut self, past: Past) {
        self.books.past_at = self.books.rows;
        self.past = Some(match self.past.take() {
            Some(earlier) => earlier.and(past),
            None => past,
        });
    }
}

fn unpacked<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    postcard::from_bytes(body).map_err(|error| ReadError::Past { why: error.to_string() })
}

/// As the store keeps it.
fn packed(body: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(body).expect("plain data")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::desk::{Desk, Input, Start, Terms};
    use crate::journal::{Chosen, Entry, Fact, Last};
    use crate::ledger::record::UNTOUCHED;
    use crate::limits::{OVER_DESCRIPTION_BYTES_MAX, OVER_KEPT_MAX, RETIRE_AFTER};
    use crate::store::MemoryDisk;
    use gleaner_wire::Lineage;
    use gleaner_wire::api::{Actor, TaskPhase};
    use gleaner_wire::job::TaskList;
    use gleaner_wire::session::{Obstacle, Outcome};

    pub(in crate::ledger) const OVER_AT: Time = Time::from_nanos(1_000_000_000);

    /// A job of so many tasks, all of which are over.
    pub(in crate::ledger) fn over(tasks: u64) -> Ledger {
        let tasks = TaskList::Array { first: 1, last: tasks as u32, step: 1 };
        job_over(JobSpec { tasks, ..JobSpec::new(["true"]) })
    }

    fn job_over(spec: JobSpec) -> Ledger {
        let mut ledger = Ledger::new();
        let (job, spec) = (ledger.next_job(), Arc::new(spec));
        let user = "ada".to_owned();
        ledger.apply(&Entry {
            at: Time::ZERO,
            fact: Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 },
        });
        let chosen = Chosen { job, tasks: Vec::new(), by: Actor::Coordinator };
        ledger.apply(&Entry { at: OVER_AT, fact: Fact::TasksCancelled(chosen) });
        ledger
    }

    fn due(ledger: &Ledger, now: Time, terms: (u64, Span)) -> u64 {
        let due = ledger.due_to_retire(now, Time::NEVER, terms);
        due.iter().map(|tasks| u64::from(tasks.count())).sum()
    }

    /// The form in which the store and snapshots have it says no field's name, so none may be left out where it is written.
    #[test]
    fn whatever_a_run_came_to_is_read_as_it_was_written() {
        let why = || "no such program".to_owned();
        for outcome in [
            Outcome::Exited { code: 1 },
            Outcome::Signalled { signal: 9 },
            Outcome::Stopped,
            Outcome::TimedOut,
            Outcome::OverLimit { what: why() },
            Outcome::Abandoned { why: why() },
            Outcome::NotStarted { why: why(), obstacle: Obstacle::NotThere },
            Outcome::NotStarted { why: why(), obstacle: Obstacle::Machine },
        ] {
            let last = Some(Box::new(Last::nothing(outcome)));
            let record = Record { phase: TaskPhase::Failed, last, ..UNTOUCHED };
            let task = RetiredTask { record, runs: 3, length: None };
            assert_eq!(unpacked::<RetiredTask>(&packed(&task)).expect("as it was written"), task);
        }
    }

    #[test]
    fn nothing_leaves_memory_while_the_disk_is_full() {
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let terms = Terms { over_max: 0, ..Terms::default() };
        let (disk, mut now) = (MemoryDisk::default(), OVER_AT);
        let mut desk = Desk::new(over(10), terms, now, start);
        for (is_full, expected) in [(true, 0), (true, 0), (false, 1)] {
            desk.set_full(is_full);
            now = now.after_seconds(10.0);
            desk.handle(now, Input::Tick, &disk).expect("memory can be read");
            let recorded = desk.settle(now).recorded;
            let left =
                recorded.iter().filter(|recorded| matches!(recorded.entry.fact, Fact::TasksRetired(_)));
            assert_eq!(left.count(), expected, "a full disk: {is_full}");
        }
    }

    #[test]
    fn so_many_tasks_leave_memory_by_one_fact() {
        for (tasks, expected) in [(RETIRED_AT_ONCE, RETIRED_AT_ONCE), (RETIRED_AT_ONCE + 1, RETIRED_AT_ONCE)]
        {
            assert_eq!(due(&over(tasks), Time::NEVER, (0, Span::ZERO)), expected, "of {tasks}");
        }
    }

    #[test]
    fn large_jobs_that_are_over_leave_memory_at_once() {
        let terms = (OVER_KEPT_MAX, Span::from_nanos(u64::MAX));
        let with = |name: usize| JobSpec { name: "x".repeat(name), ..JobSpec::new(["true"]) };
        let room = OVER_DESCRIPTION_BYTES_MAX - with(0).memory_bytes();
        for (name, expected) in [(room - 16, 0), (room + 16, 1)] {
            let mut ledger = job_over(with(name as usize));
            assert_eq!(due(&ledger, OVER_AT, terms), expected, "a name of {name} bytes");
            let due = ledger.due_to_retire(Time::NEVER, Time::NEVER, (0, Span::ZERO));
            ledger.apply(&Entry { at: OVER_AT, fact: Fact::TasksRetired(due) });
            ledger.check().expect("what left memory takes nothing");
        }
    }

    #[test]
    fn so_many_tasks_that_are_over_stay_in_memory() {
        let terms = Terms::default();
        let kept = (terms.over_max, terms.keeping.in_memory());
        let hour = Span::from_nanos(RETIRE_AFTER.as_nanos() as u64);
        for (tasks, now, expected) in [
            (OVER_KEPT_MAX, OVER_AT, 0),
            (OVER_KEPT_MAX + 1, OVER_AT, 1),
            (1, OVER_AT + Span::from_nanos(hour.nanos() - 1), 0),
            (1, OVER_AT + hour, 1),
        ] {
            assert_eq!(due(&over(tasks), now, kept), expected, "of {tasks} at {now}");
        }
    }
}
