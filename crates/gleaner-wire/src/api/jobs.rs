//! What the API says of jobs and tasks.

use super::people::Actor;
use crate::JobId;
use crate::job::Needs;
use crate::session::{Outcome, Stored, Usage};
use serde::{Deserialize, Serialize};

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum TaskPhase {
    /// In the queue, or on its way to a machine.
    Waiting,
    /// A machine runs it.
    Running,
    /// A machine has it, but its owner is using the machine.
    Suspended,
    /// Its user wants it to wait.
    Held,
    /// Its program ended with exit code 0.
    Done,
    /// Its program did not, as often as it was tried.
    Failed,
    /// Its user did not want it any more.
    Cancelled,
}

impl TaskPhase {
    /// All of them, in the order of life.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Running,
        Self::Suspended,
        Self::Held,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Suspended => "suspended",
            Self::Held => "held",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more happens to the task unless a user wants it.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// How many tasks are in each phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tally {
    /// In the queue, or on their way.
    pub waiting: u32,
    /// Running.
    pub running: u32,
    /// Suspended.
    pub suspended: u32,
    /// Held.
    pub held: u32,
    /// Done.
    pub done: u32,
    /// Failed.
    pub failed: u32,
    /// Cancelled.
    pub cancelled: u32,
}

impl Tally {
    /// The number for a phase.
    pub fn of(&self, phase: TaskPhase) -> u32 {
        match phase {
            TaskPhase::Waiting => self.waiting,
            TaskPhase::Running => self.running,
            TaskPhase::Suspended => self.suspended,
            TaskPhase::Held => self.held,
            TaskPhase::Done => self.done,
            TaskPhase::Failed => self.failed,
            TaskPhase::Cancelled => self.cancelled,
        }
    }

    /// Tasks that will still change by themselves, or that someone holds.
    pub fn open(&self) -> u32 {
        self.waiting + self.running + self.suspended + self.held
    }

    /// All of them.
    pub fn total(&self) -> u32 {
        self.open() + self.done + self.failed + self.cancelled
    }

    /// A job is in the first of these phases that one of its tasks is in.
    pub fn state(&self) -> TaskPhase {
        let phases = [
            TaskPhase::Running,
            TaskPhase::Suspended,
            TaskPhase::Waiting,
            TaskPhase::Held,
            TaskPhase::Failed,
            TaskPhase::Cancelled,
        ];
        phases.into_iter().find(|phase| self.of(*phase) > 0).unwrap_or(TaskPhase::Done)
    }
}

/// The answer to a submission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Submitted {
    /// 1.
    pub version: u32,
    /// The job's number.
    pub job: JobId,
    /// How many tasks it has.
    pub tasks: u32,
}

/// A job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobView {
    /// 1.
    pub version: u32,
    /// Its number.
    pub job: JobId,
    /// For people.
    pub name: String,
    /// Whose.
    pub user: String,
    /// Running if one of its tasks is; else suspended, waiting, held, failed, cancelled or done, the first that one is in.
    pub state: TaskPhase,
    /// How many tasks are in each phase.
    pub tasks: Tally,
    /// The program and its arguments. A list of jobs has the beginning, 1 KiB of it, and where it was cut the last word ends with `…`.
    pub command: Vec<String>,
    /// When it was submitted.
    pub submitted_s: f64,
    /// When the last of its tasks ended, once all have.
    pub ended_s: Option<f64>,
    /// Its label.
    pub label: Option<String>,
    /// How many seconds of runs were for nothing, since another run of their task came to its end first or their answers were outvoted.
    #[serde(default)]
    pub wasted_s: f64,
    /// How many seconds of runs were for nothing, since they ended without a result and without a checkpoint to go on from: they
    /// failed, were moved or held, or their machine's owner needed it. Runs of which nothing was heard any more do not count.
    #[serde(default)]
    pub lost_s: f64,
    /// What a task of it waits for, if none of them runs: it completes "it waits for …".
    pub waits_for: Option<String>,
    /// How many bytes are kept of it: what it reads, and what it left and wrote.
    #[serde(default)]
    pub bytes: u64,
    /// Whether somebody wants its results kept.
    #[serde(default)]
    pub results_kept: bool,
    /// When its results are due to be removed, if they are there, it is over, and nobody wants them kept.
    #[serde(default)]
    pub results_until_s: Option<f64>,
    /// When results of it were removed last.
    #[serde(default)]
    pub results_removed: Option<RemovalView>,
}

/// When results were removed, and by which rule.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RemovalView {
    /// When.
    pub at_s: f64,
    /// How long after the end of their job results were kept.
    pub kept_for_s: f64,
}

/// Whether the results of a job are to be kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeepSetting {
    /// True until somebody says otherwise; false for no longer than others.
    pub keep: bool,
}

