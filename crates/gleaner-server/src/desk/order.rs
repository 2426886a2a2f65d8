//! What the desk is asked to do, and what comes of it.

use super::admission::{Admitted, Rejection};
use super::claims::Checked;
use crate::store::{Amount, ReadError};
use gleaner_units::Time;
use gleaner_wire::api::{
    Actor, Choice, Enrolled, Enrolment, Ordered, PolicyKeys, QuotaSetting, Role, Submitted,
};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{BlobHash, JobId};
use std::sync::Arc;

/// The files that a job reads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobFiles {
    /// Those that are not here for its user.
    pub missing: Vec<BlobHash>,
    /// The others, and how long each is.
    pub there: Vec<(BlobHash, u64)>,
}

/// Who asks, as their token says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Requester {
    /// Their name.
    pub user: String,
    /// What they may do.
    pub role: Role,
    /// The hash of the token by which they were let in. It has to be theirs still when what they order is done: that may have been
    /// long on its way.
    pub token: Option<String>,
}

impl Requester {
    /// The coordinator itself, whose orders have no user's name: a user's is never empty.
    pub fn coordinator() -> Self {
        Self { user: String::new(), role: Role::Admin, token: None }
    }

    /// Who is to blame, as facts have it.
    pub(super) fn actor(&self) -> Actor {
        if self.user.is_empty() { Actor::Coordinator } else { Actor::User(self.user.clone()) }
    }
}

/// What someone wants done. Secrets come in as hashes.
#[derive(Clone, PartialEq, Debug)]
pub enum Order {
    /// Run this. Whoever drives the desk has looked for its files.
    Submit {
        /// What.
        job: Admitted,
        /// A submission under a key that was used already is that earlier one, with which the job was compared before if it left memory.
        key: Option<String>,
        /// Files it needs that are not stored here.
        files: JobFiles,
    },
    /// Stop tasks for good.
    Cancel(JobId, Choice),
    /// Let tasks wait until they are released.
    Hold(JobId, Choice),
    /// Let held tasks go on.
    Release(JobId, Choice),
    /// Let ended tasks run again. What was asked for with the job is read before, where the job left memory: it may be long.
    Rerun(JobId, Choice, Option<Arc<JobSpec>>),
    /// Keep the results of a job until this is taken back, or take it back.
    KeepResults(JobId, bool),
    /// Remove the results of those of some jobs that were over for long enough.
    RemoveResults(Vec<JobId>),
    /// No file of the removed results of these jobs is left.
    ResultsGone(Vec<JobId>),
    /// Let nothing be known any more of those of some jobs that were over for long enough.
    ForgetJobs(Vec<JobId>),
    /// What administrators order.
    Administer(Administration),
    /// Join. The token is the permission, whoever asks.
    Enrol {
        /// SHA-256 of the token.
        token: String,
        /// Who.
        enrolment: Box<Checked<Enrolment>>,
    },
}

/// What administrators want done.
#[derive(Clone, PartialEq, Debug)]
pub enum Administration {
    /// Schedule by another rule.
    SetPolicy(PolicyKeys),
    /// Let so much be spent, or let running cost nothing.
    SetBudget(Option<PolicyKeys>),
    /// Let a user, or everyone without a quota of their own, have so much.
    SetQuota(QuotaSetting),
    /// Let running on a machine cost this.
    SetPrice {
        /// Its name.
        machine: String,
        /// Credits for a million operations.
        price: f64,
    },
    /// Let a machine be one of an owner's, or its own.
    SetOwner {
        /// Its name.
        machine: String,
        /// The owner's.
        owner: Option<String>,
    },
    /// Let new tasks start on a machine, or do not.
    SetOpen {
        /// Its name.
        machine: String,
        /// Whether they may.
        open: bool,
        /// What they may not for, as somebody said.
        why: Option<String>,
    },
    /// Let what runs on a machine stand still, or go on.
    SetPaused {
        /// Its name.
        machine: String,
        /// Whether it is to stand still.
        paused: bool,
    },
    /// Measure a machine again.
    Measure(String),
    /// Never let an agent back in.
    Revoke(String),
    /// Never let an agent back in, list it no more, and let another bear its name.
    Forget(String),
    /// Let someone sign in.
    AddUser(NewUser),
    /// Let a user sign in no more. Their jobs go on.
    RemoveUser(String),
    /// Let agents join.
    IssueJoinToken {
        /// SHA-256 of the token.
        token: String,
        /// Until when.
        expires: Time,
        /// How many.
        uses: u32,
        /// Whose machines they are, where answers are compared.
        owner: Option<String>,
    },
    /// Let nobody join any more with the token whose hash begins so.
    RemoveJoinToken(String),
}

/// Who is to sign in, and how.
#[derive(Clone, PartialEq, Debug)]
pub struct NewUser {
    /// The name.
    pub user: String,
    /// SHA-256 of the token.
    pub token: String,
    /// What they may do; as before if nothing is said, and a new one is a user.
    pub role: Option<Role>,
    /// When the token is of no use any more, if ever.
    pub expires: Option<Time>,
    /// Whether it may be somebody who was removed and whose jobs are there.
    pub again: bool,
}

/// Why an order was not carried out.
pub(super) enum NotDone {
    /// For whoever ordered it.
    Rejected(Rejection),
    /// What left memory could not be read.
    Unread(ReadError),
}

impl From<Rejection> for NotDone {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl From<ReadError> for NotDone {
    fn from(error: ReadError) -> Self {
        Self::Unread(error)
    }
}

/// What an order led to.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// A job is in the queue.
    Submitted {
        /// What its user is told.
        told: Submitted,
        /// Whether its files are kept as the job's: those of an earlier submission may be gone.
        keeps_files: bool,
    },
    /// An order applied to some tasks.
    Ordered(Ordered),
    /// An agent may connect.
    Enrolled(Enrolled),
    /// Someone may sign in.
    UserAdded {
        /// What they may do.
        role: Role,
        /// What they could do before, if they were known.
        was: Option<Role>,
    },
    /// Of so many jobs the results are removed, and so many bytes.
    Removed(Amount),
    /// It is done.
    Done,
}
