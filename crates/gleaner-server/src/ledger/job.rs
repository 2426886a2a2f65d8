//! The jobs, and which tasks are whose.

use crate::store::TaskRange;
use gleaner_units::{TaskClassId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::JobSpec;
use serde::{Deserialize, Serialize};
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
    /// What kind of tasks.
    pub class: TaskClassId,
    /// When it was submitted.
    pub submitted: Time,
    /// How many tasks are in each phase.
    pub tally: Tally,
    /// When the last of its tasks was over.
    pub ended: Option<Time>,
    /// How long runs went on beside one that was faster.
    pub wasted_s: f64,
    /// Whether a run of it ever ended that had run.
    pub ever_ran: bool,
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

/// All jobs, in order of submission.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Jobs {
    jobs: Vec<Job>,
}

impl Jobs {
    pub(crate) fn next(&self) -> JobId {
        JobId(self.jobs.len() as u32 + 1)
    }

    pub(crate) fn add(&mut self, job: Job) {
        self.jobs.push(job);
    }

    pub(crate) fn get(&self, id: JobId) -> Option<&Job> {
        self.jobs.get((id.0 as usize).checked_sub(1)?)
    }

    pub(crate) fn get_mut(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.get_mut((id.0 as usize).checked_sub(1)?)
    }

    /// Whose task it is.
    ///
    /// # Panics
    /// For a task that no job has.
    pub(crate) fn of(&self, task: TaskId) -> (JobId, &Job) {
        let after = self.jobs.partition_point(|job| job.first <= task);
        (JobId(after as u32), &self.jobs[after - 1])
    }

    /// Newest first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = (JobId, &Job)> {
        let numbered = self.jobs.iter().enumerate();
        numbered.map(|(index, job)| (JobId(index as u32 + 1), job)).rev()
    }

    /// How many tasks there are in all: the next task's id.
    pub(crate) fn tasks(&self) -> usize {
        self.jobs.last().map_or(0, |job| job.first.index() + job.count as usize)
    }
}
