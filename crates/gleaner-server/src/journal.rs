//! The facts that the journal holds: what happened, what was configured and what was decided.
//!
//! **Everything the coordinator knows for longer than a connection lives follows from these alone.** The core's events
//! are derived from them; the core's decisions are among them ([`Fact::Decided`]), so that recovery never decides again.

use crate::store::{Removal, Results, TaskRange};
use gleaner_core::{Alarm, Decision, Judgement, Likeness, Settled};
use gleaner_policy::PolicySpec;
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};
use gleaner_wire::api::{Actor, Quota, Role};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Profile, Stored, Usage};
use gleaner_wire::{BlobHash, ChainHash, JobId, Lineage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that happened, and when.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// On the coordinator's clock, which never goes back.
    pub at: Time,
    /// What.
    pub fact: Fact,
}

/// One fact.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The coordinator started.
    CoordinatorStarted {
        /// How often by now.
        epoch: u32,
        /// What no other start drew.
        lineage: Lineage,
        /// Which program.
        program: String,
        /// What is left to chance goes by it from now on.
        seed: u64,
        /// What a new grid begins with; nothing at later starts, nor where an older program began it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<PolicySpec>,
    },
    /// The journal was put back to an older state by order: what came after the row before this is no more, and agents
    /// that know of it are let in all the same.
    JournalRestored {
        /// What no other such act drew.
        lineage: Lineage,
    },
    /// The coordinator's machine slept until now: nothing could happen meanwhile.
    CoordinatorSlept {
        /// For how long.
        length: Span,
    },
    /// Rows up to one of them were dropped by order: the journal begins there.
    JournalCompacted {
        /// The number of the last row that may be missing.
        upto: u64,
        /// How many are.
        dropped: u64,
        /// A hash over all that is kept of what was before.
        seal: ChainHash,
    },
    /// Tasks are placed and moved by this policy from now on, and so much may be spent.
    PolicySet {
        /// The policy, with its budget.
        policy: PolicySpec,
        /// By whose order.
        by: Actor,
    },
    /// Running on a machine costs this from now on.
    PriceSet {
        /// The agent of that machine.
        agent: MachineId,
        /// Credits for a million operations.
        price: f64,
        /// By whose order.
        by: Actor,
    },
    /// A machine is one of an owner's from now on, whose machines have one vote where answers are compared; or its own.
    MachineOwnerSet {
        /// The agent of that machine.
        agent: MachineId,
        /// Whose, by name.
        owner: Option<String>,
        /// By whose order.
        by: Actor,
    },
    /// A user, or everyone without a quota of their own, may have so much from now on.
    QuotaSet {
        /// Whom it is about.
        user: Option<String>,
        /// How much; none: as everyone without a quota of their own.
        quota: Option<Quota>,
        /// By whose order.
        by: Actor,
    },
    /// A user may sign in with this token.
    UserAdded {
        /// The name; who bears it already gets this token instead of the old one.
        user: String,
        /// SHA-256 of the token.
        token: String,
        /// What the user may do.
        role: Role,
        /// When the token is of no use any more, if ever.
        expires: Option<Time>,
        /// What they could do before, if they were known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Role>,
        /// By whose order.
        by: Actor,
    },
    /// A user may not sign in any more.
    UserRemoved {
        /// The name.
        user: String,
        /// By whose order.
        by: Actor,
    },
    /// Whoever has this token may enrol so many agents.
    JoinTokenIssued {
        /// SHA-256 of the token.
        token: String,
        /// When it is of no use any more.
        expires: Time,
        /// How many.
        uses: u32,
        /// Whose machines they are, where answers are compared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
        /// By whose order.
        by: Actor,
    },
    /// No agent may be enrolled with this token any more.
    JoinTokenRemoved {
        /// SHA-256 of the token.
        token: String,
        /// By whose order.
        by: Actor,
    },
    /// A machine is counted with at this share of the speeds that its agent says, since its tasks show no more.
    SpeedDoubted {
        /// The agent of that machine.
        agent: MachineId,
        /// 1 where it is believed.
        share: f64,
        /// For people.
        why: String,
    },
    /// An agent was enrolled.
    AgentEnrolled {
        /// The next machine.
        agent: MachineId,
        /// No other has it.
        name: String,
        /// Its public key, in base64.
        key: String,
        /// SHA-256 of the token that was used up.
        token: String,
        /// What the machine is.
        profile: Profile,
    },
    /// An agent may not come back.
    AgentRevoked {
        /// The agent that may not.
        agent: MachineId,
        /// By whose order.
        by: Actor,
    },
    /// An agent may not come back, is listed no more, and another may bear its name.
    AgentForgotten {
        /// The agent that may not.
        agent: MachineId,
        /// By whose order.
        by: Actor,
    },
    /// An agent's program was started afresh: whatever ran there before has ended.
    AgentStarted {
        /// The agent that was started.
        agent: MachineId,
        /// Which of its starts.
        incarnation: u64,
        /// What the machine is.
        profile: Profile,
        /// Runs that had ended there and that it has something of, since its start before could not hand that in. Where they were given
        /// up, their tasks are given to nobody for a while, until that is heard.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        brings: Vec<RunId>,
    },
    /// What a machine is was measured again.
    MachineProfiled {
        /// The agent of that machine.
        agent: MachineId,
        /// What it is now.
        profile: Profile,
    },
    /// An agent was not heard of until its lease ended: what it ran has ended.
    LeaseExpired {
        /// The agent that was silent.
        agent: MachineId,
    },
    /// An agent whose lease had ended is back.
    AgentReturned {
        /// The agent that is back.
        agent: MachineId,
        /// Runs that were given up and that it has something of: their tasks are given to nobody for a while, until that
        /// is heard.
        brings: Vec<RunId>,
    },
    /// New tasks may or may not start on a machine from now on.
    MachineOpened {
        /// The agent of that machine.
        agent: MachineId,
        /// Whether they may.
        open: bool,
        /// For people.
        why: String,
        /// Whose wish.
        by: Actor,
    },
    /// What runs on a machine is to stand still from now on, or not any more; and nothing new starts while it does.
    MachinePaused {
        /// Which.
        agent: MachineId,
        /// Whether it is to stand still.
        paused: bool,
        /// By whose order.
        by: Actor,
    },
    /// A machine's owner uses another share of it.
    OwnerLoadReported {
        /// The agent of that machine.
        agent: MachineId,
        /// λ.
        load: f64,
        /// For people.
        why: String,
    },
    /// A user submitted a job.
    JobSubmitted {
        /// The next job.
        job: JobId,
        /// Whose.
        user: String,
        /// What. Its tasks get the next ids.
        spec: Arc<JobSpec>,
        /// What the user calls this submission, so that it counts once.
        key: Option<String>,
        /// How long the files are that it reads and that no earlier job of the user's did.
        bytes: u64,
        /// How many bytes of its user's its description takes, until nothing is to be known of the job any more.
        #[serde(default, skip_serializing_if = "is_nothing")]
        described: u64,
    },
    /// A user stopped tasks for good.
    TasksCancelled(Chosen),
    /// A user took tasks out of the queue, or stopped them, until they are released.
    TasksHeld(Chosen),
    /// A user let held tasks wait again.
    TasksReleased(Chosen),
    /// A user let ended tasks run again.
    TasksRerun(Chosen),
    /// Tasks that are over left memory for the store, and the jobs that have no others.
    TasksRetired(Vec<TaskRange>),
    /// Retired tasks that are to run again are back in memory.
    #[serde(rename = "tasks_recalled")]
    TasksRevived(Revived),
    /// A user wants the results of a job kept, or not any more.
    ResultsKept {
        /// Which job.
        job: JobId,
        /// Whether they are to be kept.
        keep: bool,
        /// By whose order.
        by: Actor,
    },
    /// What retired jobs read, left and wrote counts as removed from now on; its files are removed after this.
    ResultsRemoved {
        /// Which jobs.
        jobs: Vec<RemovedResults>,
        /// How long after the end of their jobs results are kept.
        kept_for: Span,
    },
    /// None of those files is on the disk any more.
    ResultsGone(Vec<JobId>),
    /// Nothing is to be known any more of retired jobs whose results are gone.
    JobsForgotten {
        /// Which jobs, each with its tasks.
        jobs: Vec<(JobId, TaskRange)>,
        /// How long after their end jobs are known.
        kept_for: Span,
        /// How many bytes fewer are kept for whom: their descriptions.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        described: BTreeMap<String, u64>,
    },
    /// Tasks that failed have rested, and wait for another run.
    TasksRested(Vec<TaskId>),
    /// A run began.
    RunStarted(RunId),
    /// A run is over, and how: the one result that counts.
    RunEnded {
        /// Which run.
        run: RunId,
        /// Where.
        agent: MachineId,
        /// How.
        end: Box<End>,
        /// What it answered, where others' answers are compared with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Box<Judged>>,
        /// Of one that could not be started for no fault of its machine's: whether a machine is left on which nothing of its job was
        /// tried, and to which its task goes now. Nothing where tasks of the job cannot be kept from machines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_left: Option<bool>,
    },
    /// What came of a run that did not count.
    ResultRefused {
        /// Which run.
        run: RunId,
        /// From where.
        agent: MachineId,
        /// How it ended.
        end: Box<End>,
    },
    /// An alarm that was asked for came.
    WokeUp {
        /// What it was set for.
        alarm: Alarm,
    },
    /// What the scheduler decided about all that came before, and where that left it.
    Decided {
        /// In order. What was ordered then follows from them.
        decisions: Vec<Decision>,
        /// What it has still to answer.
        settled: Settled,
    },
}

