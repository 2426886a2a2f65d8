//! What users and administrators order.

use super::Desk;
use super::admission::{Admitted, Rejection, RejectionKind, check_name};
use super::claims::Checked;
use super::keeping::{check_rerun, check_revival};
use crate::journal::{Chosen, Fact, Revived};
use crate::ledger::{Job, Record, Wish, to_revive};
use crate::limits::PIECES_MAX;
use crate::store::{Amount, PastReader, ReadError, TaskRange};
use gleaner_policy::{PolicyError, PolicySpec};
use gleaner_units::{TaskId, Time};
use gleaner_wire::api::{
    Actor, Choice, Enrolled, Enrolment, Ordered, PolicyKeys, QuotaSetting, Role, Submitted, TaskPhase,
};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{BlobHash, JobId, VERSION};
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
}

impl Requester {
    /// The coordinator itself, whose orders have no user's name: a user's is never empty.
    pub fn coordinator() -> Self {
        Self { user: String::new(), role: Role::Admin }
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
        /// A submission under a key that was used already is that earlier one.
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
    /// Let ended tasks run again.
    Rerun(JobId, Choice),
    /// Keep the results of a job until this is taken back, or take it back.
    KeepResults(JobId, bool),
    /// Remove the results of those of some jobs that were over for long enough.
    RemoveResults(Vec<JobId>),
    /// No file of the removed results of these jobs is left.
    ResultsGone(Vec<JobId>),
    /// Let nothing be known any more of those of some jobs that were over for long enough.
    ForgetJobs(Vec<JobId>),
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
    AddUser {
        /// The name.
        user: String,
        /// SHA-256 of the token.
        token: String,
        /// What they may do; as before if nothing is said, and a new one is a user.
        role: Option<Role>,
        /// When the token is of no use any more, if ever.
        expires: Option<Time>,
        /// Whether it may be somebody who was removed and whose jobs are there.
        again: bool,
    },
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
    /// Join. The token is the permission, whoever asks.
    Enrol {
        /// SHA-256 of the token.
        token: String,
        /// Who.
        enrolment: Box<Checked<Enrolment>>,
    },
}

/// What an order led to.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// A job is in the queue.
    Submitted(Submitted),
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

impl Desk {
    pub(super) fn order(
        &mut self,
        now: Time,
        by: &Requester,
        order: Order,
        past: &dyn PastReader,
    ) -> Result<Result<Answer, Rejection>, ReadError> {
        if by.role == Role::Reader {
            let message = "a reader of this grid sees all jobs and machines, and changes nothing";
            return Ok(Err(Rejection::of(RejectionKind::Forbidden, message)));
        }
        Ok(match order {
            Order::Submit { job, key, files } => {
                let earlier = key.as_deref().map_or(Ok(None), |key| self.earlier(&by.user, key, past))?;
                self.submit(now, by, &job, key, &files, earlier)
            }
            Order::Cancel(job, choice) => {
                let applies = |record: &Record| record.can_wish(Wish::Cancel);
                self.choose(now, by, (job, &choice), applies, Fact::TasksCancelled, past)?
            }
            Order::Hold(job, choice) => {
                let applies = |record: &Record| record.can_wish(Wish::Hold);
                self.choose(now, by, (job, &choice), applies, Fact::TasksHeld, past)?
            }
            Order::Release(job, choice) => {
                self.choose(now, by, (job, &choice), Record::can_release, Fact::TasksReleased, past)?
            }
            Order::Rerun(job, choice) => {
                let applies = |record: &Record| record.phase.is_over();
                self.choose(now, by, (job, &choice), applies, Fact::TasksRerun, past)?
            }
            Order::KeepResults(job, keep) => {
                let own = own_job(by, job, self.known_job(job, past)?);
                let kept = own.and_then(|own| self.keep_results(now, by.actor(), (job, &own), keep));
                kept.map(|()| Answer::Done)
            }
            Order::RemoveResults(jobs) => Ok(Answer::Removed(self.remove_results(now, &jobs, past)?)),
            Order::ResultsGone(jobs) => {
                self.results_gone(now, &jobs, past)?;
                Ok(Answer::Done)
            }
            Order::ForgetJobs(jobs) => {
                self.forget_jobs(now, &jobs, past)?;
                Ok(Answer::Done)
            }
            Order::Enrol { token, enrolment } => self.enrol(now, &token, enrolment.into_said()),
            Order::SetPolicy(_)
            | Order::SetBudget(_)
            | Order::SetQuota(_)
            | Order::SetPrice { .. }
            | Order::SetOwner { .. }
            | Order::SetOpen { .. }
            | Order::SetPaused { .. }
            | Order::Measure(_)
            | Order::Revoke(_)
            | Order::Forget(_)
            | Order::AddUser { .. }
            | Order::RemoveUser(_)
            | Order::IssueJoinToken { .. }
            | Order::RemoveJoinToken(_) => self.administer(now, by, order),
        })
    }

