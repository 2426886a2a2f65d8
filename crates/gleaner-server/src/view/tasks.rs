//! Jobs and tasks as users see them.

use super::KnownTask;
use super::reasons::Reasons;
use super::runs::{open_runs, waits_for_space};
use super::waits::{self, Situation};
use crate::desk::Desk;
use crate::ledger::{Job, OPERATIONS_EACH, RetiredTask};
use crate::limits::{COMMAND_LISTED_MAX, STRETCHES_LISTED_MAX};
use crate::store::{PastReader, ReadError, Removal, Results, TaskRange, Wanted};
use gleaner_units::{TaskId, Time};
use gleaner_wire::api::{Asked, JobList, JobView, RemovalView, TaskList, TaskPhase, TaskView};
use gleaner_wire::job::JobSpec;
use gleaner_wire::text::tamed;
use gleaner_wire::{JobId, VERSION};
use std::collections::BTreeMap;

/// A job.
pub fn job(desk: &Desk, now: Time, id: JobId, job: &Job) -> JobView {
    let listed = job_of_many((desk, now), (id, job), &mut Reasons::default());
    JobView { command: job.spec.command.clone(), ..listed }
}

/// One of several jobs, with the beginning of its command.
fn job_of_many((desk, now): (&Desk, Time), (id, job): (JobId, &Job), reasons: &mut Reasons) -> JobView {
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
        command: job.command_listed(),
        submitted_s: job.submitted.seconds(),
        ended_s: job.ended.map(Time::seconds),
        label: job.spec.label.clone(),
        wasted_s: job.wasted_s,
        lost_s: job.lost_s,
        waits_for: waits_for_space(desk, job, reasons)
            .or_else(|| waits::of_job(Situation::of(desk, now), job, reasons)),
        bytes: job.bytes,
        results_kept: job.results == Results::Kept,
        results_until_s: until.map(Time::seconds),
        results_removed: job.removed.map(removal),
    }
}

fn removal(removal: Removal) -> RemovalView {
    RemovalView { at_s: removal.at.seconds(), kept_for_s: removal.kept_for.seconds() }
}

/// The newest jobs, of one user or of all. Those that left memory are read between two looks.
#[derive(Debug)]
pub struct JobListing {
    wanted: Wanted,
    told: BTreeMap<JobId, JobView>,
    reasons: Reasons,
    past: Vec<(JobId, Job)>,
}

impl JobListing {
    /// Those that are in memory.
    pub fn begin(desk: &Desk, now: Time, wanted: Wanted) -> Self {
        let mut listing =
            Self { wanted, told: BTreeMap::new(), reasons: Reasons::default(), past: Vec::new() };
        listing.tell_living(desk, now);
        listing
    }

    /// Reads those that left memory.
    pub fn read(&mut self, past: &dyn PastReader) -> Result<(), ReadError> {
        self.past = Job::list_past(past, &self.wanted)?;
        Ok(())
    }

    /// All of them. One that left memory or came back while the others were read is told once.
    pub fn end(mut self, desk: &Desk, now: Time) -> JobList {
        self.tell_living(desk, now);
        for (id, job) in &self.past {
            let job = desk.ledger().find_job(*id).unwrap_or(job);
            let view = || job_of_many((desk, now), (*id, job), &mut self.reasons);
            self.told.entry(*id).or_insert_with(view);
        }
        let newest = self.told.into_values().rev().take(self.wanted.limit);
        JobList { version: VERSION, jobs: newest.collect() }
    }

    fn tell_living(&mut self, desk: &Desk, now: Time) {
        let Wanted { user, state, before, limit } = &self.wanted;
        let is_wanted = |id: JobId, job: &Job| {
            before.is_none_or(|before| id < before)
                && user.as_ref().is_none_or(|user| job.user == *user)
                && state.is_none_or(|state| job.tally.state() == state)
        };
        let living = desk.ledger().jobs().filter(|(id, job)| is_wanted(*id, job)).take(*limit);
        for (id, job) in living {
            self.told.entry(id).or_insert_with(|| job_of_many((desk, now), (id, job), &mut self.reasons));
        }
    }
}

