//! What the ledger is asked.

use super::{Agent, Job, Label, Ledger, People, Record};
use crate::store::TaskRange;
use gleaner_core::{Grid, Run, Scheduler, Stage};
use gleaner_policy::{AnyPolicy, PolicySpec, Recipe};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time, UserId};
use gleaner_wire::api::Tally;
use gleaner_wire::job::ReadBy;
use gleaner_wire::{BlobHash, JobId};
use std::collections::BTreeMap;

/// So many runs of a machine are looked at in no time.
const FEW_RUNS: usize = 256;

impl Ledger {
    /// What the scheduler knows.
    pub fn grid(&self) -> &Grid {
        self.scheduler.grid()
    }

    /// The scheduler, to try things out on a copy.
    pub fn scheduler(&self) -> &Scheduler<AnyPolicy> {
        &self.scheduler
    }

    /// How often the coordinator started.
    pub fn epoch(&self) -> u32 {
        self.books.epoch
    }

    /// When the last fact was.
    pub fn now(&self) -> Time {
        self.books.now
    }

    /// The policy in force.
    pub fn policy(&self) -> &PolicySpec {
        &self.books.policy
    }

    /// The policy in force, as a choice of parts.
    pub fn recipe(&self) -> Recipe {
        self.books.policy.recipe()
    }

    /// Whoever submitted anything, and under which number the scheduler knows them.
    pub fn payers(&self) -> impl Iterator<Item = (&String, UserId)> {
        self.books.payers.iter().map(|(name, &payer)| (name, payer))
    }

    /// The same of one user, if they submitted anything.
    pub fn payer_of(&self, user: &str) -> Option<(&String, UserId)> {
        self.books.payers.get_key_value(user).map(|(name, &payer)| (name, payer))
    }

    /// Users and join tokens.
    pub fn people(&self) -> &People {
        &self.books.people
    }

    /// Users and join tokens. A token that is used up is known as long as a machine is let in that joined with it.
    pub fn people_let_in(&self) -> People {
        let mut people = self.people().clone();
        people.leave_out(|agent| self.agent(agent).revoked);
        people
    }

    /// All agents, by number.
    pub fn agents(&self) -> &[Agent] {
        &self.books.agents
    }

    /// The agent of that number.
    pub fn agent(&self, id: MachineId) -> &Agent {
        &self.books.agents[id.index()]
    }

    /// The agent of that name that was not forgotten.
    pub fn find_agent(&self, name: &str) -> Option<MachineId> {
        let place = self.books.agents.iter().position(|agent| agent.name == name && !agent.forgotten)?;
        Some(MachineId::new(place))
    }

    /// The job of that number, unless it is retired.
    pub fn find_job(&self, id: JobId) -> Option<&Job> {
        self.books.jobs.get(id)
    }

    /// The number that the next job gets.
    pub fn next_job(&self) -> JobId {
        self.books.jobs.next()
    }

    /// How many tasks were ever submitted.
    pub fn task_count(&self) -> usize {
        self.books.jobs.tasks()
    }

    /// How many jobs, and records of tasks, are in memory.
    pub fn in_memory(&self) -> (usize, usize) {
        (self.jobs().count(), self.books.records.count())
    }

    /// All jobs that are not retired, newest first.
    pub fn jobs(&self) -> impl Iterator<Item = (JobId, &Job)> {
        self.books.jobs.newest_first()
    }

    /// The job that has a task.
    ///
    /// # Panics
    /// For a task that no job has, and one whose job is retired.
    pub fn job_of(&self, task: TaskId) -> (JobId, &Job) {
        self.find_job_of(task).expect("a job has the task, and is not retired")
    }

    /// The job that has a task, unless it is retired.
    pub fn find_job_of(&self, task: TaskId) -> Option<(JobId, &Job)> {
        self.books.jobs.find(task)
    }

    /// The job that a user submitted under a key.
    pub fn job_with_key(&self, user: &str, key: &str) -> Option<JobId> {
        self.books.keys.get(&(user.to_owned(), key.to_owned())).copied()
    }

    /// What is known of a task.
    pub fn record(&self, task: TaskId) -> &Record {
        self.books.records.get(task)
    }

    /// Tasks in stretches, each of tasks of which the same is known. What never ran is in few.
    pub fn stretches(&self, range: TaskRange) -> impl Iterator<Item = (TaskRange, &Record)> {
        let mut rest = Some(range);
        std::iter::from_fn(move || {
            let stretch = self.books.records.alike_from(rest?);
            rest = stretch.behind_within(range);
            Some((stretch, self.record(stretch.first())))
        })
    }

    /// The runs that an agent has, or may have until it hears that they are over: what it is to run, and to stop.
    pub fn live_on(&self, agent: MachineId) -> impl Iterator<Item = &Run> {
        let machine = self.grid().machine(agent);
        let runs = machine.runs().chain(machine.stopping().iter().copied());
        let (first, led) = runs.partition::<Vec<RunId>, _>(|run| self.grid().leader_of(*run).is_none());
        let runs = first.into_iter().chain(led).chain(self.grid().ahead_on(agent));
        runs.filter_map(|run| self.grid().find_run(run)).filter(|run| run.goes_on())
    }

