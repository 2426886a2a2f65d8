//! Facts about tasks: how they are submitted, run, end, and are ordered about by users.

use super::kept_bytes::{left, written};
use super::{Ending, Job, Ledger, Record, Step, Verdict, Wish};
use crate::journal::{Chosen, Judged};
use crate::limits::BROUGHT_WITHIN;
use crate::store::{Results, TaskRange};
use gleaner_core::{Event, RunEnd, Stage};
use gleaner_units::{MachineId, Ops, RunId, Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Obstacle, Outcome};
use std::borrow::Cow;
use std::sync::Arc;

/// What agents measure is in millions of operations, and that is what the scheduler counts in.
pub(crate) const OPERATIONS_EACH: f64 = 1e6;

/// Whether another machine might do better.
fn is_failure(outcome: &Outcome, spec: &JobSpec) -> bool {
    match outcome {
        // The program asks to be run again, and may be where it was.
        Outcome::Exited { code } if Some(*code) == spec.checkpoint.exit_code => false,
        Outcome::Exited { .. }
        | Outcome::Signalled { .. }
        | Outcome::TimedOut
        | Outcome::OverLimit { .. }
        | Outcome::NotStarted { .. } => true,
        Outcome::Stopped => false,
        Outcome::Abandoned { .. } => outcome.is_memory_gone(),
    }
}

