//! What the HTTP API under `/api/v1` answers. Times are seconds since 1970.

use crate::JobId;
use crate::limits::{QUOTA_BYTES, QUOTA_CORES, QUOTA_REQUESTS_PER_S, QUOTA_TASKS};
use crate::session::{Outcome, Profile, Sample, Stored, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

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

    /// In one word: what a user would call a job with these tasks.
    pub fn state(&self) -> JobState {
        if self.running > 0 {
            JobState::Running
        } else if self.suspended > 0 {
            JobState::Suspended
        } else if self.waiting > 0 {
            JobState::Waiting
        } else if self.held > 0 {
            JobState::Held
        } else if self.failed > 0 {
            JobState::Failed
        } else if self.cancelled > 0 {
            JobState::Cancelled
        } else {
            JobState::Done
        }
    }
}

/// A job's tasks taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum JobState {
    /// None runs, some wait.
    Waiting,
    /// Some run.
    Running,
    /// None runs, some would if a machine's owner were away.
    Suspended,
    /// None can go on until it is released.
    Held,
    /// All are over, all are done.
    Done,
    /// All are over, some failed.
    Failed,
    /// All are over, none failed, some were cancelled.
    Cancelled,
}

impl JobState {
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
    /// All its tasks taken together.
    pub state: JobState,
    /// How many tasks are in each phase.
    pub tasks: Tally,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// When it was submitted.
    pub submitted_s: f64,
    /// When the last of its tasks ended, once all have.
    pub ended_s: Option<f64>,
    /// Its label.
    pub label: Option<String>,
    /// How many seconds of runs were for nothing, since another run of their task came to its end first.
    #[serde(default)]
    pub wasted_s: f64,
    /// Why none of its tasks runs, if none does.
    pub waits_for: Option<String>,
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
    /// Where it is in its life.
    pub phase: TaskPhase,
    /// How often it was sent to a machine.
    pub runs: u32,
    /// Those of its runs that are not over, the oldest first.
    #[serde(default)]
    pub open_runs: Vec<RunView>,
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
    /// Its output files, as a tar archive.
    pub files: Option<Stored>,
}

/// A run of a task that is not over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    /// Its number, from 1.
    pub run: u32,
    /// Where it is.
    pub machine: String,
    /// How far it is.
    pub stage: RunStage,
}

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum RunStage {
    /// Its room is taken; it goes on from where another run stops.
    Held,
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

/// A machine.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineView {
    /// Its name.
    pub machine: String,
    /// What it is doing, in one word.
    pub state: MachineState,
    /// Why, where someone wants it so.
    pub why: Option<String>,
    /// What it is.
    pub profile: Profile,
    /// λ, as the scheduler knows it.
    pub owner_load: f64,
    /// Credits for a million operations.
    #[serde(default)]
    pub price: f64,
    /// How many tasks are there or on their way.
    pub tasks: u32,
    /// What it told last; none while it is not connected.
    pub sample: Option<Sample>,
    /// When it was last heard of, as far as this coordinator remembers.
    pub heard_s: Option<f64>,
    /// What its answers were worth so far, where they were compared with others'.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<TrustView>,
}

/// What a machine's answers were worth so far.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TrustView {
    /// Answers that other machines agreed on, since the last that they did not.
    pub row: u32,
    /// All that they ever agreed on.
    pub agreed: u64,
    /// Answers that were outvoted.
    pub wrong: u64,
    /// When the last of them was.
    pub last_wrong_s: Option<f64>,
    /// Whether it is asked alone, but for a task now and then.
    pub alone: bool,
}

/// What a machine is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum MachineState {
    /// It takes tasks.
    Open,
    /// It takes no new tasks.
    Closed,
    /// It is not connected; its lease runs on.
    Away,
    /// It was not heard of until its lease ended.
    Lost,
    /// It may not come back.
    Revoked,
}

/// All machines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MachineList {
    /// 1.
    pub version: u32,
    /// In order of joining.
    pub machines: Vec<MachineView>,
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

/// Where a task could go, and why it does or does not.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ExplanationView {
    /// 1.
    pub version: u32,
    /// The moment that is explained.
    pub at_s: f64,
    /// In one sentence.
    pub summary: String,
    /// The machines that were ruled out, by the rule that did it.
    pub ruled_out: Vec<RuledOutView>,
    /// The others, best first, with their scores.
    pub ratings: Vec<Rating>,
    /// What would let it start.
    pub remedies: Vec<String>,
}