    /// A run, if its agent has it or may have it.
    pub fn find_live(&self, run: RunId, on: MachineId) -> Option<&Run> {
        let is_known = run.task.index() < self.task_count();
        let known = is_known.then(|| self.grid().find_run(run)).flatten();
        known.filter(|run| run.on() == on && run.goes_on())
    }

    /// Whether any agent has a run of the task, or may have one.
    pub fn is_live(&self, task: TaskId) -> bool {
        self.grid().runs_of(task).any(Run::goes_on)
    }

    /// The latest run of a task that is not over; none that was not sent out.
    pub fn last_live_run(&self, task: TaskId) -> Option<u32> {
        let known = self.grid().runs_of(task).filter(|run| run.stage() != Stage::Held);
        known.map(|run| run.id().number).max()
    }

    /// The files that somebody may still ask for: what jobs read, and what tasks left or go on from. Costs O(jobs + tasks
    /// that left the queue).
    pub fn files(&self) -> impl Iterator<Item = &BlobHash> {
        let read = self.jobs().flat_map(|(_, job)| job.spec.files());
        let left = self.books.records.all().flat_map(|record| {
            let files = record.last.as_ref().and_then(|last| last.files.as_ref());
            record.checkpoint.iter().chain(files)
        });
        let compared =
            self.books.answers.values().flat_map(BTreeMap::values).filter_map(|last| last.files.as_ref());
        read.chain(left.chain(compared).map(|stored| &stored.blob))
    }

    /// Whether a job of this user's reads a file.
    pub fn is_named_by(&self, user: &str, file: &BlobHash) -> bool {
        let payer = self.books.payers.get(user);
        payer.is_some_and(|&payer| self.named.has(payer, file))
    }

    /// Whether a machine has no more runs than can be looked at on the way.
    pub fn has_few_runs(&self, machine: MachineId) -> bool {
        let machine = self.grid().machine(machine);
        machine.runs().chain(machine.stopping().iter().copied()).nth(FEW_RUNS).is_none()
    }

    /// Whether one of the runs that an agent has, or is to have, reads a file or goes on from it. Costs O(its runs, and the files of
    /// their jobs).
    pub fn is_needed_on(&self, agent: MachineId, file: &BlobHash) -> bool {
        let mut read_by: BTreeMap<JobId, ReadBy<'_>> = BTreeMap::new();
        self.live_on(agent).map(Run::id).any(|run| {
            let task = run.task;
            let compared = self.compared_by(run).into_iter().flatten().flatten();
            if compared.map(|answer| answer.blob).any(|blob| blob == *file) {
                return true;
            }
            let goes_on_from = self.record(task).checkpoint.as_ref();
            if goes_on_from.is_some_and(|stored| stored.blob == *file) {
                return true;
            }
            let (id, job) = self.job_of(task);
            let read_by = read_by.entry(id).or_insert_with(|| job.spec.read_by(file));
            job.spec.is_read_by(read_by, job.position(task))
        })
    }

    /// When the grid began: no other grid that was ever in this folder began then.
    pub fn began(&self) -> Time {
        self.books.began
    }

    /// What was learnt of labels, by user and name: of a user's, or of all.
    pub fn labels(&self, user: Option<&str>) -> impl Iterator<Item = (&(String, String), &Label)> {
        self.books.labels.of(user)
    }

    /// When the first of the tasks that rest after a failure has rested.
    pub fn next_rested(&self) -> Option<Time> {
        self.books.resting.next()
    }

    /// The tasks that have rested by now.
    pub fn rested_by(&self, now: Time) -> Vec<TaskId> {
        self.books.resting.rested_by(now).collect()
    }

    /// The lowest task of a job that rests.
    pub fn first_resting(&self, job: &Job) -> Option<TaskId> {
        self.books.resting.first_of(job.range())
    }

    /// The classes that tasks of a job may have: its own, and those that keep away from machines.
    pub fn classes_of(&self, job: &Job) -> impl Iterator<Item = TaskClassId> {
        let apart = &self.books.classes.class(job.class).apart;
        std::iter::once(job.class).chain(apart.iter().copied())
    }

    /// How many tasks are in each phase.
    pub fn tally(&self) -> &Tally {
        &self.books.tally
    }

    /// How many tasks of each user are in which phase.
    pub fn tallies(&self) -> impl Iterator<Item = (&String, &Tally)> {
        self.books.tallies.iter()
    }

    /// How many tasks of a user are not over.
    pub fn open_tasks(&self, user: &str) -> u64 {
        self.books.tallies.get(user).map_or(0, |tally| u64::from(tally.open()))
    }

    /// How many tasks a user ever submitted.
    pub fn tasks_ever(&self, user: &str) -> u64 {
        self.books.tallies.get(user).map_or(0, |tally| u64::from(tally.total()))
    }
}
