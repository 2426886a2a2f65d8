//! What the page and `gleaner top` ask for beside lists: who asks, why things wait, what failed, and the last day. Times
//! are seconds since 1970.
//!
//! The day is the last 24 hours, or less where the journal begins later; `began_s` says since when.

use crate::JobId;
use crate::api::{ExplanationView, Role};
use serde::{Deserialize, Serialize};

/// Who asks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Me {
    /// 1.
    pub version: u32,
    /// The name.
    pub user: String,
    /// What they may do.
    pub role: Role,
}

/// Why tasks wait.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WaitList {
    /// 1.
    pub version: u32,
    /// The reason that most tasks wait for first.
    pub groups: Vec<WaitGroup>,
    /// How many jobs with waiting tasks were not looked at: the oldest.
    pub left_out: u32,
}

/// Tasks that wait for the same reason.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WaitGroup {
    /// How many wait in these jobs.
    pub tasks: u64,
    /// How many jobs they are of.
    pub job_count: u32,
    /// Some of these jobs, newest first.
    pub jobs: Vec<JobId>,
    /// A task that the explanation is about, of the first of these jobs.
    pub task: u32,
    /// When the oldest of the jobs was submitted.
    pub since_s: f64,
    /// Why that task waits.
    pub explanation: ExplanationView,
}

/// Why tasks of a job failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailureList {
    /// 1.
    pub version: u32,
    /// The most frequent reason first, 50 at most.
    pub failures: Vec<FailureGroup>,
    /// How many other reasons there are.
    #[serde(default)]
    pub other_reasons: u32,
    /// How many tasks failed for those.
    #[serde(default)]
    pub other_tasks: u32,
    /// How many failed tasks were not looked at.
    pub left_out: u32,
}

/// Tasks that failed for the same reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FailureGroup {
    /// In words.
    pub reason: String,
    /// How many.
    pub tasks: u32,
    /// One of them.
    pub example: u32,
    /// Some of the machines where they ended, by how many ended there.
    pub machines: Vec<String>,
}

/// The queue over the last day.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DayView {
    /// 1.
    pub version: u32,
    /// Since when there is anything.
    pub began_s: f64,
    /// Seconds from one sample to the next.
    pub step_s: f64,
    /// In order of time.
    pub queue: Vec<QueueSample>,
}

/// All tasks at a moment, and those that started since the sample before.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QueueSample {
    /// When.
    pub at_s: f64,
    /// Tasks that waited.
    pub waiting: u32,
    /// Tasks that ran.
    pub running: u32,
    /// Tasks that stood still.
    pub suspended: u32,
    /// Tasks that were held.
    pub held: u32,
    /// Tasks that started for the first time.
    pub started: u32,
    /// How long those had waited, on average; 0 where none started.
    pub wait_mean_s: f64,
    /// How long the one of them had waited that waited longest.
    pub wait_max_s: f64,
}

/// Machines over the last day.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineDayList {
    /// 1.
    pub version: u32,
    /// Seconds from one sample to the next.
    pub step_s: f64,
    /// In order of joining.
    pub machines: Vec<MachineDay>,
    /// Where to go on, if there are more.
    pub next: Option<u32>,
}

/// A machine over the last day. Its lists have one entry a sample.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineDay {
    /// Its name.
    pub machine: String,
    /// When its first sample began.
    pub from_s: f64,
    /// The share of it that its owner used, in percent; none while it was not connected.
    pub owner: Vec<Option<u8>>,
    /// The share of its slots that the grid's tasks ran in, in percent; likewise.
    pub grid: Vec<Option<u8>>,
    /// Moves of tasks from it.
    pub moved_away: Vec<u16>,
}

/// The latest runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunList {
    /// 1.
    pub version: u32,
    /// Since when there is anything.
    pub began_s: f64,
    /// In order of their starts.
    pub runs: Vec<RunView>,
    /// How many earlier ones of the day are not listed.
    pub left_out: u64,
}

/// A run of a task on a machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    /// Its job.
    pub job: JobId,
    /// The task's number there.
    pub task: u32,
    /// Which run of the task, from 1.
    pub run: u32,
    /// Where.
    pub machine: String,
    /// When its program started.
    pub from_s: f64,
    /// When it was over; none while it runs.
    pub to_s: Option<f64>,
    /// How it stands.
    pub state: RunState,
}