/// Machines that a rule ruled out.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RuledOutView {
    /// The rule, in words.
    pub rule: String,
    /// How many.
    pub count: usize,
    /// Some of them.
    pub machines: Vec<String>,
}

/// A machine's score for a task.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Rating {
    /// Its name.
    pub machine: String,
    /// As the policy in force has it; higher is better.
    pub score: f64,
}

/// Where the tasks of a job would go if it were submitted now.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    /// 1.
    pub version: u32,
    /// How many would start at once on each machine.
    pub starts: Vec<PreviewStart>,
    /// How many would wait.
    pub waiting: u32,
    /// Why.
    pub explanation: ExplanationView,
}

/// Tasks that would start on a machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PreviewStart {
    /// Which.
    pub machine: String,
    /// How many.
    pub tasks: u32,
}

/// The rule in force.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PolicyView {
    /// 1.
    pub version: u32,
    /// The preset's name.
    pub name: String,
    /// As it was set.
    pub policy: PolicyKeys,
    /// In words.
    pub text: String,
}

/// What was learnt of labels.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabelList {
    /// 1.
    pub version: u32,
    /// By user and name: the caller's own, or for an administrator all.
    pub labels: Vec<LabelView>,
}

/// What was learnt of a label.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LabelView {
    /// Whose.
    pub user: String,
    /// Its name.
    pub label: String,
    /// The shares of CPU, disk and network that the scheduler counts with.
    pub composition: [f64; 3],
    /// From how many runs.
    pub runs: u64,
}

/// A new token, shown this once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NewToken {
    /// 1.
    pub version: u32,
    /// The token.
    pub token: String,
    /// When it is of no use any more, if ever.
    pub expires_s: Option<f64>,
    /// The command that uses it: on the machine that joins, or on the user's.
    pub line: String,
}

/// What a user may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Role {
    /// Act on their own jobs, on what is not their own, and on machines, users and the policy.
    Admin,
    /// Submit jobs, and act on these.
    #[default]
    User,
    /// See everything, and change nothing.
    Reader,
    /// Read the numbers at `/metrics`, and nothing else.
    Metrics,
}

impl Role {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
            Self::Reader => "reader",
            Self::Metrics => "metrics",
        }
    }

    /// Whether jobs of others exist for them.
    pub fn sees_all(self) -> bool {
        matches!(self, Self::Admin | Self::Reader)
    }
}

/// Who may sign in, and how many may join. No answer has a secret in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserList {
    /// 1.
    pub version: u32,
    /// By name.
    pub users: Vec<UserView>,
    /// The join tokens that are still good.
    pub join_tokens: Vec<JoinTokenView>,
}

/// A join token, without its secret.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JoinTokenView {
    /// What it is called: the beginning of its hash.
    pub id: String,
    /// How many machines may still join with it.
    pub uses: u32,
    /// When it is of no use any more.
    pub expires_s: f64,
}

/// A user.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UserView {
    /// Unique.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When their token is of no use any more, if ever.
    pub expires_s: Option<f64>,
}

/// How an agent asks to be enrolled, with a join token.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enrolment {
    /// How it would be called.
    pub name: String,
    /// Its public key, in base64.
    pub key: String,
    /// What the machine is.
    pub profile: Profile,
    /// Whether the machine was set up anew: it takes its name from an agent that is not connected, which is forgotten.
    #[serde(default)]
    pub replace: bool,
}

/// An agent's number.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Enrolled {
    /// 1.
    pub version: u32,
    /// Its number.
    pub agent: u32,
    /// Its name, which may have got a number to tell it from others.
    pub name: String,
}

/// What came of bytes that were sent to measure the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Swallowed {
    /// 1.
    pub version: u32,
    /// How many came.
    pub bytes: u64,
}

/// The grid at a glance.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GridView {
    /// 1.
    pub version: u32,
    /// Who asks.
    pub user: String,
    /// What they may do.
    pub role: Role,
    /// Which program.
    pub program: String,
    /// How often the coordinator started.
    pub epoch: u32,
    /// All tasks.
    pub tasks: Tally,
    /// How many machines are in each state.
    pub machines: BTreeMap<String, usize>,
    /// The preset of the policy in force.
    pub policy: String,
}

/// Something that just happened, as live views get it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LiveEvent {
    /// When.
    pub at_s: f64,
    /// The job it is about.
    pub job: Option<JobId>,
    /// The task's number, if it is about one.
    pub task: Option<u32>,
    /// The machine it is about.
    pub machine: Option<String>,
    /// The phase that was entered.
    pub phase: Option<TaskPhase>,
    /// In words.
    pub text: String,
}

