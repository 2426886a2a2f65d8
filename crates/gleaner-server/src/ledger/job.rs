//! The jobs, and which tasks are whose.

use crate::journal::RetiredJob;
use crate::store::{Removal, Results, TaskRange};
use gleaner_units::{TaskClassId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::JobSpec;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A job, as it was submitted and as it stands.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Whose.
    pub user: String,
    /// What.
    pub spec: Arc<JobSpec>,
    /// Its first task; the others follow.
    pub first: TaskId,
    /// How many tasks it has.
    pub count: u32,
    /// Of which class its tasks are.
    pub class: TaskClassId,
    /// When it was submitted.
    pub submitted: Time,
    /// How many tasks are in each phase.
    pub tally: Tally,
    /// When the last of its tasks was over.
    pub ended: Option<Time>,
    /// How long runs went on beside one that was faster, or were outvoted.
    pub wasted_s: f64,
    /// How long runs went on of which nothing is left for the next.
    pub lost_s: f64,
    /// Whether a run of it ever ended that had run.
    pub ever_ran: bool,
    /// What its user calls its submission.
    pub key: Option<String>,
    /// How many of its tasks are retired.
    pub retired: u32,
    /// How things stand with its results.
    pub results: Results,
    /// How many bytes of its user's are its.
    pub bytes: u64,
    /// When results of its runs until then were removed.
    pub removed: Option<Removal>,
    /// How many bytes of its user's its description takes besides.
    pub described: u64,
}

impl Job {
    /// Its tasks.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        let first = self.first.index();
        (first..first + self.count as usize).map(TaskId::new)
    }

    /// The same, by its ends.
    ///
    /// # Panics
    /// Never: a job without tasks is not recorded.
    pub fn range(&self) -> TaskRange {
        let last = TaskId::new(self.first.index() + self.count as usize - 1);
        TaskRange::between(self.first, last).expect("a job has tasks")
    }

    /// As it was retired: all its tasks are, and how they are is not said.
    pub(super) fn of_past(past: &RetiredJob) -> Self {
        let count = past.spec.tasks.count();
        let RetiredJob {
            user,
            spec,
            key,
            first,
            class,
            submitted,
            wasted_s,
            lost_s,
            ever_ran,
            results,
            bytes,
            removed,
            described,
        } = past.clone();
        let (tally, ended) = (Tally::default(), None);
        Self {
            user,
            spec,
            first,
            count,
            class,
            submitted,
            tally,
            ended,
            wasted_s,
            lost_s,
            ever_ran,
            key,
            retired: count,
            results,
            bytes,
            removed,
            described,
        }
    }

    /// What is to be said of it to have it back.
    pub(crate) fn to_past(&self) -> RetiredJob {
        RetiredJob {
            user: self.user.clone(),
            spec: Arc::clone(&self.spec),
            key: self.key.clone(),
            first: self.first,
            class: self.class,
            submitted: self.submitted,
            wasted_s: self.wasted_s,
            lost_s: self.lost_s,
            ever_ran: self.ever_ran,
            // What it will leave is there again.
            results: if self.results == Results::Kept { Results::Kept } else { Results::There },
            bytes: self.bytes,
            removed: self.removed,
            described: self.described,
        }
    }

    /// When results of a task were removed that was over at a moment, if they were.
    pub fn removed_since(&self, ended: Option<Time>) -> Option<Removal> {
        self.removed.filter(|removed| ended.is_some_and(|ended| ended <= removed.at))
    }

    /// The place of one of its tasks, counted from 0.
    pub fn position(&self, task: TaskId) -> u32 {
        (task.index() - self.first.index()) as u32
    }

    /// What its users call one of its tasks.
    pub fn number(&self, task: TaskId) -> u32 {
        self.spec.tasks.number(self.position(task))
    }

    /// The task that its users call so.
    pub fn task(&self, number: u32) -> Option<TaskId> {
        let position = self.spec.tasks.position(number)?;
        Some(TaskId::new(self.first.index() + position as usize))
    }

    /// That it has no task of that number, and which it has. Its description is all here.
    pub fn has_no_task(&self, id: JobId, number: u32) -> String {
        format!("job {id} has no task {number}; {}", self.spec.tasks.numbers_told())
    }

    pub(super) fn count_change(&mut self, at: Time, tasks: u32, from: TaskPhase, to: TaskPhase) {
        count(&mut self.tally, tasks, from, to);
        self.ended = (self.tally.open() == 0).then_some(at);
    }
}

/// So many tasks fewer in one phase and more in another.
pub(super) fn count(tally: &mut Tally, tasks: u32, from: TaskPhase, to: TaskPhase) {
    *place(tally, from) -= tasks;
    *place(tally, to) += tasks;
}

fn place(tally: &mut Tally, phase: TaskPhase) -> &mut u32 {
    match phase {
        TaskPhase::Waiting => &mut tally.waiting,
        TaskPhase::Running => &mut tally.running,
        TaskPhase::Suspended => &mut tally.suspended,
        TaskPhase::Held => &mut tally.held,
        TaskPhase::Done => &mut tally.done,
        TaskPhase::Failed => &mut tally.failed,
        TaskPhase::Cancelled => &mut tally.cancelled,
    }
}

/// All jobs that are not retired, in order of submission.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Jobs {
    living: BTreeMap<JobId, Job>,
    by_first: BTreeMap<TaskId, JobId>,
    /// How many there were ever.
    count: u32,
    tasks: usize,
}

impl Jobs {
    pub(crate) fn next(&self) -> JobId {
        JobId(self.count + 1)
    }

    pub(crate) fn add(&mut self, job: Job) {
        self.tasks = job.first.index() + job.count as usize;
        let id = self.next();
        self.count += 1;
        self.put(id, job);
    }

    /// One that was here before.
    pub(crate) fn put(&mut self, id: JobId, job: Job) {
        self.by_first.insert(job.first, id);
        self.living.insert(id, job);
    }

    pub(crate) fn remove(&mut self, id: JobId) -> Option<Job> {
        let job = self.living.remove(&id)?;
        self.by_first.remove(&job.first);
        Some(job)
    }

    pub(crate) fn get(&self, id: JobId) -> Option<&Job> {
        self.living.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.living.get_mut(&id)
    }

    /// Whose task it is, unless that is retired.
    pub(crate) fn find(&self, task: TaskId) -> Option<(JobId, &Job)> {
        let (_, &id) = self.by_first.range(..=task).next_back()?;
        let job = &self.living[&id];
        job.range().contains(task).then_some((id, job))
    }

    /// Newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (JobId, &Job)> {
        self.living.iter().rev().map(|(&id, job)| (id, job))
    }

    /// How many tasks there were ever: the next task's id.
    pub(crate) fn tasks(&self) -> usize {
        self.tasks
    }
}
