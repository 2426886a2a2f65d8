//! Facts about tasks: how they are submitted, run, end, and are ordered about by users.

use super::job::count;
use super::kinds::task_class;
use super::tries::{Ended, Verdict, given_up};
use super::{Errand, Job, Last, Ledger, Live, Record, Wish};
use crate::journal::Chosen;
use crate::store::TaskRange;
use gleaner_core::{Event, TaskState};
use gleaner_units::{MachineId, Ops, Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Attempt, End, Outcome, StopCause};
use std::sync::Arc;

/// What agents measure is in millions of operations, and that is what the scheduler counts in.
pub(crate) const OPERATIONS_EACH: f64 = 1e6;

impl Ledger {
    /// Whether the end of this run is the one that counts.
    pub fn is_awaited(&self, attempt: Attempt, from: MachineId) -> bool {
        let record = self.record(attempt.task);
        let run = Some(Live { attempt: attempt.number, on: from });
        record.live == run || (record.live.is_none() && record.lost == run && !record.phase.is_over())
    }

    pub(super) fn submitted(
        &mut self,
        at: Time,
        id: JobId,
        user: &str,
        spec: &Arc<JobSpec>,
        key: Option<&str>,
    ) {
        assert_eq!(id, self.next_job(), "job {id} is not the next job");
        let learnt = spec.label.as_deref().filter(|_| spec.composition.is_none());
        let composition = spec.composition.unwrap_or_else(|| {
            learnt.map_or(super::label::UNKNOWN, |label| self.books.labels.composition(user, label))
        });
        let payer = self.payer(user);
        let class =
            task_class((user, payer), spec, composition).expect("only jobs that can be read are recorded");
        let met = self.books.kinds.task(learnt, &class);
        if met.is_new {
            self.tell(at, &Event::TaskClassMet(class));
            if let Some(label) = learnt {
                self.books.labels.follow(user, label, met.id);
            }
            if spec.requirements.is_some() || spec.rank.is_some() {
                self.classify_all(at);
            }
        }
        let (first, number) = (TaskId::new(self.task_count()), spec.tasks.count());
        let lengths = spec.lengths().expect("only jobs whose lengths can be read are recorded");
        let tally = Tally { waiting: number, ..Tally::default() };
        self.books.tally.waiting += number;
        self.books.tallies.entry(user.to_owned()).or_default().waiting += number;
        let (user, spec) = (user.to_owned(), Arc::clone(spec));
        let hold = spec.hold;
        if let Some(key) = key {
            self.books.keys.insert((user.clone(), key.to_owned()), id);
        }
        self.named.extend(spec.files().map(|file| (file.clone(), payer)));
        let job = Job { user, spec, first, count: number, class: met.id, submitted: at, tally, ended: None };
        let tasks = job.range();
        self.books.jobs.add(job);
        let mut next = first;
        for (count, length) in lengths {
            let length = length.and_then(|operations| Ops::new(operations / OPERATIONS_EACH));
            self.tell(at, &Event::TasksSubmitted { first: next, count, class: met.id, length });
            next = TaskId::new(next.index() + count as usize);
        }
        if hold {
            self.withdraw(at, tasks, TaskPhase::Held);
        }
    }