/// Why a request was refused.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Problem {
    /// 1.
    pub version: u32,
    /// What was wrong.
    pub error: ProblemDetail,
}

/// What was wrong, for programs and for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProblemDetail {
    /// A word that does not change.
    pub code: String,
    /// What, where, and what to do.
    pub message: String,
}

/// Who caused something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Actor {
    /// A user, by name.
    User(String),
    /// An agent, by its machine's name: its owner's rules, or what happened there.
    Agent(String),
    /// The coordinator itself.
    Coordinator,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user {name}"),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Coordinator => f.write_str("coordinator"),
        }
    }
}

/// A policy, or its budget, in the words of a scenario's `[policy]` section: a tree of keys.
///
/// It is data here, and no more: its words are those of `gleaner-policy`, which agents, who know this crate, do not have.
/// `gleaner_policy::PolicySpec` reads it, and says at which key what was found and what is expected.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(value_type = Object))]
pub struct PolicyKeys(pub serde_json::Map<String, serde_json::Value>);

/// What the budget is to be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetSetting {
    /// The keys of a policy's budget. None: running costs nothing.
    pub budget: Option<PolicyKeys>,
}

/// How much a user may have of the coordinator at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quota {
    /// Tasks that are not over.
    pub tasks: u64,
    /// Cores that their runs take at a time: what needs more waits.
    #[serde(default = "quota_cores")]
    pub cores: u32,
    /// Bytes of files and output that are kept for them.
    #[serde(default = "quota_bytes")]
    pub bytes: u64,
    /// Requests in a second, on average; twice as many at once.
    pub requests_per_s: u32,
}

fn quota_cores() -> u32 {
    QUOTA_CORES
}

fn quota_bytes() -> u64 {
    QUOTA_BYTES
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            tasks: QUOTA_TASKS,
            cores: QUOTA_CORES,
            bytes: QUOTA_BYTES,
            requests_per_s: QUOTA_REQUESTS_PER_S,
        }
    }
}

impl Quota {
    /// Whether `more` bytes may be kept for a user for whom so many are.
    pub fn check_bytes(&self, user: &str, kept: u64, more: u64) -> Result<(), TooManyBytes> {
        if kept.saturating_add(more) <= self.bytes {
            return Ok(());
        }
        Err(TooManyBytes { user: user.to_owned(), kept, more, most: self.bytes })
    }
}

/// More than the quota of stored bytes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{kept} bytes are kept for {user}, and {more} more would be above the quota of {most}; ask an administrator for more \
     (`gleaner quota set --user {user} --bytes N`)"
)]
pub struct TooManyBytes {
    user: String,
    kept: u64,
    more: u64,
    most: u64,
}

/// A quota to be set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaSetting {
    /// For whom; none: for everyone who has none of their own.
    #[serde(default)]
    pub user: Option<String>,
    /// How much.
    pub quota: Quota,
}

/// Who may have how much, and has.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaList {
    /// 1.
    pub version: u32,
    /// What holds for everyone who has none of their own.
    pub everyone: Quota,
    /// The caller, or for an administrator all who have a quota of their own or ever submitted anything.
    pub users: Vec<QuotaView>,
}

/// A user's quota, and what they have of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuotaView {
    /// Who.
    pub user: String,
    /// What they may have.
    pub quota: Quota,
    /// Their tasks that are not over.
    pub tasks: u64,
    /// Cores that their runs take.
    pub cores: u64,
    /// Bytes that are kept for them.
    pub bytes: u64,
}

/// The budget, and what became of it in the period that is running.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetView {
    /// 1.
    pub version: u32,
    /// As it was set; none if running costs nothing.
    pub budget: Option<PolicyKeys>,
    /// Whether the policy in force heeds it.
    pub heeded: bool,
    /// When the next period begins, if it is heeded.
    pub next_recharge_s: Option<f64>,
    /// What it is spent from, where it is heeded: one account, or one for each user who ever submitted anything.
    pub accounts: Vec<AccountView>,
}

/// What became of a recharge, in credits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AccountView {
    /// Whose; none where it is everyone's.
    pub user: Option<String>,
    /// Spent in this period, less what was given back in it.
    pub spent: u64,
    /// Held for tasks that run and are charged when they end.
    pub held: u64,
    /// What may still be spent in this period.
    pub left: u64,
    /// Spent since the budget was set, less all that was given back.
    pub paid: u64,
}

/// What running on a machine costs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PriceSpec {
    /// Credits for a million operations; 0 for nothing.
    pub price: f64,
}
