//! Facts about tasks: how they are submitted, run, end, and are ordered about by users.

use super::job::count;
use super::kinds::task_class;
use super::tries::{Ended, Verdict, given_up};
use super::{Job, Last, Ledger, Record, Wish};
use crate::journal::Chosen;
use crate::limits::BROUGHT_WITHIN;
use crate::store::TaskRange;
use gleaner_core::{Event, RunEnd, Stage, TaskState};
use gleaner_units::{MachineId, Ops, RunId, Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome};
use std::sync::Arc;

/// What agents measure is in millions of operations, and that is what the scheduler counts in.
pub(crate) const OPERATIONS_EACH: f64 = 1e6;

impl Ledger {
    /// Whether the end of this run is one that counts: its agent has it, or had it when it was given up and the task was
    /// not given to another since.
    pub fn is_awaited(&self, run: RunId, from: MachineId) -> bool {
        let known = self.grid().find_run(run);
        known.is_some_and(|run| run.on() == from && run.stage() != Stage::Held && !run.is_superseded())
            && !self.record(run.task).phase.is_over()
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
        let met = self.books.kinds.task(learnt, &class, spec.needs.time_limit_s);
        if met.is_new {
            self.tell(at, &Event::TaskClassMet(class));
            let limit = Span::from_seconds(spec.needs.time_limit_s).filter(|limit| *limit > Span::ZERO);
            if let Some(limit) = limit {
                self.tell(at, &Event::ClassLimited { class: met.id, limit });
            }
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
        let job = Job {
            user,
            spec,
            first,
            count: number,
            class: met.id,
            submitted: at,
            tally,
            ended: None,
            wasted_s: 0.0,
            ever_ran: false,
        };
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
            // What has runs has a record of its own.
            let task = tasks.first();
            if ledger.is_live(task) {
                ledger.books.records.own(task).wish = Some(wish);
                ledger.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
            } else {
                ledger.withdraw(at, tasks, wish.phase());
            }
        });
    }

    /// Held tasks wait again; those whose run is being stopped for that do so when it is over.
    pub(super) fn released(&mut self, at: Time, chosen: &Chosen) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.can_release() {
                return;
            }
            ledger.touched.push(tasks);
            let is_held = record.phase == TaskPhase::Held;
            ledger.write_record(tasks, Record { wish: None, ..record });
            if is_held {
                ledger.enter_alike(at, tasks, TaskPhase::Waiting);
            }
            ledger.tell(at, &Event::TasksReturned { first: tasks.first(), count: tasks.count() });
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
            ledger.enter_alike(at, tasks, TaskPhase::Waiting);
            ledger.tell(at, &Event::TasksRerun { first: tasks.first(), count: tasks.count() });
        });
    }

    pub(super) fn run_started(&mut self, at: Time, run: RunId) {
        let sent = self.grid().find_run(run).filter(|run| run.stage() == Stage::Sent);
        let Some(on) = sent.map(gleaner_core::Run::on) else { return };
        let record = self.books.records.own(run.task);
        record.started = Some(at);
        record.machine = Some(on);
        let suspended = self.agent(on).is_suspended();
        self.enter(at, run.task, if suspended { TaskPhase::Suspended } else { TaskPhase::Running });
        self.touched.push(TaskRange::one(run.task));
        self.tell(at, &Event::RunStarted(run));
    }

    /// Tasks whose runs were given up and are heard of again wait until that is heard.
    pub(super) fn await_brought(&mut self, at: Time, runs: &[RunId]) {
        let within = Span::from_nanos(BROUGHT_WITHIN.as_nanos() as u64);
        for run in runs {
            self.touched.push(TaskRange::one(run.task));
            self.rest(at, run.task, at + within);
        }
    }

    /// A machine that cannot start what ran elsewhere is broken, and not the job. That a run is said to have started is
    /// not enough: that its program is missing comes out in the sandbox only, behind that.
    fn note_start(&mut self, task: TaskId, on: MachineId, outcome: &Outcome) {
        let is_started = !matches!(outcome, Outcome::NotStarted { .. });
        let (id, job) = self.books.jobs.of(task);
        let ran_elsewhere = job.ever_ran;
        if is_started
            && !ran_elsewhere
            && let Some(job) = self.books.jobs.get_mut(id)
        {
            job.ever_ran = true;
        }
        let agent = &mut self.books.agents[on.index()];
        if is_started {
            agent.not_started = 0;
        } else if ran_elsewhere {
            agent.not_started += 1;
        }
    }

    /// An end that counts; see [`is_awaited`](Self::is_awaited).
    pub(super) fn run_ended(&mut self, at: Time, run: RunId, on: MachineId, end: &End) {
        let task = run.task;
        self.touched.push(TaskRange::one(task));
        self.note_start(task, on, &end.outcome);
        self.hear_brought(at, task);
        self.learn(at, task, on, end);
        self.show_speed(task, on, end);
        let was_asked_for = self.is_asked_to_end(run);
        let lasted = self.lasted(at, task);
        let (_, job) = self.books.jobs.of(task);
        let record = self.books.records.own(task);
        let verdict = record.tries.verdict(
            &job.spec,
            Ended {
                outcome: &end.outcome,
                lasted,
                was_asked_for: was_asked_for || record.wish.is_some(),
                got_further: end.checkpoint.is_some() && end.checkpoint != record.checkpoint,
            },
        );
        record.settle(run, on, true);
        record.machine = Some(on);
        let outcome = if verdict == Verdict::GivenUp { given_up() } else { end.outcome.clone() };
        record.last = Some(Box::new(Last { outcome, usage: end.usage, files: end.files.clone() }));
        if end.checkpoint.is_some() {
            record.checkpoint.clone_from(&end.checkpoint);
        }
        let left = if end.checkpoint.is_some() { RunEnd::Kept } else { RunEnd::Lost };
        match verdict {
            Verdict::Done => self.finish(at, run, TaskPhase::Done),
            Verdict::Failed | Verdict::GivenUp if record.wish.is_none() => {
                self.finish(at, run, TaskPhase::Failed);
            }
            Verdict::Failed | Verdict::GivenUp | Verdict::Again => self.run_again(at, run, left),
            Verdict::AgainAfter(rest) => {
                self.run_again(at, run, left);
                self.rest(at, task, at + rest);
            }
        }
    }

    /// How long the task's run has gone on since its program started.
    fn lasted(&self, at: Time, task: TaskId) -> Span {
        self.record(task).started.map_or(Span::ZERO, |started| at.since(started))
    }

    /// Whether the scheduler ordered a run to stop, or wants another one of its task.
    fn is_asked_to_end(&self, run: RunId) -> bool {
        let stops = |known: &gleaner_core::Run| known.stage() == Stage::Stopping;
        let is_other = |known: &gleaner_core::Run| known.id() != run && known.stage() != Stage::Missing;
        self.grid().find_run(run).is_some_and(stops) || self.grid().runs_of(run.task).any(is_other)
    }

    fn run_again(&mut self, at: Time, run: RunId, end: RunEnd) {
        self.tell(at, &Event::RunEnded { run, end });
        self.after_a_run(at, run.task);
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

    /// What a task waited for is heard; its verdict says how long it rests now.
    fn hear_brought(&mut self, at: Time, task: TaskId) {
        let rests = self.record(task).rests_until.is_some();
        if rests && self.grid().task(task).state() == TaskState::Withdrawn {
            self.end_rest(task);
            self.tell(at, &Event::TasksReturned { first: task, count: 1 });
        }
    }

    fn end_rest(&mut self, task: TaskId) {
        if let Some(until) = self.books.records.own(task).rests_until.take() {
            self.books.resting.remove(&(until, task));
        }
    }

    /// What a run leaves that did not count is gone, and its room is free.
    pub(super) fn result_refused(&mut self, at: Time, run: RunId, on: MachineId, end: &End) {
        self.touched.push(TaskRange::one(run.task));
        self.books.records.own(run.task).settle(run, on, false);
        let known = self.grid().find_run(run).copied();
        let Some(known) = known.filter(|known| known.on() == on && known.stage() != Stage::Held) else {
            return;
        };
        if known.is_superseded() {
            let (id, _) = self.job_of(run.task);
            if let Some(job) = self.books.jobs.get_mut(id) {
                job.wasted_s += end.usage.elapsed_s;
            }
        }
        self.run_again(at, run, RunEnd::Lost);
    }

    /// A run is over or given up, and the task is not: it goes where its user wants it, or back into the queue, unless
    /// another run of it goes on.
    pub(super) fn after_a_run(&mut self, at: Time, task: TaskId) {
        self.touched.push(TaskRange::one(task));
        self.forget_orders(task);
        let runs = self.grid().runs_of(task).any(|run| run.stage() == Stage::Running);
        let (is_live, record) = (self.is_live(task), self.record(task));
        // A held task of which a lost run is heard after all stays held.
        if runs || record.phase == TaskPhase::Held || record.phase.is_over() {
            return;
        }
        match record.wish {
            Some(_) if is_live => {}
            Some(wish) => {
                self.books.records.own(task).wish = None;
                self.enter(at, task, wish.phase());
            }
            None => self.enter(at, task, TaskPhase::Waiting),
        }
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

    fn finish(&mut self, at: Time, run: RunId, phase: TaskPhase) {
        self.books.records.own(run.task).wish = None;
        // A run that was missing may end while its task rests after another.
        self.end_rest(run.task);
        self.enter(at, run.task, phase);
        self.tell(at, &Event::RunEnded { run, end: RunEnd::Finished });
        self.forget_orders(run.task);
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