    /// A user wants tasks gone, or to wait. With none listed: all to which it can apply.
    pub(super) fn wished(&mut self, at: Time, chosen: &Chosen, wish: Wish) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.can_wish(wish) {
                return;
            }
            ledger.touched.push(tasks);
            if let Some(live) = record.live {
                let task = tasks.first();
                ledger.books.records.own(task).wish = Some(wish);
                let attempt = Attempt { task, number: live.attempt };
                let cause = match wish {
                    Wish::Cancel => StopCause::Cancel,
                    Wish::Hold => StopCause::Hold,
                };
                ledger.errands.push(Errand::Stop(attempt, live.on, cause));
            } else {
                ledger.withdraw(at, tasks, wish.phase());
            }
        });
    }

    /// Held tasks wait again; a run that was to end for that goes on, or is sent out again.
    pub(super) fn released(&mut self, at: Time, chosen: &Chosen) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.can_release() {
                return;
            }
            ledger.touched.push(tasks);
            let is_held = record.phase == TaskPhase::Held;
            ledger.write_record(tasks, Record { wish: None, ..record });
            if is_held {
                ledger.return_to_queue(at, tasks);
            }
        });
    }

    /// Ended tasks run again from their beginning.
    pub(super) fn rerun(&mut self, at: Time, chosen: &Chosen) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.phase.is_over() {
                return;
            }
            ledger.touched.push(tasks);
            // An agent that did not hear what came of an earlier run may still ask.
            let Record { phase, machine, settled, .. } = record;
            ledger.write_record(tasks, Record { phase, machine, settled, ..Record::default() });
            ledger.return_to_queue(at, tasks);
        });
    }

    fn return_to_queue(&mut self, at: Time, tasks: TaskRange) {
        self.enter_alike(at, tasks, TaskPhase::Waiting);
        self.tell(at, &Event::TasksReturned { first: tasks.first(), count: tasks.count() });
    }

    pub(super) fn attempt_started(&mut self, at: Time, attempt: Attempt) {
        let Attempt { task, number } = attempt;
        let record = self.books.records.own(task);
        let Some(live) = record.live.filter(|live| live.attempt == number) else { return };
        record.started = Some(at);
        record.machine = Some(live.on);
        let suspended = self.agent(live.on).is_suspended();
        self.enter(at, task, if suspended { TaskPhase::Suspended } else { TaskPhase::Running });
        self.touched.push(TaskRange::one(task));
        self.tell(at, &Event::AttemptStarted { task, attempt: number });
    }

    /// The end that counts; see [`is_awaited`](Self::is_awaited).
    pub(super) fn attempt_ended(&mut self, at: Time, attempt: Attempt, on: MachineId, end: &End) {
        let task = attempt.task;
        self.touched.push(TaskRange::one(task));
        self.learn(at, task, on, end);
        self.show_speed(task, on, end);
        self.books.agents[on.index()].live.remove(&task);
        let is_elsewhere = self.grid().task(task).attempt() != attempt.number;
        let lasted = self.lasted(at, task);
        let (_, job) = self.books.jobs.of(task);
        let record = self.books.records.own(task);
        let verdict = record.tries.verdict(
            &job.spec,
            Ended {
                outcome: &end.outcome,
                lasted,
                was_asked_for: is_elsewhere || record.wish.is_some(),
                got_further: end.checkpoint.is_some() && end.checkpoint != record.checkpoint,
            },
        );
        (record.live, record.lost) = (None, None);
        record.settle(Live { attempt: attempt.number, on }, true);
        record.machine = Some(on);
        let outcome = if verdict == Verdict::GivenUp { given_up() } else { end.outcome.clone() };
        record.last = Some(Box::new(Last { outcome, usage: end.usage, files: end.files.clone() }));
        if end.checkpoint.is_some() {
            record.checkpoint.clone_from(&end.checkpoint);
        }
        match verdict {
            Verdict::Done => self.finish(at, task, TaskPhase::Done),
            Verdict::Failed | Verdict::GivenUp if record.wish.is_none() => {
                self.finish(at, task, TaskPhase::Failed);
            }
            Verdict::Failed | Verdict::GivenUp | Verdict::Again => self.run_again(at, attempt),
            Verdict::AgainAfter(rest) => {
                self.run_again(at, attempt);
                self.rest(at, task, at + rest);
            }
        }
    }

    /// How long the task's run has gone on since its program started.
    fn lasted(&self, at: Time, task: TaskId) -> Span {
        self.record(task).started.map_or(Span::ZERO, |started| at.since(started))
    }

    fn run_again(&mut self, at: Time, attempt: Attempt) {
        let Attempt { task, number } = attempt;
        self.tell(at, &Event::AttemptLost { task, attempt: number });
        self.after_a_run(at, task);
    }

    /// Keeps a task that is back in the queue out of it for a while.
    fn rest(&mut self, at: Time, task: TaskId, until: Time) {
        let is_queued = self.record(task).phase == TaskPhase::Waiting
            && self.grid().task(task).state() == TaskState::Waiting;
        if is_queued {
            self.books.records.own(task).rests_until = Some(until);
            self.books.resting.insert((until, task));
            self.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
        }
    }

    pub(super) fn rested(&mut self, at: Time, tasks: &[TaskId]) {
        for &task in tasks {
            self.touched.push(TaskRange::one(task));
            self.end_rest(task);
            self.tell(at, &Event::TasksReturned { first: task, count: 1 });
        }
    }

    fn end_rest(&mut self, task: TaskId) {
        if let Some(until) = self.books.records.own(task).rests_until.take() {
            self.books.resting.remove(&(until, task));
        }
    }

    pub(super) fn result_refused(&mut self, attempt: Attempt, on: MachineId) {
        self.touched.push(TaskRange::one(attempt.task));
        self.books.records.own(attempt.task).settle(Live { attempt: attempt.number, on }, false);
    }

    /// A run is over or given up, and the task is not: it goes where its user wants it, or to where it was being moved,
    /// or back into the queue.
    pub(super) fn after_a_run(&mut self, at: Time, task: TaskId) {
        self.touched.push(TaskRange::one(task));
        if let Some(wish) = self.books.records.own(task).wish.take() {
            self.withdraw(at, TaskRange::one(task), wish.phase());
        } else if self.record(task).phase != TaskPhase::Held {
            // A held task of which a lost run is heard after all stays held.
            self.enter(at, task, TaskPhase::Waiting);
            self.send_out(task);
        }
    }

    /// Sends out the run that the scheduler wants, unless an earlier one may still go on.
    pub(super) fn send_out(&mut self, task: TaskId) {
        let TaskState::Sent(on) = self.grid().task(task).state() else { return };
        if self.record(task).live.is_some() {
            return;
        }
        let number = self.grid().task(task).attempt();
        let record = self.books.records.own(task);
        record.live = Some(Live { attempt: number, on });
        record.lost = None;
        record.started = None;
        record.machine = Some(on);
        self.books.agents[on.index()].live.insert(task);
        self.touched.push(TaskRange::one(task));
        self.errands.push(Errand::Run(Attempt { task, number }, on));
    }

    pub(super) fn enter(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        self.enter_alike(at, TaskRange::one(task), phase);
    }

    /// For tasks of one job that have the same record.
    fn enter_alike(&mut self, at: Time, tasks: TaskRange, phase: TaskPhase) {
        let before = self.record(tasks.first()).phase;
        if before == phase {
            return;
        }
        let (id, _) = self.job_of(tasks.first());
        if let Some(job) = self.books.jobs.get_mut(id) {
            job.count_change(at, tasks.count(), before, phase);
            if let Some(tally) = self.books.tallies.get_mut(&job.user) {
                count(tally, tasks.count(), before, phase);
            }
        }
        count(&mut self.books.tally, tasks.count(), before, phase);
        let ended = phase.is_over().then_some(at);
        if tasks.count() == 1 {
            let record = self.books.records.own(tasks.first());
            (record.phase, record.ended) = (phase, ended);
        } else {
            let record = self.record(tasks.first()).clone();
            self.books.records.fill(tasks, Record { phase, ended, ..record });
        }
    }

    /// For tasks of one job that have the same record, without a run.
    fn withdraw(&mut self, at: Time, tasks: TaskRange, phase: TaskPhase) {
        // A task that rests has a record of its own.
        if self.record(tasks.first()).rests_until.is_some() {
            self.end_rest(tasks.first());
        }
        self.enter_alike(at, tasks, phase);
        self.tell(at, &Event::TasksWithdrawn { first: tasks.first(), count: tasks.count() });
    }

    fn write_record(&mut self, tasks: TaskRange, record: Record) {
        if tasks.count() == 1 {
            *self.books.records.own(tasks.first()) = record;
        } else {
            self.books.records.fill(tasks, record);
        }
    }

    fn finish(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        self.books.records.own(task).wish = None;
        self.enter(at, task, phase);
        // It may be on its way elsewhere by now: whatever the scheduler thinks its run is, it is over.
        let attempt = self.grid().task(task).attempt();
        self.tell(at, &Event::AttemptFinished { task, attempt });
        // A task that was held and released since its run was lost waits, and the scheduler expects no end of it.
        if self.grid().task(task).state() == TaskState::Waiting {
            self.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
        }
    }

    /// Holds what a machine says of its speeds against a run whose length was declared.
    fn show_speed(&mut self, task: TaskId, on: MachineId, end: &End) {
        let Some(length) = self.grid().declared_length(task) else { return };
        // What goes on from a checkpoint has done a part elsewhere.
        if end.outcome != (Outcome::Exited { code: 0 }) || self.record(task).checkpoint.is_some() {
            return;
        }
        let (_, job) = self.job_of(task);
        let composition = &self.grid().classes().task_class(job.class).composition;
        let composition = [composition[0], composition[1], composition[2]];
        let agent = &mut self.books.agents[on.index()];
        agent.shown.run(agent.profile.speeds, composition, (length.amount(), end.usage.elapsed_s));
    }

    fn learn(&mut self, at: Time, task: TaskId, on: MachineId, end: &End) {
        let (_, job) = self.books.jobs.of(task);
        let learns = job.spec.composition.is_none() && end.outcome == Outcome::Exited { code: 0 };
        let Some(label) = job.spec.label.as_deref().filter(|_| learns) else { return };
        let on = &self.books.agents[on.index()].profile;
        let [cpu, disk, network] = on.speeds;
        let rates = [on.cpu_on_core.unwrap_or(cpu), disk, network];
        let Some(learnt) = self.books.labels.learn((&job.user, label), &end.usage, rates) else { return };
        let (composition, classes) = (learnt.composition.to_vec(), learnt.classes.clone());
        for class in classes {
            self.tell(at, &Event::TaskClassMeasured { class, composition: composition.clone() });
        }
    }

    /// Each stretch of the chosen tasks of which the same is known, with that.
    fn for_chosen(&mut self, chosen: &Chosen, act: impl Fn(&mut Self, TaskRange, Record)) {
        let job = self.find_job(chosen.job).expect("only orders about jobs that exist are recorded");
        let ranges = if chosen.tasks.is_empty() { vec![job.range()] } else { chosen.tasks.clone() };
        for range in ranges {
            let mut rest = Some(range);
            while let Some(tasks) = rest {
                let stretch = self.books.records.alike_from(tasks);
                let record = self.record(stretch.first()).clone();
                act(self, stretch, record);
                rest = stretch.behind_within(range);
            }
        }
    }
}