/// What is kept of jobs that are over, and until when.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeepingView {
    /// 1.
    pub version: u32,
    /// How long results are kept after the end of their job; none stands for ever.
    pub results_for_s: Option<f64>,
    /// Likewise all else that is known of a job.
    pub records_for_s: Option<f64>,
    /// Whose results are due to be removed at some time: how many jobs, and how many bytes they are together.
    pub due: AmountView,
    /// Likewise those that somebody wants kept.
    pub kept: AmountView,
    /// The jobs whose results are due next, in that order.
    pub next: Vec<JobView>,
    /// The jobs whose results somebody wants kept, those first that were over first.
    pub kept_jobs: Vec<JobView>,
}

/// How many jobs, and how much is kept of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AmountView {
    /// Jobs.
    pub jobs: u64,
    /// Bytes of files and output.
    pub bytes: u64,
}

/// Several jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobList {
    /// 1.
    pub version: u32,
    /// Newest first.
    pub jobs: Vec<JobView>,
}

/// A task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskView {
    /// Its job.
    pub job: JobId,
    /// Its number there.
    pub task: u32,
    /// Its program and its arguments, with its parameters filled in: the beginning, 1 KiB of it, and where it was cut the last word
    /// ends with `…`. A list of tasks does not have it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What its job asks of a machine for each of its tasks. A list of tasks does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Needs>,
    /// What else its job asks for. A list of tasks does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Asked>,
    /// Where it is in its life.
    pub phase: TaskPhase,
    /// How often it was sent to a machine.
    pub runs: u32,
    /// Those of its runs that are not over, the oldest first.
    #[serde(default)]
    pub open_runs: Vec<OpenRunView>,
    /// How many operations it takes, if that was declared.
    #[serde(default)]
    pub length: Option<f64>,
    /// Where it is, or was last.
    pub machine: Option<String>,
    /// When its last run began.
    pub started_s: Option<f64>,
    /// When it ended.
    pub ended_s: Option<f64>,
    /// How its last run ended.
    pub outcome: Option<Outcome>,
    /// What its last run used.
    pub usage: Option<Usage>,
    /// What it would go on from.
    pub checkpoint: Option<Stored>,
    /// Its output files once it is done or has failed, as a tar archive: `…/tasks/{task}/files` sends it. To be an input of another job by
    /// its hash, it has to be sent (`PUT /api/v1/blobs/{hash}`).
    pub files: Option<Stored>,
    /// What its user should know of its last run, as which output file it did not leave.
    #[serde(default)]
    pub notes: Vec<String>,
    /// When what it had left was removed, if it was.
    #[serde(default)]
    pub results_removed: Option<RemovalView>,
}

/// What a job asks for beside what its tasks need of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Asked {
    /// Higher goes first; 0 unless its user said something.
    pub priority: i32,
    /// How often a failed task of it is tried again.
    pub retries: u32,
    /// How many machines have to give the same answer.
    pub quorum: u32,
    /// Whether its program saves its state, to go on from there.
    pub checkpoint: bool,
    /// Requirements on machines: the beginning, 1 KiB of them.
    pub requirements: Option<String>,
    /// Which machines it likes best: likewise.
    pub rank: Option<String>,
}

/// A run of a task that is not over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OpenRunView {
    /// Its number, from 1.
    pub run: u32,
    /// Where it is.
    pub machine: String,
    /// How far it is.
    pub stage: RunStage,
    /// Why it stays there, if something is in its way.
    #[serde(default)]
    pub why: Option<String>,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStage {
    /// Its room is taken; it goes on from where another run stops.
    Held,
    /// Its machine was told of it, and begins it when the run before it there is over.
    Next,
    /// Its machine was told of it.
    Sent,
    /// Its machine brings there what it reads, when last heard of.
    StagingIn,
    /// Its program runs, or is suspended.
    Running,
    /// It was told to stop, and its end is awaited.
    Stopping,
    /// Its program has ended, and its machine stores what it left, when last heard of.
    StagingOut,
}

impl RunStage {
    /// In plain words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Next => "next",
            Self::Sent => "sent",
            Self::StagingIn => "staging in",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::StagingOut => "staging out",
        }
    }
}

/// Several tasks of one job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskList {
    /// 1.
    pub version: u32,
    /// In order of their numbers.
    pub tasks: Vec<TaskView>,
    /// Where to go on, if there are more.
    pub next: Option<u32>,
}

/// Which tasks of a job an order is for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Choice {
    /// Their numbers; none listed stands for all to which the order can apply.
    pub tasks: Vec<u32>,
    /// Of those, only the failed ones.
    pub failed: bool,
}

/// What an order did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Ordered {
    /// 1.
    pub version: u32,
    /// To how many tasks it applied.
    pub tasks: u32,
}

/// One step in a task's life.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Transition {
    /// When.
    pub at_s: f64,
    /// Into which phase.
    pub phase: TaskPhase,
    /// What happened, in words.
    pub cause: String,
    /// Who caused it.
    pub actor: Actor,
    /// Which run it was about, if any.
    pub run: Option<u32>,
    /// Which machine it was about, if any.
    pub machine: Option<String>,
}

/// A task's life so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct History {
    /// 1.
    pub version: u32,
    /// How many earlier steps are not told here.
    #[serde(default)]
    pub left_out: u64,
    /// In order of time.
    pub transitions: Vec<Transition>,
}
