//! What users and administrators order.

use super::Desk;
use super::admission::{Admitted, Rejection, RejectionKind, check_name};
use super::keeping::{check_rerun, check_revival};
use super::order::{Answer, JobFiles, NotDone, Order, Requester};
use crate::journal::{Chosen, Fact, Revived};
use crate::ledger::{Job, Record, Wish, to_revive};
use crate::limits::{DESCRIPTION_BYTES_FREE, PIECES_MAX};
use crate::store::{PastReader, ReadError, Results, TaskRange};
use gleaner_policy::PolicyError;
use gleaner_units::Time;
use gleaner_wire::api::{Choice, Ordered, Role, Submitted, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{BlobHash, JobId, VERSION};
use std::sync::Arc;

/// The job that was submitted under the same key.
struct Earlier {
    id: JobId,
    job: Job,
    /// Whether it is the same as the one that is submitted now.
    is_same: bool,
}

impl Desk {
    /// Whether the token by which somebody was let in is theirs still, for the same.
    fn knows(&self, by: &Requester) -> bool {
        let Some(token) = &by.token else { return true };
        let known = self.ledger.people().user(token);
        known.is_some_and(|known| known.name == by.user && known.role == by.role)
    }

    pub(super) fn order(
        &mut self,
        now: Time,
        by: &Requester,
        order: Order,
        past: &dyn PastReader,
    ) -> Result<Answer, NotDone> {
        if !self.knows(by) {
            let message = "nobody has this token, or not any more";
            return Err(Rejection::of(RejectionKind::Unknown, message).into());
        }
        if by.role == Role::Reader {
            let message = "a reader of this grid sees all jobs and machines, and changes nothing";
            return Err(Rejection::of(RejectionKind::Forbidden, message).into());
        }
        match order {
            Order::Submit { job, key, files } => {
                let earlier =
                    key.as_deref().map_or(Ok(None), |key| self.earlier(&by.user, key, &job, past))?;
                return Ok(self.submit(now, by, &job, key, &files, earlier)?);
            }
            Order::Cancel(id, choice) => {
                let applies = |record: &Record| record.can_wish(Wish::Cancel);
                return self.choose_open(now, by, (id, &choice), applies, Fact::TasksCancelled, past);
            }
            Order::Hold(id, choice) => {
                let applies = |record: &Record| record.can_wish(Wish::Hold);
                return self.choose_open(now, by, (id, &choice), applies, Fact::TasksHeld, past);
            }
            Order::Release(id, choice) => {
                return self.choose_open(
                    now,
                    by,
                    (id, &choice),
                    Record::can_release,
                    Fact::TasksReleased,
                    past,
                );
            }
            Order::Rerun(id, choice, spec) => {
                let applies = |record: &Record| record.phase.is_over();
                let job = own_job(by, id, self.known_job(id, past)?)?;
                let job = self.described(id, job, spec)?;
                return self.choose(now, by, (id, &job, &choice), applies, Fact::TasksRerun, past);
            }
            Order::KeepResults(job, keep) => {
                let own = own_job(by, job, self.known_job(job, past)?)?;
                self.keep_results(now, by.actor(), (job, &own), keep)?;
            }
            Order::RemoveResults(jobs) => {
                return Ok(Answer::Removed(self.remove_results(now, &jobs, past)?));
            }
            Order::ResultsGone(jobs) => self.results_gone(now, &jobs, past)?,
            Order::ForgetJobs(jobs) => self.forget_jobs(now, &jobs, past)?,
            Order::Enrol { token, enrolment } => {
                return Ok(self.enrol(now, &token, enrolment.into_said())?);
            }
            Order::Administer(order) => return Ok(self.administer(now, by, order)?),
        }
        Ok(Answer::Done)
    }

    fn submit(
        &mut self,
        now: Time,
        by: &Requester,
        job: &Admitted,
        key: Option<String>,
        files: &JobFiles,
        earlier: Option<Earlier>,
    ) -> Result<Answer, Rejection> {
        let spec = job.spec();
        job.check_signer(&by.user)?;
        if let Some(earlier) = earlier {
            return submitted_before(&earlier);
        }
        if let Some(key) = &key {
            check_name("a submission", key).map_err(|refusal| Rejection {
                message: format!("the header Idempotency-Key: {}", refusal.message),
                ..refusal
            })?;
        }
        if let Some(hash) = files.missing.first() {
            return Err(Rejection::invalid(format!("the file {hash} is not stored here; upload it first")));
        }
        let (job, tasks) = (self.ledger.next_job(), spec.tasks.count());
        self.check_room(by, spec)?;
        let user = by.user.clone();
        let is_new = |(hash, _): &&(BlobHash, u64)| !self.ledger.is_named_by(&user, hash);
        let bytes: u64 = files.there.iter().filter(is_new).map(|(_, bytes)| bytes).sum();
        let described = spec.memory_bytes().saturating_sub(DESCRIPTION_BYTES_FREE);
        self.check_bytes(&user, bytes.saturating_add(described))?;
        self.record(now, Fact::JobSubmitted { job, user, spec: Arc::clone(spec), key, bytes, described });
        Ok(Answer::Submitted { told: Submitted { version: VERSION, job, tasks }, keeps_files: true })
    }

    /// The job that a user submitted under a key, in memory or in the store.
    fn earlier(
        &self,
        user: &str,
        key: &str,
        job: &Admitted,
        past: &dyn PastReader,
    ) -> Result<Option<Earlier>, NotDone> {
        let known = self.ledger.job_with_key(user, key);
        if let Some((id, known)) = known.and_then(|id| Some((id, self.ledger.find_job(id)?))) {
            return Ok(Some(Earlier { id, job: known.clone(), is_same: job.is_same(&known.spec) }));
        }
        let Some((id, retired)) = Job::find_listed_with_key(past, user, key)? else { return Ok(None) };
        let is_same = job.is_same_as_retired(id).ok_or_else(|| just_retired(id))?;
        Ok(Some(Earlier { id, job: retired, is_same }))
    }

    /// A job with all that was asked for: of a retired one, that was read before the order.
    fn described(&self, id: JobId, job: Job, spec: Option<Arc<JobSpec>>) -> Result<Job, Rejection> {
        if self.ledger.find_job(id).is_some() {
            return Ok(job);
        }
        spec.map(|spec| Job { spec, ..job }).ok_or_else(|| just_retired(id))
    }

    /// What applies to tasks that are not over: to none of a retired job.
    fn choose_open(
        &mut self,
        now: Time,
        by: &Requester,
        (id, choice): (JobId, &Choice),
        applies: impl Fn(&Record) -> bool,
        fact: fn(Chosen) -> Fact,
        past: &dyn PastReader,
    ) -> Result<Answer, NotDone> {
        let job = own_job(by, id, self.known_job(id, past)?)?;
        if self.ledger.find_job(id).is_none() {
            return Ok(Answer::Ordered(Ordered { version: VERSION, tasks: 0 }));
        }
        self.choose(now, by, (id, &job, choice), applies, fact, past)
    }

    fn choose(
        &mut self,
        now: Time,
        by: &Requester,
        (id, job, choice): (JobId, &Job, &Choice),
        applies: impl Fn(&Record) -> bool,
        fact: fn(Chosen) -> Fact,
        past: &dyn PastReader,
    ) -> Result<Answer, NotDone> {
        let named = self.named_tasks(id, job, choice)?;
        let wanted =
            |record: &Record| applies(record) && (!choice.failed || record.phase == TaskPhase::Failed);
        let stretches = named.into_iter().flat_map(|range| self.ledger.stretches(range));
        let (mut chosen, mut retired) = (Vec::new(), Vec::new());
        let (mut count, mut coming_back) = (0, 0);
        for (tasks, record) in stretches.filter(|(_, record)| wanted(record)) {
            chosen.push(tasks);
            count += tasks.count();
            if record.is_retired() {
                coming_back += tasks.count();
                check_revival(id, coming_back)?;
                retired.push(tasks);
            }
        }
        // None listed stands for all, which keeps the fact short for a job of a million tasks.
        let is_all = choice.tasks.is_empty() && !choice.failed && chosen.len() <= PIECES_MAX;
        let listed = |some: &[TaskRange]| if is_all { Vec::new() } else { TaskRange::merged(some.to_vec()) };
        let of = |tasks| fact(Chosen { job: id, tasks, by: by.actor() });
        let facts: Vec<Fact> = chosen.chunks(PIECES_MAX).map(|some| of(listed(some))).collect();
        if let [Fact::TasksRerun(_), ..] = facts[..] {
            self.check_priority(by, &job.user, &job.spec)?;
            self.check_goes_again(id, job, count)?;
            self.revive(now, (id, job), &TaskRange::merged(retired), past)?;
        }
        for fact in facts {
            self.record(now, fact);
        }
        Ok(Answer::Ordered(Ordered { version: VERSION, tasks: count }))
    }

    /// The tasks of a job that an order names; it names all if it names none.
    fn named_tasks(&mut self, id: JobId, job: &Job, choice: &Choice) -> Result<Vec<TaskRange>, Rejection> {
        let named =
            if choice.tasks.is_empty() { vec![job.range()] } else { numbered(id, job, &choice.tasks)? };
        self.check_pieces(id, job, if choice.tasks.is_empty() { 0 } else { named.len() })?;
        Ok(named)
    }

    /// Whether so many tasks of a job that are over may run again.
    fn check_goes_again(&self, id: JobId, job: &Job, count: u32) -> Result<(), Rejection> {
        self.check_quota(&job.user, count)?;
        self.check_requirements(&job.user, &job.spec)?;
        if job.tally.open() == 0 {
            self.check_descriptions(&job.user, &job.spec)?;
        }
        self.check_comparing(&job.spec)?;
        check_rerun(id, job)
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
                "this order would divide the unfinished tasks of job {id} into {PIECES_MAX} stretches or more, so that no two neighbours are alike: \
                 first order something about the whole job, as `gleaner hold {id}` or `gleaner cancel {id}`"
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
        for tasks in to_revive(past, job, tasks)? {
            self.record(now, Fact::TasksRevived(Revived { job: id, back: back.take(), tasks }));
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

/// Between the read beside the desk and the order, a job left memory.
fn just_retired(id: JobId) -> Rejection {
    Rejection::of(
        RejectionKind::Conflict,
        format!("job {id} left memory at this very moment; ask for the same again"),
    )
}

fn submitted_before(Earlier { id, job, is_same }: &Earlier) -> Result<Answer, Rejection> {
    if !is_same {
        let message =
            format!("job {id} was submitted with this key, and it is a different job; use a new key");
        return Err(Rejection::of(RejectionKind::Conflict, message));
    }
    let told = Submitted { version: VERSION, job: *id, tasks: job.count };
    Ok(Answer::Submitted { told, keeps_files: matches!(job.results, Results::There | Results::Kept) })
}

fn numbered(id: JobId, job: &Job, numbers: &[u32]) -> Result<Vec<TaskRange>, Rejection> {
    let task = |&number: &u32| {
        let missing = || Rejection::of(RejectionKind::NotFound, job.has_no_task(id, number));
        job.task(number).map(TaskRange::one).ok_or_else(missing)
    };
    numbers.iter().map(task).collect::<Result<_, _>>().map(TaskRange::merged)
}
