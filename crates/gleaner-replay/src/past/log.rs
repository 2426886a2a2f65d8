//! The past as a log of jobs has it: when each task came, began and ended, and what it asked for.

use super::{LeftOut, Reading};
use gleaner_server::ledger::Job;
use gleaner_units::{Span, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::Needs;
use std::collections::BTreeMap;

/// The tasks of a live grid that ran to their end.
#[derive(Debug)]
pub struct TaskLog {
    /// When the clock of the tasks begins.
    pub begun: Time,
    /// In the order in which they came.
    pub tasks: Vec<LoggedTask>,
    /// Theirs.
    pub jobs: BTreeMap<JobId, LoggedJob>,
    /// Places for tasks on all machines that were known at the end.
    pub cores: u64,
    /// Tasks that are not in it.
    pub left_out: LeftOut,
}

/// A task that ran to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoggedTask {
    /// Whose it is.
    pub job: JobId,
    /// When it came; if it was held and released, or run again, when it last came to wait.
    pub came: Time,
    /// When its first run began.
    pub started: Time,
    /// How long it ran: a single run without the time that it was suspended, several with the pauses between them.
    pub ran: Span,
    /// When it was over.
    pub ended: Time,
    /// Whether it was done, and did not fail.
    pub is_done: bool,
    /// Of all its runs.
    pub cpu_s: f64,
    /// Of its last run, at its peak.
    pub memory_bytes: u64,
}

/// What its tasks have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct LoggedJob {
    /// Whose.
    pub user: String,
    /// What its tasks are alike in.
    pub label: Option<String>,
    /// What each of them asked for.
    pub needs: Needs,
}

impl LoggedJob {
    pub(super) fn of(job: &Job) -> Self {
        Self { user: job.user.clone(), label: job.spec.label.clone(), needs: job.spec.needs.clone() }
    }
}

impl Reading {
    /// Keeps, from now on, what a log says of jobs. A ledger forgets them when they are long over.
    pub(crate) fn with_jobs(self) -> Self {
        Self { jobs: Some(BTreeMap::new()), ..self }
    }

    /// The log that it came to.
    pub(crate) fn log(self) -> TaskLog {
        let (ended, left_out) = self.ended_since(Time::ZERO);
        let logged = ended.iter().filter_map(|task| {
            let noted = &self.tasks[task];
            let ended = noted.ended?;
            Some(LoggedTask {
                job: noted.job,
                came: noted.came,
                started: noted.began().unwrap_or(ended),
                ran: noted.ran()?,
                ended,
                is_done: self.ledger.record(*task).phase == TaskPhase::Done,
                cpu_s: noted.cpu_s,
                memory_bytes: noted.memory_bytes,
            })
        });
        let mut tasks: Vec<LoggedTask> = logged.collect();
        // Those that came together stay in the order of their numbers.
        tasks.sort_by_key(|task| task.came);
        let known = self.ledger.agents().iter().filter(|agent| !agent.forgotten);
        TaskLog {
            begun: self.begun.unwrap_or(Time::ZERO),
            tasks,
            cores: known.map(|agent| u64::from(agent.profile.slots)).sum(),
            jobs: self.jobs.unwrap_or_default(),
            left_out,
        }
    }
}