/// An answer, and what came of the comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// Equal where the answers are; none where the run only compared two of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<BlobHash>,
    /// What it is for its task.
    pub judgement: Judgement,
    /// Where it decides: the machines that gave another, and were outvoted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrong: Vec<MachineId>,
    /// What the user's program said, where the run compared two answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<Likeness>,
    /// What the task came to, where the run that decided it compared: the first of the answers that are the same, or why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<Last>>,
}

impl Judged {
    /// Of a run that its machine did not begin: that is no answer.
    pub(crate) fn refusal() -> Self {
        Self { digest: None, judgement: Judgement::Void, wrong: Vec::new(), likeness: None, result: None }
    }

    /// Whether it is one. Rows of before it was have the digest of such an end, which was an answer then.
    pub(crate) fn is_refusal(&self) -> bool {
        self.digest.is_none() && self.likeness.is_none()
    }
}

/// How a run ended, as far as people ask for it later.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Last {
    /// What came of it.
    pub outcome: Outcome,
    /// What it used.
    pub usage: Usage,
    /// Its output files.
    pub files: Option<Stored>,
    /// What its user should know of it, as which output file it did not leave.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Last {
    pub(crate) fn of(end: &End) -> Self {
        let End { outcome, usage, files, notes, .. } = end;
        Self { outcome: outcome.clone(), usage: *usage, files: files.clone(), notes: notes.clone() }
    }

    /// Of no run: why a task came to nothing.
    pub(crate) fn nothing(outcome: Outcome) -> Self {
        Self { outcome, usage: Usage::default(), files: None, notes: Vec::new() }
    }
}

