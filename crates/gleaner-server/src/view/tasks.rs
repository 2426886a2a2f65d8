//! Jobs and tasks as users see them.

use super::runs::{open_runs, waits_for_space};
use super::waits::{self, Situation};
use super::{Known, KnownTask};
use crate::desk::Desk;
use crate::ledger::{Job, OPERATIONS_EACH};
use crate::store::{ReadError, Removal, Results, TaskRange};
use gleaner_units::{TaskId, Time};
use gleaner_wire::api::{JobList, JobState, JobView, RemovalView, TaskList, TaskPhase, TaskView};
use gleaner_wire::{JobId, VERSION};

/// A job.
pub fn job(known: &Known<'_>, now: Time, id: JobId, job: &Job) -> JobView {
    job_view(known.desk(), now, id, job)
}

fn removal(removal: Removal) -> RemovalView {
    RemovalView { at_s: removal.at.seconds(), kept_for_s: removal.kept_for.seconds() }
}

/// The newest jobs, of one user or of all.
pub fn jobs(
    known: &Known<'_>,
    now: Time,
    user: Option<&str>,
    state: Option<JobState>,
    limit: usize,
) -> Result<JobList, ReadError> {
    let jobs = known.jobs(user, state, limit)?;
    let jobs = jobs.iter().map(|(id, job)| job_view(known.desk(), now, *id, job));
    Ok(JobList { version: VERSION, jobs: jobs.collect() })
}

/// A task of a job.
pub fn task(known: &Known<'_>, of: (JobId, &Job), task: &KnownTask<'_>) -> TaskView {
    let (ledger, (job_id, job)) = (known.ledger(), of);
    let KnownTask { id, ref record, runs, length } = *task;
    let last = record.last.as_ref();
    let removed = job.removed_since(record.ended);
    TaskView {
        job: job_id,
        task: job.number(id),
        phase: record.phase,
        runs,
        open_runs: open_runs(known.desk(), id),
        length: length.map(|length| length * OPERATIONS_EACH),
        machine: record.machine.map(|on| ledger.agent(on).name.clone()),
        started_s: record.started.map(Time::seconds),
        ended_s: record.ended.map(Time::seconds),
        outcome: last.map(|last| last.outcome.clone()),
        usage: last.map(|last| last.usage),
        checkpoint: record.checkpoint.clone().filter(|_| removed.is_none()),
        files: last.and_then(|last| last.files.clone()).filter(|_| removed.is_none()),
        results_removed: removed.map(removal),
    }
}

/// Some of a job's tasks: at most `limit`, from a position on, in one phase or in all.
pub fn tasks(
    known: &Known<'_>,
    (id, job): (JobId, &Job),
    from: u32,
    limit: usize,
    phase: Option<TaskPhase>,
) -> Result<TaskList, ReadError> {
    let ledger = known.ledger();
    let last = job.range().last();
    let from = (from < job.count).then(|| TaskId::new(job.first.index() + from as usize));
    let rest = from.and_then(|from| TaskRange::between(from, last));
    let stretches = rest.into_iter().flat_map(|rest| ledger.stretches(rest));
    let wanted = stretches.filter(|(_, record)| phase.is_none_or(|phase| record.phase == phase));
    let mut found = wanted.flat_map(|(stretch, _)| stretch.tasks());
    let listed = TaskRange::merged(found.by_ref().take(limit).map(TaskRange::one).collect());
    let next = found.next().map(|task| job.position(task));
    let mut tasks = Vec::new();
    for range in listed {
        tasks.extend(known.tasks(range)?.iter().map(|found| task(known, (id, job), found)));
    }
    Ok(TaskList { version: VERSION, tasks, next })
}

fn job_view(desk: &Desk, now: Time, id: JobId, job: &Job) -> JobView {
    let is_there = job.results == Results::There;
    let until = job.ended.filter(|_| is_there).zip(desk.terms().keeping.results);
    let until = until.map(|(ended, kept_for)| desk.ledger().kept_until(ended, kept_for));
    JobView {
        version: VERSION,
        job: id,
        name: job.spec.name.clone(),
        user: job.user.clone(),
        state: job.tally.state(),
        tasks: job.tally,
        command: job.spec.command.clone(),
        submitted_s: job.submitted.seconds(),
        ended_s: job.ended.map(Time::seconds),
        label: job.spec.label.clone(),
        wasted_s: job.wasted_s,
        waits_for: waits_for_space(desk, job).or_else(|| waits::of_job(Situation::of(desk, now), job)),
        bytes: job.bytes,
        results_kept: job.results == Results::Kept,
        results_until_s: until.map(Time::seconds),
        results_removed: job.removed.map(removal),
    }
}