    fn submit(
        &mut self,
        now: Time,
        by: &Requester,
        job: &Admitted,
        key: Option<String>,
        files: &JobFiles,
        earlier: Option<(JobId, Job)>,
    ) -> Result<Answer, Rejection> {
        let spec = job.spec();
        job.check_signer(&by.user)?;
        if let Some((id, earlier)) = earlier {
            return submitted_before(id, &earlier, spec);
        }
        if let Some(key) = &key {
            check_name("a submission", key).map_err(|refusal| Rejection {
                message: format!("the header Idempotency-Key: {}", refusal.message),
                ..refusal
            })?;
        }
        if let Some(hash) = spec.files().find(|hash| files.missing.contains(hash)) {
            return Err(Rejection::invalid(format!("the file {hash} is not stored here; upload it first")));
        }
        let (job, tasks) = (self.ledger.next_job(), spec.tasks.count());
        if self.ledger.task_count() as u64 + u64::from(tasks) > u64::from(u32::MAX) {
            return Err(Rejection::of(
                RejectionKind::Conflict,
                "this grid has had as many tasks as it can count",
            ));
        }
        self.check_quota(&by.user, tasks)?;
        self.check_requirements(&by.user, spec)?;
        self.check_descriptions(&by.user, spec)?;
        self.check_comparing(spec)?;
        let user = by.user.clone();
        let is_new = |(hash, _): &&(BlobHash, u64)| !self.ledger.is_named_by(&user, hash);
        let bytes = files.there.iter().filter(is_new).map(|(_, bytes)| bytes).sum();
        self.check_bytes(&user, bytes)?;
        self.record(now, Fact::JobSubmitted { job, user, spec: Arc::clone(spec), key, bytes });
        Ok(Answer::Submitted(Submitted { version: VERSION, job, tasks }))
    }

    /// The job that a user submitted under a key, in memory or in the store.
    fn earlier(
        &self,
        user: &str,
        key: &str,
        past: &dyn PastReader,
    ) -> Result<Option<(JobId, Job)>, ReadError> {
        let known = self.ledger.job_with_key(user, key);
        let known = known.and_then(|id| Some((id, self.ledger.find_job(id)?.clone())));
        known.map_or_else(|| Job::find_past_with_key(past, user, key), |known| Ok(Some(known)))
    }