/// Tasks of one job, and who chose them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Chosen {
    /// Which job.
    pub job: JobId,
    /// Which of its tasks; none listed stands for all to which the order can apply.
    pub tasks: Vec<TaskRange>,
    /// By whose order.
    pub by: Actor,
}

/// What the ledger forgot of retired tasks that it needs to have them run again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Revived {
    /// Whose tasks they are.
    pub job: JobId,
    /// The job, if it is retired too.
    pub back: Option<Box<RetiredJob>>,
    /// Those that are alike together.
    pub tasks: Vec<RevivedTasks>,
}

/// Tasks of which the same is said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RevivedTasks {
    /// The tasks, one after the other.
    pub tasks: TaskRange,
    /// How many runs each was given.
    pub runs: u32,
    /// What the agents of the latest runs that ended were told.
    pub settled: Vec<Settlement>,
    /// Bytes that each left and that are counted as kept: its next run may replace them.
    #[serde(default)]
    pub left: u64,
}

/// What the ledger forgot of a retired job that it needs to have its results removed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RemovedResults {
    /// Which job.
    pub job: JobId,
    /// Whose.
    pub user: String,
    /// All its tasks.
    pub tasks: TaskRange,
    /// How many bytes fewer are kept for its user.
    pub bytes: u64,
}

/// What an agent is told of the end of a run, each time it reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Settlement {
    /// Which run.
    pub number: u32,
    /// Where it was.
    pub on: MachineId,
    /// Whether its end counted.
    pub counted: bool,
}

/// A job that was retired.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RetiredJob {
    /// Whose.
    pub user: String,
    /// What.
    pub spec: Arc<JobSpec>,
    /// What its user calls its submission.
    pub key: Option<String>,
    /// Its first task.
    pub first: TaskId,
    /// The class of its tasks, as it was called before it was retired.
    pub class: TaskClassId,
    /// When it was submitted.
    pub submitted: Time,
    /// How long runs went on beside one that was faster, or were outvoted.
    pub wasted_s: f64,
    /// How long runs went on of which nothing is left for the next.
    #[serde(default)]
    pub lost_s: f64,
    /// Whether a run of it ever ended that had run.
    pub ever_ran: bool,
    /// Whether its results are to be kept.
    pub results: Results,
    /// How many bytes of its user's are its.
    pub bytes: u64,
    /// When results of its runs so far were removed.
    pub removed: Option<Removal>,
    /// How many bytes of its user's its description takes.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub described: u64,
}

fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
