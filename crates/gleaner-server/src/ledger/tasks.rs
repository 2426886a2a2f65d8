//! Facts about tasks: how they are submitted, run, end, and are ordered about by users.

use super::job::count;
use super::kinds::task_class;
use super::tries::{Ended, Verdict, given_up};
use super::{Errand, Job, Last, Ledger, Live, Record, Wish};
use crate::journal::Chosen;
use gleaner_core::{Event, TaskState};
use gleaner_units::{MachineId, Ops, Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::{JobSpec, LENGTH};
use gleaner_wire::session::{Attempt, End, Outcome, StopCause};

/// What agents measure is in millions of operations, and that is what the scheduler counts in.
pub(crate) const OPERATIONS_EACH: f64 = 1e6;

impl Ledger {
    /// Whether the end of this run is the one that counts.
    pub fn is_awaited(&self, attempt: Attempt, from: MachineId) -> bool {
        let record = self.record(attempt.task);
        let run = Some(Live { attempt: attempt.number, on: from });
        record.live == run || (record.live.is_none() && record.lost == run && !record.phase.is_over())
    }

    pub(super) fn submitted(&mut self, at: Time, id: JobId, user: &str, spec: &JobSpec, key: Option<&str>) {
        assert_eq!(id, self.next_job(), "job {id} is not the next job");
        let learnt = spec.label.as_deref().filter(|_| spec.composition.is_none());
        let composition = spec.composition.unwrap_or_else(|| {
            learnt.map_or(super::label::UNKNOWN, |label| self.books.labels.composition(label))
        });
        let payer = self.payer(user);
        let class =
            task_class((user, payer), spec, composition).expect("only jobs that can be read are recorded");
        let met = self.books.kinds.task(learnt, &class);
        if met.is_new {
            self.tell(at, &Event::TaskClassMet(class));
            if let Some(label) = learnt {
                self.books.labels.follow(label, met.id);
            }
            if spec.requirements.is_some() || spec.rank.is_some() {
                self.classify_all(at);
            }
        }
        let (first, number) = (TaskId::new(self.task_count()), spec.tasks.count());
        let lengths = lengths(spec);
        let tally = Tally { waiting: number, ..Tally::default() };
        self.books.tally.waiting += number;
        let (user, spec) = (user.to_owned(), spec.clone());
        let hold = spec.hold;
        if let Some(key) = key {
            self.books.keys.insert((user.clone(), key.to_owned()), id);
        }
        let job = Job { user, spec, first, count: number, class: met.id, submitted: at, tally, ended: None };
        let tasks = job.tasks();
        self.books.jobs.add(job);
        let mut next = first;
        for (count, length) in lengths {
            self.tell(at, &Event::TasksSubmitted { first: next, count, class: met.id, length });
            next = TaskId::new(next.index() + count as usize);
        }
        if hold {
            tasks.for_each(|task| self.withdraw(at, task, TaskPhase::Held));
        }
    }

    /// A user wants tasks gone, or to wait. With none listed: all to which it can apply.
    pub(super) fn wished(&mut self, at: Time, chosen: &Chosen, wish: Wish) {
        for task in self.chosen(chosen, |record| record.can_wish(wish)) {
            self.touched.push(task);
            if let Some(live) = self.record(task).live {
                self.books.records.own(task).wish = Some(wish);
                let attempt = Attempt { task, number: live.attempt };
                let cause = match wish {
                    Wish::Cancel => StopCause::Cancel,
                    Wish::Hold => StopCause::Hold,
                };
                self.errands.push(Errand::Stop(attempt, live.on, cause));
            } else {
                self.withdraw(at, task, wish.phase());
            }
        }
    }

    /// Held tasks wait again; a run that was to end for that goes on, or is sent out again.
    pub(super) fn released(&mut self, at: Time, chosen: &Chosen) {
        for task in self.chosen(chosen, Record::can_release) {
            self.touched.push(task);
            self.books.records.own(task).wish = None;
            if self.record(task).phase == TaskPhase::Held {
                self.return_to_queue(at, task);
            }
        }
    }

    /// Ended tasks run again from their beginning.
    pub(super) fn rerun(&mut self, at: Time, chosen: &Chosen) {
        for task in self.chosen(chosen, |record| record.phase.is_over()) {
            self.touched.push(task);
            let record = self.books.records.own(task);
            // An agent that did not hear what came of an earlier run may still ask.
            let settled = std::mem::take(&mut record.settled);
            *record = Record { phase: record.phase, machine: record.machine, settled, ..Record::default() };
            self.return_to_queue(at, task);
        }
    }

    fn return_to_queue(&mut self, at: Time, task: TaskId) {
        self.enter(at, task, TaskPhase::Waiting);
        self.tell(at, &Event::TaskReturned { task });
    }

    pub(super) fn attempt_started(&mut self, at: Time, attempt: Attempt) {
        let Attempt { task, number } = attempt;
        let record = self.books.records.own(task);
        let Some(live) = record.live.filter(|live| live.attempt == number) else { return };
        record.started = Some(at);
        record.machine = Some(live.on);
        let suspended = self.agent(live.on).is_suspended();
        self.enter(at, task, if suspended { TaskPhase::Suspended } else { TaskPhase::Running });
        self.touched.push(task);
        self.tell(at, &Event::AttemptStarted { task, attempt: number });
    }

    /// The end that counts; see [`is_awaited`](Self::is_awaited).
    pub(super) fn attempt_ended(&mut self, at: Time, attempt: Attempt, on: MachineId, end: &End) {
        let task = attempt.task;
        self.touched.push(task);
        self.learn(at, task, on, end);
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
            self.tell(at, &Event::TaskWithdrawn { task });
        }
    }

    pub(super) fn rested(&mut self, at: Time, tasks: &[TaskId]) {
        for &task in tasks {
            self.touched.push(task);
            self.end_rest(task);
            self.tell(at, &Event::TaskReturned { task });
        }
    }

    fn end_rest(&mut self, task: TaskId) {
        if let Some(until) = self.books.records.own(task).rests_until.take() {
            self.books.resting.remove(&(until, task));
        }
    }

    pub(super) fn result_refused(&mut self, attempt: Attempt, on: MachineId) {
        self.touched.push(attempt.task);
        self.books.records.own(attempt.task).settle(Live { attempt: attempt.number, on }, false);
    }

    /// A run is over or given up, and the task is not: it goes where its user wants it, or to where it was being moved,
    /// or back into the queue.
    pub(super) fn after_a_run(&mut self, at: Time, task: TaskId) {
        self.touched.push(task);
        if let Some(wish) = self.books.records.own(task).wish.take() {
            self.withdraw(at, task, wish.phase());
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
        self.touched.push(task);
        self.errands.push(Errand::Run(Attempt { task, number }, on));
    }

    pub(super) fn enter(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        let before = self.record(task).phase;
        if before == phase {
            return;
        }
        let (id, _) = self.job_of(task);
        if let Some(job) = self.books.jobs.get_mut(id) {
            job.count_change(at, before, phase);
        }
        count(&mut self.books.tally, before, phase);
        let record = self.books.records.own(task);
        record.phase = phase;
        record.ended = phase.is_over().then_some(at);
    }

    fn withdraw(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        self.end_rest(task);
        self.enter(at, task, phase);
        self.tell(at, &Event::TaskWithdrawn { task });
    }

    fn finish(&mut self, at: Time, task: TaskId, phase: TaskPhase) {
        self.books.records.own(task).wish = None;
        self.enter(at, task, phase);
        // It may be on its way elsewhere by now: whatever the scheduler thinks its run is, it is over.
        let attempt = self.grid().task(task).attempt();
        self.tell(at, &Event::AttemptFinished { task, attempt });
        // A task that was held and released since its run was lost waits, and the scheduler expects no end of it.
        if self.grid().task(task).state() == TaskState::Waiting {
            self.tell(at, &Event::TaskWithdrawn { task });
        }
    }

    fn learn(&mut self, at: Time, task: TaskId, on: MachineId, end: &End) {
        let (_, job) = self.books.jobs.of(task);
        let learns = job.spec.composition.is_none() && end.outcome == Outcome::Exited { code: 0 };
        let Some(label) = job.spec.label.as_deref().filter(|_| learns) else { return };
        let on = &self.books.agents[on.index()].profile;
        let [cpu, disk, network] = on.speeds;
        let rates = [on.cpu_on_core.unwrap_or(cpu), disk, network];
        let Some(learnt) = self.books.labels.learn(label, &end.usage, rates) else { return };
        let (composition, classes) = (learnt.composition.to_vec(), learnt.classes.clone());
        for class in classes {
            self.tell(at, &Event::TaskClassMeasured { class, composition: composition.clone() });
        }
    }

    fn chosen(&self, chosen: &Chosen, applies: impl Fn(&Record) -> bool) -> Vec<TaskId> {
        let job = self.find_job(chosen.job).expect("only orders about jobs that exist are recorded");
        let tasks: Vec<TaskId> =
            if chosen.tasks.is_empty() { job.tasks().collect() } else { chosen.tasks.clone() };
        tasks.into_iter().filter(|&task| applies(self.record(task))).collect()
    }
}

/// How many tasks in a row are how long, in the operations that machines' speeds are counted in.
fn lengths(spec: &JobSpec) -> Vec<(u32, Option<Ops>)> {
    let known = |length: Option<f64>| length.and_then(|operations| Ops::new(operations / OPERATIONS_EACH));
    if !spec.tasks.has(LENGTH) {
        return vec![(spec.tasks.count(), known(spec.length))];
    }
    let mut lengths: Vec<(u32, Option<Ops>)> = Vec::new();
    for position in 0..spec.tasks.count() {
        let length = known(spec.length_of(position).expect("only jobs that can be read are recorded"));
        match lengths.last_mut() {
            Some((count, last)) if *last == length => *count += 1,
            Some(_) | None => lengths.push((1, length)),
        }
    }
    lengths
}