    fn choose(
        &mut self,
        now: Time,
        by: &Requester,
        (id, choice): (JobId, &Choice),
        applies: impl Fn(&Record) -> bool,
        fact: fn(Chosen) -> Fact,
        past: &dyn PastReader,
    ) -> Result<Result<Answer, Rejection>, ReadError> {
        let job = match own_job(by, id, self.known_job(id, past)?) {
            Ok(job) => job,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let wanted =
            |record: &Record| applies(record) && (!choice.failed || record.phase == TaskPhase::Failed);
        let named =
            if choice.tasks.is_empty() { Ok(vec![job.range()]) } else { numbered(id, &job, &choice.tasks) };
        let is_about_all = choice.tasks.is_empty();
        let allowed = |named: Vec<TaskRange>, desk: &mut Self| {
            desk.check_pieces(id, &job, if is_about_all { 0 } else { named.len() }).map(|()| named)
        };
        let named = match named.and_then(|named| allowed(named, self)) {
            Ok(named) => named,
            Err(rejection) => return Ok(Err(rejection)),
        };
        let stretches = named.into_iter().flat_map(|range| self.ledger.stretches(range));
        let chosen: Vec<(TaskRange, bool)> = stretches
            .filter(|(_, record)| wanted(record))
            .map(|(tasks, record)| (tasks, record.is_retired()))
            .collect();
        let count = chosen.iter().map(|(tasks, _)| tasks.count()).sum();
        if count > 0 {
            // None listed stands for all, which keeps the fact short for a job of a million tasks.
            let is_all = choice.tasks.is_empty() && !choice.failed && chosen.len() <= PIECES_MAX;
            let listed = |some: &[(TaskRange, bool)]| {
                let tasks = some.iter().map(|(tasks, _)| *tasks).collect();
                if is_all { Vec::new() } else { TaskRange::merged(tasks) }
            };
            let of = |tasks| fact(Chosen { job: id, tasks, by: by.actor() });
            let facts: Vec<Fact> = chosen.chunks(PIECES_MAX).map(|some| of(listed(some))).collect();
            if let [Fact::TasksRerun(_), ..] = facts[..] {
                let may = self
                    .check_quota(&job.user, count)
                    .and_then(|()| self.check_requirements(&job.user, &job.spec))
                    .and_then(|()| {
                        if job.tally.open() > 0 {
                            Ok(())
                        } else {
                            self.check_descriptions(&job.user, &job.spec)
                        }
                    })
                    .and_then(|()| self.check_comparing(&job.spec))
                    .and_then(|()| check_rerun(id, &job));
                if let Err(rejection) = may {
                    return Ok(Err(rejection));
                }
                let retired =
                    chosen.into_iter().filter(|(_, is_retired)| *is_retired).map(|(tasks, _)| tasks);
                let retired = TaskRange::merged(retired.collect());
                if let Err(rejection) = check_revival(id, &retired) {
                    return Ok(Err(rejection));
                }
                self.revive(now, (id, &job), &retired, past)?;
            }
            for fact in facts {
                self.record(now, fact);
            }
        }
        Ok(Ok(Answer::Ordered(Ordered { version: VERSION, tasks: count })))
    }

    /// Orders about tasks by number do not leave the tasks of a job that are to be done in too many pieces: each later order about
    /// all of them would keep everybody waiting. `ranges` is 0 for one about the whole job.
    fn check_pieces(&mut self, id: JobId, job: &Job, ranges: usize) -> Result<(), Rejection> {
        if ranges == 0 || (job.tally.open() as usize) < PIECES_MAX {
            self.pieces.forget(id);
            return Ok(());
        }
        let Self { ledger, pieces, .. } = self;
        let count = || {
            let open = ledger.stretches(job.range()).filter(|(_, record)| !record.phase.is_over());
            open.take(PIECES_MAX).count()
        };
        if pieces.allow(id, ranges, count) {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Conflict,
            format!(
                "the tasks of job {id} that are to be done would lie in {PIECES_MAX} pieces or more, of which no two neighbours are alike: \
                 order something about the whole job first, as `gleaner hold {id}` or `gleaner cancel {id}`"
            ),
        ))
    }

    /// Has retired tasks of a job back in memory. Costs O(these tasks).
    fn revive(
        &mut self,
        now: Time,
        (id, job): (JobId, &Job),
        tasks: &[TaskRange],
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        if tasks.is_empty() {
            return Ok(());
        }
        let mut back = self.ledger.find_job(id).is_none().then(|| Box::new(job.to_past()));
        for tasks in to_revive(past, tasks)? {
            self.record(now, Fact::TasksRevived(Revived { job: id, back: back.take(), tasks }));
        }
        Ok(())
    }