/// A task of a job, of which the description is all here.
pub fn task(desk: &Desk, (id, job): (JobId, &Job), task: &KnownTask<'_>) -> TaskView {
    let (command, needs) = (job.command_of(task.id), Some(job.spec.needs.clone()));
    TaskView { command, needs, asked: Some(asked(&job.spec)), ..task_of_many(desk, (id, job), task) }
}

fn asked(spec: &JobSpec) -> Asked {
    let beginning = |text: Option<&String>| text.map(|text| tamed(text, COMMAND_LISTED_MAX));
    Asked {
        priority: spec.priority,
        retries: spec.retries,
        quorum: spec.quorum,
        checkpoint: spec.checkpoint.folder || spec.checkpoint.exit_code.is_some(),
        requirements: beginning(spec.requirements.as_ref()),
        rank: beginning(spec.rank.as_ref()),
    }
}

/// One of several tasks, without what its job's description says of it.
fn task_of_many(desk: &Desk, of: (JobId, &Job), task: &KnownTask<'_>) -> TaskView {
    let (ledger, (job_id, job)) = (desk.ledger(), of);
    let KnownTask { id, ref record, runs, length } = *task;
    let last = record.last.as_ref();
    let removed = job.removed_since(record.ended);
    TaskView {
        job: job_id,
        task: job.number(id),
        command: Vec::new(),
        needs: None,
        asked: None,
        phase: record.phase,
        runs,
        open_runs: open_runs(desk, id),
        length: length.map(|length| length * OPERATIONS_EACH),
        machine: record.machine.map(|on| ledger.agent(on).name.clone()),
        started_s: record.started.map(Time::seconds),
        ended_s: record.ended.map(Time::seconds),
        outcome: last.map(|last| last.outcome.clone()),
        usage: last.map(|last| last.usage),
        checkpoint: record.checkpoint.clone().filter(|_| removed.is_none()),
        files: record.files().cloned().filter(|_| removed.is_none()),
        notes: last.map_or_else(Vec::new, |last| last.notes.clone()),
        results_removed: removed.map(removal),
    }
}

/// Some of a job's tasks. Those that left memory are read between two looks.
#[derive(Debug)]
pub struct TaskListing {
    id: JobId,
    job: Job,
    listed: Vec<Listed>,
    next: Option<u32>,
    past: BTreeMap<TaskId, RetiredTask>,
}

#[derive(Debug)]
enum Listed {
    Told(Box<TaskView>),
    Retired(TaskRange),
}

impl TaskListing {
    /// Those that are in memory, and which the others are: at most `limit`, from a position on, in one phase or in all.
    pub fn begin(
        desk: &Desk,
        (id, job): (JobId, &Job),
        (from, limit): (u32, usize),
        phase: Option<TaskPhase>,
    ) -> Self {
        let ledger = desk.ledger();
        let last = job.range().last();
        let from = (from < job.count).then(|| TaskId::new(job.first.index() + from as usize));
        let rest = from.and_then(|from| TaskRange::between(from, last));
        let mut stretches = rest.into_iter().flat_map(|rest| ledger.stretches(rest));
        let looked_through = stretches.by_ref().take(STRETCHES_LISTED_MAX);
        let wanted = looked_through.filter(|(_, record)| phase.is_none_or(|phase| record.phase == phase));
        let mut found = wanted.flat_map(|(stretch, _)| stretch.tasks());
        let mut listed = Vec::new();
        let mut retired = Vec::new();
        for task in found.by_ref().take(limit) {
            if ledger.is_retired(task) {
                retired.push(TaskRange::one(task));
                continue;
            }
            listed.extend(TaskRange::merged(std::mem::take(&mut retired)).into_iter().map(Listed::Retired));
            let view = task_of_many(desk, (id, job), &KnownTask::living(ledger, task));
            listed.push(Listed::Told(Box::new(view)));
        }
        listed.extend(TaskRange::merged(retired).into_iter().map(Listed::Retired));
        let mut next = found.next();
        next = next.or_else(|| stretches.next().map(|(stretch, _)| stretch.first()));
        let next = next.map(|task| job.position(task));
        Self { id, job: job.clone(), listed, next, past: BTreeMap::new() }
    }

