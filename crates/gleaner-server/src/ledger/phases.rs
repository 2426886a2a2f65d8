//! How tasks go from one phase to the next, what is counted by them, and how they rest between two runs.

use super::job::count;
use super::{Ledger, Record, Step};
use crate::store::TaskRange;
use gleaner_core::{Event, RunEnd, TaskState};
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;

impl Ledger {
    /// How a task stands of which some run has begun: it is suspended where all of them are.
    pub(super) fn standing(&self, task: TaskId) -> Option<TaskPhase> {
        self.begun(task).next()?;
        let goes_on = self.begun(task).any(|run| !self.agent(run.on()).is_suspended());
        Some(if goes_on { TaskPhase::Running } else { TaskPhase::Suspended })
    }

    pub(super) fn enter(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        self.enter_alike(at, TaskRange::one(task), phase);
    }

    /// For tasks of one job that have the same record.
    pub(super) fn enter_alike(&mut self, at: Time, tasks: TaskRange, phase: TaskPhase) {
        let before = self.record(tasks.first()).phase;
        if before == phase {
            return;
        }
        let (id, _) = self.job_of(tasks.first());
        let mut closed = None;
        if let Some(job) = self.books.jobs.get_mut(id) {
            let was_open = job.tally.open() > 0;
            job.count_change(at, tasks.count(), before, phase);
            match (was_open, job.tally.open() > 0) {
                (true, false) => {
                    self.books.classes.close(job.class);
                    closed = Some(job.class);
                    self.books.descriptions.close(id, &job.user);
                }
                (false, true) => {
                    self.books.classes.open(job.class);
                    self.books.descriptions.open(id, &job.user);
                }
                (true, true) | (false, false) => {}
            }
            if let Some(tally) = self.books.tallies.get_mut(&job.user) {
                count(tally, tasks.count(), before, phase);
            }
        }
        count(&mut self.books.tally, tasks.count(), before, phase);
        if let Some(class) = closed {
            self.let_go(at, class);
        }
        if phase.is_over() {
            self.books.elsewhere.forget(tasks);
            let kept = self.books.answers.range(tasks.first()..=tasks.last());
            for task in kept.map(|(task, _)| *task).collect::<Vec<_>>() {
                self.replace_bytes(id, self.compared_beside(task), 0);
                self.books.answers.remove(&task);
            }
            let said = self.books.said.range(tasks.first()..=tasks.last());
            for task in said.map(|(task, _)| *task).collect::<Vec<_>>() {
                self.books.said.remove(&task);
            }
        }
        let was_over = self.record(tasks.first()).ended;
        let ended = phase.is_over().then_some(at);
        if let Some(ended) = was_over {
            self.books.over.remove(ended, tasks);
        }
        if ended.is_some() {
            self.books.over.add(at, tasks);
        }
        if tasks.count() == 1 && self.books.records.has_own(tasks.first()) {
            let record = self.books.records.own(tasks.first());
            (record.phase, record.ended) = (phase, ended);
        } else {
            let record = self.record(tasks.first()).clone();
            self.books.records.fill(tasks, Record { phase, ended, ..record });
        }
    }

    /// For tasks of one job that have the same record, without a run.
    pub(super) fn withdraw(&mut self, at: Time, tasks: TaskRange, phase: TaskPhase) {
        // A task that rests has a record of its own.
        if self.record(tasks.first()).rests_until.is_some() {
            self.end_rest(tasks.first());
        }
        self.enter_alike(at, tasks, phase);
        self.tell(at, &Event::TasksWithdrawn { first: tasks.first(), count: tasks.count() });
    }

    pub(super) fn write_record(&mut self, tasks: TaskRange, record: Record) {
        self.books.records.fill(tasks, record);
    }

    pub(super) fn finish(&mut self, at: Time, run: RunId, phase: TaskPhase, end: RunEnd) {
        self.note_result(run, end);
        self.books.records.own(run.task).wish = None;
        // A run that was missing may end while its task rests after another.
        self.end_rest(run.task);
        self.enter(at, run.task, phase);
        self.tell(at, &Event::RunEnded { run, end });
        self.forget_orders(TaskRange::one(run.task));
    }

    /// Keeps a task that is back in the queue out of it for a while.
    pub(super) fn rest(&mut self, at: Time, task: TaskId, until: Time) {
        let is_queued = self.record(task).phase == TaskPhase::Waiting
            && self.grid().task(task).state() == TaskState::Waiting;
        if is_queued {
            self.books.records.own(task).rests_until = Some(until);
            self.books.resting.add(until, task);
            self.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
        }
    }

    pub(super) fn rested(&mut self, at: Time, tasks: &[TaskId]) {
        for &task in tasks {
            self.end_rest(task);
            self.tell(at, &Event::TasksReturned { first: task, count: 1 });
            self.reconsider_task(at, task);
            self.tell_step(TaskRange::one(task), self.first_run(task), Step::Rested);
        }
    }

    /// What a task waited for is heard; its verdict says how long it rests now.
    pub(super) fn hear_brought(&mut self, at: Time, task: TaskId) {
        if self.rests(task) {
            self.end_rest(task);
            self.tell(at, &Event::TasksReturned { first: task, count: 1 });
        }
    }

    /// Whether a task is kept out of the queue for a while, and for nothing else.
    pub(super) fn rests(&self, task: TaskId) -> bool {
        self.record(task).rests_until.is_some() && self.grid().task(task).state() == TaskState::Withdrawn
    }

    pub(super) fn end_rest(&mut self, task: TaskId) {
        if let Some(until) = self.books.records.own(task).rests_until.take() {
            self.books.resting.remove(until, task);
        }
    }
}