    /// Whether a user may have so many tasks more that are not over.
    fn check_quota(&self, user: &str, more: u32) -> Result<(), Rejection> {
        let (most, open) = (self.ledger.people().quota(user).tasks, self.ledger.open_tasks(user));
        if open + u64::from(more) <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "{user} has {open} tasks that are not over, and {more} more would be above the quota of {most}; wait \
                 until some are over, or ask an administrator for more (`gleaner quota set --user {user} --tasks N`)"
            ),
        ))
    }

    /// Whether a user may have so many bytes of requirements more.
    fn check_requirements(&self, user: &str, spec: &JobSpec) -> Result<(), Rejection> {
        let most = self.ledger.people().quota(user).requirement_bytes;
        let (used, more) =
            (self.ledger.requirement_bytes_of(user), self.ledger.more_requirement_bytes(user, spec));
        if more == 0 || used + more <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "requirements, ranks and labels of {user}'s jobs that are not over take {used} bytes, and {more} more would be \
                 above the quota of {most}; let jobs have the same ones, wait until some are over, or ask an administrator for more \
                 (`gleaner quota set --user {user} --requirements BYTES`)"
            ),
        ))
    }

    /// Whether the description of one more job of a user's that is not over may be in memory.
    fn check_descriptions(&self, user: &str, spec: &JobSpec) -> Result<(), Rejection> {
        let most = self.ledger.people().quota(user).description_bytes;
        let (used, more) = (self.ledger.description_bytes_of(user), spec.memory_bytes());
        if used + more <= most {
            return Ok(());
        }
        Err(Rejection::of(
            RejectionKind::Quota,
            format!(
                "descriptions of {user}'s jobs that are not over (commands, variables, tables, lists of files) take {used} bytes of memory \
                 here, and {more} more would be above the quota of {most}; wait until some are over, put what is long into input files, \
                 or ask an administrator for more (`gleaner quota set --user {user} --descriptions BYTES`)"
            ),
        ))
    }

    /// Whether so much more may be kept for a user.
    fn check_bytes(&self, user: &str, more: u64) -> Result<(), Rejection> {
        match self.ledger.people().quota(user).check_bytes(user, self.ledger.bytes_of(user), more) {
            Ok(()) => Ok(()),
            Err(above) => Err(Rejection::of(RejectionKind::Quota, above.to_string())),
        }
    }

    /// What is being compared, or is to be, goes on under whatever policy; and what cannot be compared is not.
    pub(super) fn check_goes_on_comparing(&self, policy: &PolicySpec) -> Result<(), Rejection> {
        let mut open = self.ledger.jobs().filter(|(_, job)| job.tally.open() > 0);
        if policy.checking().is_some()
            && let Some((id, job)) = open.find(|(_, job)| job.spec.checkpoint.exit_code.is_some())
            && let Some(code) = job.spec.checkpoint.exit_code
        {
            let message = format!(
                "job {id} asks with exit code {code} to be run again, and {} has answers compared, each one machine's from its beginning: \
                 it would never end; wait for such jobs, or cancel them",
                policy.name()
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        let Err(why) = policy.recipe().check_comparing() else { return Ok(()) };
        let mut asking = self.ledger.jobs().filter(|(_, job)| job.spec.quorum > 1 && job.tally.open() > 0);
        // What was cancelled is compared with nothing more; if it is to run again, that is asked again.
        let is_open = |task: &TaskId| !self.ledger.record(*task).phase.is_over();
        let compared = self.ledger.grid().comparisons().map(|(task, _)| task).find(is_open);
        let compared = compared.map(|task| self.ledger.job_of(task).0);
        match asking.next().map(|(id, _)| id).or(compared) {
            None => Ok(()),
            Some(job) => {
                let message = format!(
                    "job {job} has tasks that several machines have to answer alike, and {} makes no copies for that: {why}; wait \
                     for such jobs, or cancel them",
                    policy.name()
                );
                Err(Rejection::of(RejectionKind::Conflict, message))
            }
        }
    }

    /// Whether the policy in force has several machines answer, where a job asks for that; and whether a job can be one that
    /// several answer, where the policy asks for that.
    fn check_comparing(&self, spec: &JobSpec) -> Result<(), Rejection> {
        let policy = self.ledger.policy();
        if spec.quorum > 1
            && let Err(why) = policy.recipe().check_comparing()
        {
            let message = format!(
                "quorum is {}, and the policy in force, {}, makes no copies for that: {why}; submit it without a quorum, or have \
                 an administrator set another policy",
                spec.quorum,
                policy.name()
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        if let (Some(_), Some(code)) = (policy.checking(), spec.checkpoint.exit_code) {
            let message = format!(
                "checkpoint.exit_code is {code}, and the policy in force has answers compared, each one machine's from its \
                 beginning: a program that asks to be run again would never end; have it go on by itself"
            );
            return Err(Rejection::of(RejectionKind::Conflict, message));
        }
        Ok(())
    }
}

impl From<PolicyError> for Rejection {
    fn from(error: PolicyError) -> Self {
        Self::invalid(error.to_string())
    }
}

/// Whether it exists is nobody else's business.
fn own_job(by: &Requester, id: JobId, found: Option<Job>) -> Result<Job, Rejection> {
    let found = found.filter(|job| by.role.sees_all() || job.user == by.user);
    found.ok_or_else(|| {
        Rejection::of(RejectionKind::NotFound, format!("no job {id} of yours; see `gleaner status`"))
    })
}

fn submitted_before(id: JobId, job: &Job, spec: &JobSpec) -> Result<Answer, Rejection> {
    let is_signed = job.spec.signed.is_some() || spec.signed.is_some();
    // A signature is another each time.
    if *job.spec != *spec && !(is_signed && job.spec.unsigned() == spec.unsigned()) {
        let message = format!("job {id} was submitted under this key, and it is another; use a new key");
        return Err(Rejection::of(RejectionKind::Conflict, message));
    }
    Ok(Answer::Submitted(Submitted { version: VERSION, job: id, tasks: job.count }))
}

fn numbered(id: JobId, job: &Job, numbers: &[u32]) -> Result<Vec<TaskRange>, Rejection> {
    let task = |&number: &u32| {
        let missing = || Rejection::of(RejectionKind::NotFound, format!("job {id} has no task {number}"));
        job.task(number).map(TaskRange::one).ok_or_else(missing)
    };
    numbers.iter().map(task).collect::<Result<_, _>>().map(TaskRange::merged)
}