    /// The list, unless some of it left memory.
    pub fn whole(self, desk: &Desk) -> Result<TaskList, Box<Self>> {
        let is_part = self.listed.iter().any(|listed| matches!(listed, Listed::Retired(_)));
        if is_part { Err(Box::new(self)) } else { Ok(self.end(desk)) }
    }

    /// Reads those that left memory.
    pub fn read(&mut self, past: &dyn PastReader) -> Result<(), ReadError> {
        for listed in &self.listed {
            if let Listed::Retired(tasks) = *listed {
                self.past.extend(RetiredTask::find_all(past, tasks, tasks.count() as usize)?);
            }
        }
        Ok(())
    }

    /// All of them. One that came back while the others were read is in memory now.
    pub fn end(self, desk: &Desk) -> TaskList {
        let Self { id, job, listed, next, past } = self;
        let is_retired = |task: TaskId| desk.ledger().is_retired(task);
        let again = |task: TaskId| match past.get(&task) {
            Some(retired) => Some(KnownTask::retired(task, retired)),
            None => (!is_retired(task)).then(|| KnownTask::living(desk.ledger(), task)),
        };
        let mut tasks = Vec::new();
        for listed in listed {
            match listed {
                Listed::Told(view) => tasks.push(*view),
                Listed::Retired(range) => {
                    let known = range.tasks().filter_map(again);
                    tasks.extend(known.map(|known| task_of_many(desk, (id, &job), &known)));
                }
            }
        }
        TaskList { version: VERSION, tasks, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{Start, Terms};
    use crate::journal::{Chosen, Entry, Fact};
    use crate::ledger::Ledger;
    use gleaner_wire::Lineage;
    use gleaner_wire::api::Actor;
    use gleaner_wire::job::TaskList as JobTasks;

    /// Every other task is held, the others are cancelled, and the last one waits.
    #[test]
    fn so_many_stretches_are_looked_through_for_tasks_in_a_phase() {
        let before = STRETCHES_LISTED_MAX + 1;
        let mut ledger = Ledger::new();
        let mut add = |fact: Fact| ledger.apply(&Entry { at: Time::ZERO, fact });
        let tasks = JobTasks::Array { first: 1, last: before as u32 + 1, step: 1 };
        let (id, user) = (JobId(1), "ada".to_owned());
        let spec = JobSpec { tasks, ..JobSpec::new(["true"]) }.into();
        add(Fact::JobSubmitted { job: id, user, spec, key: None, bytes: 0, described: 0 });
        let each =
            |from: usize| (from..before).step_by(2).map(|task| TaskRange::one(TaskId::new(task))).collect();
        let chosen = |from: usize| Chosen { job: id, tasks: each(from), by: Actor::Coordinator };
        add(Fact::TasksCancelled(chosen(0)));
        add(Fact::TasksHeld(chosen(1)));
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let desk = Desk::new(ledger, Terms::default(), Time::ZERO, start);
        let job = desk.ledger().find_job(id).expect("it is in memory");
        let listed = |from: u32| {
            let listing = TaskListing::begin(&desk, (id, job), (from, 10), Some(TaskPhase::Waiting));
            let list = listing.end(&desk);
            (list.tasks.iter().map(|task| task.task).collect::<Vec<u32>>(), list.next)
        };
        let most = STRETCHES_LISTED_MAX as u32;
        assert_eq!(listed(0), (Vec::new(), Some(most)), "it goes on there");
        assert_eq!(listed(most), (vec![most + 2], None));
    }
}