/// How a run stands, or ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunState {
    /// It goes on.
    Running,
    /// Its program ended with exit code 0.
    Done,
    /// Its program did not, or could not be started for no fault of its machine's.
    Failed,
    /// It was stopped: moved, held or cancelled.
    Stopped,
    /// Its machine gave it up, or could not start it for a fault of its own.
    Lost,
}

/// What was used in the last day, by user and by job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UseList {
    /// 1.
    pub version: u32,
    /// Since when there is anything.
    pub began_s: f64,
    /// The caller, or for those who see all everybody of whom a run ended; by what they used.
    pub users: Vec<UserUse>,
    /// Likewise jobs, newest first.
    pub jobs: Vec<JobUse>,
}

/// What a user's runs used that ended within the last day.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserUse {
    /// Who.
    pub user: String,
    /// How many runs ended.
    pub runs: u64,
    /// How many of them ended with exit code 0, and counted.
    #[serde(default)]
    pub done: u64,
    /// How many of them failed. What the grid lost is none of them.
    pub failed: u64,
    /// Seconds on machines.
    pub machine_s: f64,
    /// Likewise, times the cores that each of them asked for.
    #[serde(default)]
    pub core_s: f64,
    /// How much of that was for nothing: runs that left neither a result nor a checkpoint, were outvoted or slower than another of their
    /// task. Runs of which nothing was heard any more do not count.
    #[serde(default)]
    pub wasted_core_s: f64,
    /// Seconds of processor time.
    pub cpu_s: f64,
    /// The most memory that one of them used, in bytes.
    #[serde(default)]
    pub memory_bytes: u64,
}

/// What a job asked for and what its runs used, those of the last day.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobUse {
    /// Its number.
    pub job: JobId,
    /// Whose.
    pub user: String,
    /// Its name, or the beginning of its command.
    pub name: String,
    /// How many runs ended.
    pub runs: u64,
    /// Cores that each task asks for.
    pub cores_asked: u32,
    /// Processor seconds for each second that its runs took.
    pub cores_used: f64,
    /// Bytes of memory that each task asks for; 0 for no claim.
    pub memory_asked: u64,
    /// The most that a run used.
    pub memory_used: u64,
    /// The time limit, in seconds; 0 for none.
    pub time_asked_s: f64,
    /// How long its runs took, on average.
    pub time_mean_s: f64,
    /// How long the longest took.
    pub time_max_s: f64,
    /// Seconds from a task's placing to its program's start, on average.
    pub overhead_s: f64,
    /// How many runs took how long: below an eighth of a second, then twice as long with each entry.
    pub times: Vec<u32>,
    /// What its user could do better, if anything.
    pub hints: Vec<String>,
}

/// Policies that can be asked for by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresetList {
    /// 1.
    pub version: u32,
    /// By name.
    pub presets: Vec<PresetView>,
}

/// A policy with a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PresetView {
    /// Its name.
    pub name: String,
    /// What it does, in a few words.
    pub summary: String,
}

/// The last day under another policy. What `gleaner replay` leaves out is left out here too, and so are tasks that came
/// before and still took room.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WhatIfView {
    /// 1.
    pub version: u32,
    /// Tasks that came since then are compared.
    pub since_s: f64,
    /// How many of those are not: they were cancelled, had not ended or never ran for a measurable time.
    pub left_out: u64,
    /// All machines, by name; runs name them by their place here.
    pub machines: Vec<String>,
    /// What was; what the simulator makes of the policy that was; and what it makes of the one that was asked for. Compare
    /// the third with the second: how far that lies from the first says how good the model is.
    pub schedules: Vec<ScheduleView>,
}

/// A schedule, and how it went.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ScheduleView {
    /// Whose it is, in words.
    pub name: String,
    /// From the first task's coming to the last one's end.
    pub makespan_s: f64,
    /// From a task's coming to its first start, on average.
    pub wait_mean_s: f64,
    /// The longest wait.
    pub wait_max_s: f64,
    /// Moves of running tasks.
    pub moves: u64,
    /// Seconds that machines spent on tasks, all together.
    pub machine_s: f64,
    /// Tasks that never came to their end.
    pub unfinished: u64,
    /// Each task on the machine where it ended, in order of coming.
    pub runs: Vec<PlacedView>,
}

/// A task on a machine, from its first start to its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlacedView {
    /// Its job.
    pub job: JobId,
    /// Its number there.
    pub task: u32,
    /// The machine's place in the list.
    pub machine: u32,
    /// When.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
}