/// Whether a run started, as far as its machine answers for it.
fn has_started(outcome: &Outcome) -> Option<bool> {
    match outcome {
        Outcome::NotStarted { obstacle: Obstacle::Machine, .. } => Some(false),
        Outcome::NotStarted { obstacle: Obstacle::NotThere | Obstacle::Task, .. }
        | Outcome::Stopped
        | Outcome::Abandoned { .. } => None,
        Outcome::Exited { .. }
        | Outcome::Signalled { .. }
        | Outcome::TimedOut
        | Outcome::OverLimit { .. } => Some(true),
    }
}

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
        (key, bytes, described): (Option<&str>, u64, u64),
    ) {
        self.keep_bytes(user, bytes.saturating_add(described));
        assert_eq!(id, self.next_job(), "job {id} is not the next job");
        let payer = self.payer(at, user);
        let class = self.task_class_of(at, user, spec, None);
        self.books.classes.enter(class);
        self.books.classes.open(class);
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
        let job = Job {
            user,
            spec,
            first,
            count: number,
            class,
            submitted: at,
            tally,
            ended: None,
            wasted_s: 0.0,
            lost_s: 0.0,
            ever_ran: false,
            key: key.map(str::to_owned),
            retired: 0,
            results: Results::default(),
            bytes,
            removed: None,
            described,
        };
        self.named.add(payer, &job);
        self.books.descriptions.add(id, job.spec.memory_bytes());
        self.books.descriptions.open(id, &job.user);
        let tasks = job.range();
        self.books.jobs.add(job);
        let mut next = first;
        for (count, length) in lengths {
            let length = length.and_then(|operations| Ops::new(operations / OPERATIONS_EACH));
            self.tell(at, &Event::TasksSubmitted { first: next, count, class, length });
            next = TaskId::new(next.index() + count as usize);
        }
        if hold {
            self.withdraw(at, tasks, TaskPhase::Held);
        }
        self.tell_step(tasks, None, Step::Submitted);
    }

    /// A user wants tasks gone, or to wait. With none listed: all to which it can apply.
    pub(super) fn wished(&mut self, at: Time, chosen: &Chosen, wish: Wish) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.can_wish(wish) {
                return;
            }
            // What has runs has a record of its own.
            let task = tasks.first();
            if ledger.is_live(task) {
                ledger.books.records.own(task).wish = Some(wish);
                ledger.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
                ledger.tell_step(tasks, ledger.first_run(task), Step::ToBe(wish));
            } else {
                ledger.withdraw(at, tasks, wish.phase());
                ledger.tell_step(tasks, None, Step::Is(wish));
            }
        });
    }

    /// Held tasks wait again; those whose run is being stopped for that do so when it is over.
    pub(super) fn released(&mut self, at: Time, chosen: &Chosen) {
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.can_release() {
                return;
            }
            let is_held = record.phase == TaskPhase::Held;
            ledger.write_record(tasks, Record { wish: None, ..record });
            if is_held {
                ledger.enter_alike(at, tasks, TaskPhase::Waiting);
            }
            let step = if is_held { Step::Released } else { Step::NotToBeHeld };
            ledger.tell_step(tasks, ledger.first_run(tasks.first()), step);
            ledger.tell(at, &Event::TasksReturned { first: tasks.first(), count: tasks.count() });
        });
        self.reconsider_job(at, chosen.job);
    }

    /// Ended tasks run again from their beginning.
    pub(super) fn rerun(&mut self, at: Time, chosen: &Chosen) {
        let mut again = Vec::new();
        self.for_chosen(chosen, |ledger, tasks, record| {
            if !record.phase.is_over() {
                return;
            }
            let ended = record.ended.expect("what is over ended");
            ledger.books.over.remove(ended, tasks);
            ledger.replace_bytes(chosen.job, left(&record) * u64::from(tasks.count()), 0);
            ledger.write_record(tasks, record.begun_anew());
            ledger.enter_alike(at, tasks, TaskPhase::Waiting);
            ledger.try_anywhere(at, tasks);
            let run = ledger.first_run(tasks.first());
            ledger.tell_step(tasks, run, Step::Rerun);
            again.push(tasks);
        });
        let again = TaskRange::merged(again).into_iter().map(|tasks| (tasks.first(), tasks.count()));
        self.tell(at, &Event::TasksRerun { tasks: again.collect() });
        // Whoever learnt from what had ended heard of that: it counts no more.
        self.begin_anew(at, chosen.job);
    }

    pub(super) fn run_started(&mut self, at: Time, run: RunId) {
        let is_sent = |run: &&gleaner_core::Run| matches!(run.stage(), Stage::Sent | Stage::Next);
        let sent = self.grid().find_run(run).filter(is_sent);
        let Some(on) = sent.map(gleaner_core::Run::on) else { return };
        self.books.records.own(run.task).run_started(at, on);
        let stands_still =
            self.agent(on).is_suspended() && self.standing(run.task) != Some(TaskPhase::Running);
        self.enter(at, run.task, if stands_still { TaskPhase::Suspended } else { TaskPhase::Running });
        self.tell(at, &Event::RunStarted(run));
        self.tell_step(TaskRange::one(run.task), Some((run, on)), Step::Started);
    }

    /// Tasks whose runs were given up and are heard of again wait until that is heard.
    pub(super) fn await_brought(&mut self, at: Time, (agent, runs): (MachineId, &[RunId])) {
        let within = Span::from_nanos(BROUGHT_WITHIN.as_nanos() as u64);
        for run in runs {
            self.rest(at, run.task, at + within);
            self.tell_step(TaskRange::one(run.task), Some((*run, agent)), Step::Awaited);
        }
    }

    /// A machine that cannot start what ran elsewhere, and says that this is not for what was to be started, is broken. **That a program is
    /// not there is the job's fault, whoever else has it.** That a run is said to have started is not enough: what goes wrong comes
    /// out in the sandbox only, behind that. What was stopped or given back says neither: it may not have begun.
    fn note_start(&mut self, task: TaskId, on: MachineId, outcome: &Outcome) {
        let Some(is_started) = has_started(outcome) else { return };
        let (id, job) = self.books.jobs.find(task).expect("what runs is not retired");
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
    pub(super) fn run_ended(
        &mut self,
        at: Time,
        (run, on): (RunId, MachineId),
        end: &End,
        (judged, is_left): (Option<&Judged>, Option<bool>),
    ) {
        let task = run.task;
        let end = self.as_far(at, run, end);
        let end = &*end;
        self.note_start(task, on, &end.outcome);
        self.hear_brought(at, task);
        let likeness = judged.and_then(|judged| judged.likeness);
        let refuses = judged.is_some_and(Judged::is_refusal);
        if self.pair_of(run).is_none() {
            self.learn(at, task, on, end);
            self.show_speed(task, on, end);
        }
        let before = self.left_by(task);
        self.keep_for_comparing(task, judged, end);
        self.count_outvoted((task, on), judged, end);
        let (was_asked_for, quorum) = (self.is_asked_to_end(run), self.quorum_of(task));
        // What is the machine's own fault may be mended while the task rests. One with answers or other runs does not rest: its machine is
        // not asked again, and says nothing of the others.
        let is_own_fault = refuses && has_started(&end.outcome) == Some(false);
        let rests = !was_asked_for && !self.has_answers(task);
        let is_other_left = is_left.or((is_own_fault && !rests).then_some(true));
        let (id, job) = self.books.jobs.find(task).expect("what runs is not retired");
        let record = self.books.records.own(task);
        let answer = judged.and_then(|judged| match (likeness, &judged.digest) {
            (Some(likeness), _) => Some(RunEnd::Compared(likeness)),
            (None, digest) => Some(RunEnd::Answered(record.answer(digest.as_ref()?, &end.outcome))),
        });
        let ending = Ending { id: run, on, end, quorum, was_asked_for, judged, is_left: is_other_left };
        let verdict = record.run_ended(at, &job.spec, ending);
        let over_by = record.over_by(verdict);
        let has_failed = is_failure(&end.outcome, &job.spec);
        let now = self.left_by(task) + written(end);
        self.replace_bytes(id, before, now);
        if let Some(phase) = over_by {
            self.finish(at, run, phase, answer.unwrap_or(RunEnd::Finished));
        } else {
            let left = match answer.filter(|_| matches!(verdict, Verdict::Compared | Verdict::Judges)) {
                Some(answer) => answer,
                None if end.checkpoint.is_some() => RunEnd::Kept,
                None if refuses && !(is_own_fault && rests) => RunEnd::Refused,
                None => RunEnd::Lost,
            };
            if left == RunEnd::Lost
                && let Some(job) = self.books.jobs.get_mut(id)
            {
                job.lost_s += end.usage.elapsed_s;
            }
            self.run_again(at, run, left);
            if let Verdict::AgainAfter(rest) = verdict {
                self.rest(at, task, at + rest);
                // Where answers are compared each machine gives one, and so it may be the last that has not given its own.
                if has_failed && is_left.is_none() && (refuses || !self.grid().is_compared(task)) {
                    self.try_elsewhere(at, task, on);
                }
            }
        }
        match is_left {
            Some(is_left) => self.not_there(at, task, on, is_left),
            None if has_started(&end.outcome) == Some(true) => self.is_there(at, task, on),
            None => {}
        }
        self.tell_step(TaskRange::one(task), Some((run, on)), Step::Ended(verdict));
    }

    /// An end as it counts.
    pub(super) fn as_far<'a>(&self, at: Time, run: RunId, end: &'a End) -> Cow<'a, End> {
        if end.checkpoint.is_none() || self.is_furthest(at, run) {
            return Cow::Borrowed(end);
        }
        Cow::Owned(End { checkpoint: None, ..end.clone() })
    }

    /// Whether the checkpoint of a run that ends now is kept: of several runs of a task, what one that is behind another left is nobody's.
    pub(crate) fn is_furthest(&self, at: Time, run: RunId) -> bool {
        self.grid().find_run(run).is_none_or(|known| self.grid().is_furthest(at, known))
    }

    /// Whether anybody could go on from the checkpoint of a run that ended like this: what reached a limit has failed, and goes on only
    /// where it has a retry left, or is held then. What is compared is one machine's from its beginning.
    pub(crate) fn may_go_on(&self, run: RunId, outcome: &Outcome) -> bool {
        if self.is_compared(run) {
            return false;
        }
        match outcome {
            Outcome::TimedOut | Outcome::OverLimit { .. } => {
                let (record, (_, job)) = (self.record(run.task), self.job_of(run.task));
                record.wish == Some(Wish::Hold) || record.tries.has_retry_left(&job.spec)
            }
            Outcome::Exited { .. }
            | Outcome::Signalled { .. }
            | Outcome::Stopped
            | Outcome::Abandoned { .. }
            | Outcome::NotStarted { .. } => true,
        }
    }

    /// Whether the scheduler ordered a run to stop or asked it back, or wants another one of its task.
    pub(crate) fn is_asked_to_end(&self, run: RunId) -> bool {
        let is_back = |known: &gleaner_core::Run| self.grid().asked_back(known.id()).is_some();
        let stops = |known: &gleaner_core::Run| known.stage() == Stage::Stopping || is_back(known);
        let is_other = |known: &gleaner_core::Run| known.id() != run && known.stage() != Stage::Missing;
        self.grid().find_run(run).is_some_and(stops) || self.grid().runs_of(run.task).any(is_other)
    }

    fn run_again(&mut self, at: Time, run: RunId, end: RunEnd) {
        self.tell(at, &Event::RunEnded { run, end });
        self.after_a_run(at, run.task);
    }

    /// What a run leaves that did not count is gone, and its room is free.
    pub(super) fn result_refused(&mut self, at: Time, run: RunId, on: MachineId, end: &End) {
        if self.is_retired(run.task) {
            self.tell_step(TaskRange::one(run.task), Some((run, on)), Step::Refused);
            return;
        }
        self.books.records.own(run.task).settle(run, on, false);
        let known = self.grid().find_run(run).copied();
        let known = known.filter(|known| known.on() == on && known.stage() != Stage::Held);
        let is_waste = known.is_some_and(|known| known.is_superseded());
        if is_waste {
            let (id, _) = self.job_of(run.task);
            if let Some(job) = self.books.jobs.get_mut(id) {
                job.wasted_s += end.usage.elapsed_s;
            }
        }
        if known.is_some() {
            self.run_again(at, run, RunEnd::Lost);
        }
        let step = if is_waste { Step::Wasted } else { Step::Refused };
        self.tell_step(TaskRange::one(run.task), Some((run, on)), step);
    }

    /// A run is over or given up, and the task is not.
    pub(super) fn after_a_run(&mut self, at: Time, task: TaskId) {
        self.forget_orders(TaskRange::one(task));
        let others = self.others(task);
        let phase = self.books.records.own(task).after_a_run(others);
        let stands =
            || self.standing(task).filter(|_| matches!(phase, TaskPhase::Running | TaskPhase::Suspended));
        self.enter(at, task, stands().unwrap_or(phase));
        self.reconsider_task(at, task);
    }

    /// The runs of a task that have begun and count.
    pub(crate) fn begun(&self, task: TaskId) -> impl Iterator<Item = &gleaner_core::Run> {
        let has_begun = |run: &&gleaner_core::Run| matches!(run.stage(), Stage::Running | Stage::Stopping);
        self.grid().runs_of(task).filter(move |run| has_begun(run) && !run.is_superseded())
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
        let (_, job) = self.books.jobs.find(task).expect("what runs is not retired");
        let learns = job.spec.composition.is_none() && end.outcome == Outcome::Exited { code: 0 };
        let Some(label) = job.spec.label.as_deref().filter(|_| learns) else { return };
        let on = &self.books.agents[on.index()].profile;
        let [cpu, disk, network] = on.speeds;
        let rates = [on.cpu_on_core.unwrap_or(cpu), disk, network];
        let Some(learnt) = self.books.labels.learn((&job.user, label), &end.usage, rates) else { return };
        let (composition, classes) = (learnt.composition.to_vec(), learnt.classes.clone());
        self.tell(at, &Event::TaskClassesMeasured { classes, composition });
    }

    /// Each stretch of the chosen tasks of which the same is known, with that.
    fn for_chosen(&mut self, chosen: &Chosen, mut act: impl FnMut(&mut Self, TaskRange, Record)) {
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
