//! What the outside says of runs.
//!
//! **A reply counts as long as the grid knows its run.** All others are shown as [`Change::StaleReply`]. What follows
//! from an end without any choice is ordered here: the run that was held until then is sent, runs that nobody needs any
//! more are stopped.

use super::answers::Judgement;
use super::chains::MachinesOfRun;
use super::runs::{Run, Stage};
use super::task::Spent;
use super::{Grid, Task, TaskState};
use crate::checking::Said;
use crate::effects::Effects;
use crate::{Cause, Change, Command, RunEnd, StopReason};
use gleaner_units::{MachineId, OpsTotal, RunId, TaskClassId, TaskId, Time};

impl Grid {
    pub(super) fn run_arrived(&mut self, id: RunId, since: Time, effects: &mut Effects) {
        match self.find_run(id).map(|run| (run.stage, *run)) {
            // One that is to stop may have arrived before it heard of that.
            Some((Stage::Sent | Stage::Stopping, run)) => {
                self.each_part(&run, |grid, part| grid.arrived(id, (part.on, since), effects));
            }
            Some((Stage::Held | Stage::Next | Stage::Asked | Stage::Running | Stage::Missing, _)) | None => {
                effects.changes.push(Change::StaleReply(id));
            }
        }
    }

    /// A run is at a site since a moment. What is known of the site may contain it already: then there is more room than was
    /// thought, as if the site said so.
    #[inline]
    pub(super) fn arrived(&mut self, run: RunId, (on, since): (MachineId, Time), effects: &mut Effects) {
        if self.beliefs.arrived(run, (on, since)) {
            effects.changes.push(Change::BeliefChanged(on));
            self.ask_whoever_waits(on, Cause::Published(on));
        }
    }

    pub(super) fn run_started(&mut self, now: Time, id: RunId, effects: &mut Effects) {
        match self.find_run(id).map(|run| (run.stage, *run)) {
            Some((Stage::Sent | Stage::Next, run)) => {
                self.begin_ahead(now, id, effects);
                self.run_mut(id).stage = Stage::Running;
                let task = self.tasks.get_mut(id.task);
                task.begun = task.begun.min(now);
                let class = task.class;
                self.each_part(&run, |grid, part| {
                    grid.arrived(id, (part.on, now), effects);
                    grid.machines[part.on.index()].begin(now, class, id);
                });
                effects.changes.push(Change::Started(id));
                // The machine turned out another while the run was on its way, or its owner came, when nothing could move it.
                if self.is_lost_on(class, &run) {
                    self.ask(Cause::Measured(run.on));
                } else if self.machine(run.on).still_since().is_some() {
                    self.ask(Cause::LoadRose(run.on));
                }
            }
            // It began before it heard that it is to stop.
            Some((Stage::Stopping, _)) => {}
            Some((Stage::Held | Stage::Asked | Stage::Running | Stage::Missing, _)) | None => {
                effects.changes.push(Change::StaleReply(id));
            }
        }
    }

    /// Whether the machine of a run cannot run its task; of one in several parts no machine has to hold all.
    fn is_lost_on(&self, class: TaskClassId, run: &Run) -> bool {
        let seconds_per_op = if run.is_wide {
            self.classes.seconds_per_op_in_parts(class, self.machine(run.on).class())
        } else {
            self.seconds_per_op(class, run.on)
        };
        seconds_per_op == f64::INFINITY
    }

    pub(super) fn run_ended(&mut self, now: Time, id: RunId, end: RunEnd, effects: &mut Effects) {
        let Some(run) = self.find_run(id).filter(|run| run.stage != Stage::Held).copied() else {
            effects.changes.push(Change::StaleReply(id));
            return;
        };
        let end = if run.is_superseded { RunEnd::Lost } else { self.heard(now, &run, end, effects) };
        if end == RunEnd::Kept {
            self.keep(now, &run);
        }
        let spent = if end == RunEnd::Finished { self.spent(now, &run) } else { None };
        self.take_off(now, &run, effects);
        let machines = self.machines_of_run(&run);
        self.count_end(&run, end, &machines);
        self.forget_run(id);
        match (end, self.task(id.task).state) {
            (RunEnd::Finished, TaskState::Waiting | TaskState::Placed | TaskState::Withdrawn) => {
                self.task_finished(now, (&run, spent), &machines, effects);
            }
            // Its task waits, or is where another run of it is; or others are to be asked after what it said.
            (RunEnd::Answered(_) | RunEnd::Compared(_), _) if run.stage == Stage::Missing => {
                self.ask(Cause::Submitted(self.task(id.task).class));
            }
            _ if run.stage == Stage::Missing => {}
            (_, TaskState::Placed) => {
                self.over(now, id.task, &machines, end, effects);
            }
            (_, TaskState::Finished(_) | TaskState::Withdrawn | TaskState::Retired) => {
                self.settle_withdrawn(now, id.task);
                for on in machines.iter() {
                    effects.changes.push(Change::ResidentsChanged(on));
                    self.ask(Cause::Freed(on));
                }
                self.ask_who_may_be_paid();
            }
            (_, TaskState::Waiting) => {
                unreachable!("what waits is on no machine")
            }
        }
    }

    /// What the end of a run comes to, once its answer is compared with others.
    fn heard(&mut self, now: Time, run: &Run, end: RunEnd, effects: &mut Effects) -> RunEnd {
        let said = match end {
            RunEnd::Answered(answer) => Said::Answer(answer),
            RunEnd::Compared(likeness) => Said::Likeness(likeness),
            RunEnd::Refused => {
                self.checks.refuse(run.id.task, run.on);
                effects.changes.push(Change::AnswerKept(run.id.task));
                return RunEnd::Lost;
            }
            RunEnd::Finished | RunEnd::Kept | RunEnd::Lost => return end,
        };
        let task = run.id.task;
        match self.judge(run, said, self.hears(run)) {
            (Judgement::Agreed, Some(comparison)) => self.agree(now, task, &comparison, effects),
            (Judgement::Agreed, None) => self.answered_alone(task, run.on),
            (Judgement::Disputed, _) => self.dispute(task),
            (Judgement::Kept, Some(comparison)) => {
                self.keep_answer(task, comparison);
                effects.changes.push(Change::AnswerKept(task));
                return end;
            }
            (Judgement::Kept | Judgement::Void, _) => return RunEnd::Lost,
        }
        RunEnd::Finished
    }

    fn task_finished(
        &mut self,
        now: Time,
        (run, spent): (&Run, Option<Spent>),
        machines: &MachinesOfRun,
        effects: &mut Effects,
    ) {
        let id = run.id.task;
        let waited = self.task(id).state == TaskState::Waiting;
        self.dequeue(id);
        let payer = self.payer(id);
        match &mut self.accounts {
            // It was thought lost, and its credits were given back: others may have been planned with them.
            Some(accounts) if waited => accounts.of_mut(payer).give_back(now, id),
            Some(accounts) => accounts.of_mut(payer).end(now, id),
            None => {}
        }
        // Nothing was kept of the run that came to its end.
        if self.task(id).runs > 1 {
            self.kept.remove(&id);
        }
        self.close_comparison(id);
        let task = self.tasks.get_mut(id);
        (task.state, task.ended, task.spent) = (TaskState::Finished(run.on), now, spent);
        self.count_time(id);
        effects.changes.push(Change::Finished(id));
        let was_there = run.stage != Stage::Missing;
        if was_there {
            effects.changes.extend(machines.iter().map(Change::ResidentsChanged));
        }
        self.supersede(now, id, effects);
        if was_there {
            machines.iter().for_each(|on| self.ask(Cause::Freed(on)));
        }
        // Who waits behind it waits for it no more.
        if waited && self.has_waiting() {
            self.ask(Cause::Withdrawn);
        }
    }

    /// No other run of a task is needed any more.
    fn supersede(&mut self, now: Time, id: TaskId, effects: &mut Effects) {
        if self.task(id).newest.is_none() {
            return;
        }
        for other in self.all_runs(id) {
            if other.stage == Stage::Missing {
                self.forget_run(other.id);
            } else {
                if other.stage != Stage::Held {
                    self.run_mut(other.id).is_superseded = true;
                }
                self.stop(now, &other, StopReason::Superseded, effects);
            }
        }
    }

    /// A run of a task that is to go on is over: the one that was held is sent, or the task waits, unless it has other
    /// runs.
    fn over(&mut self, now: Time, id: TaskId, machines: &MachinesOfRun, end: RunEnd, effects: &mut Effects) {
        let has_answers = self.has_answers(id);
        let is_moved = self.runs_of(id).any(|other| other.stage == Stage::Held);
        let waits = !has_answers && !self.runs_of(id).any(|other| other.stage != Stage::Missing);
        if waits {
            self.give_back(now, id);
            self.wait_again(id, effects);
        } else {
            self.send_held(id, end, effects);
        }
        effects.changes.extend(machines.iter().map(Change::ResidentsChanged));
        // First whoever has waited longest for that machine, then the task itself, on any.
        machines.iter().for_each(|on| self.vacated(on));
        if waits || has_answers {
            self.ask(Cause::Submitted(self.task(id).class));
            if waits {
                self.ask_who_may_be_paid();
            }
        } else if end == RunEnd::Lost && !is_moved {
            // A copy is gone and another goes on: whether there is to be one more is asked, though nothing waits.
            self.ask(Cause::Vacated(machines.first));
        }
    }

    /// Whoever waits may be paid with what was given back, and on any machine.
    fn ask_who_may_be_paid(&mut self) {
        if self.accounts.is_some() && self.has_waiting() {
            self.ask(Cause::Withdrawn);
        }
    }

    /// Sends the run that waits for the end of another, if there is one and the other was the last.
    fn send_held(&mut self, id: TaskId, end: RunEnd, effects: &mut Effects) {
        if self.runs_of(id).any(Run::goes_on) {
            return;
        }
        let Some(Run { id: held, on, .. }) = self.runs_of(id).find(|run| run.stage == Stage::Held).copied()
        else {
            return;
        };
        // What is compared goes on from nothing.
        if end != RunEnd::Kept || self.is_compared(id) {
            let (class, done) = (self.task(id).class, self.kept(id));
            self.machines[on.index()].start_from(class, held, done);
        }
        self.run_mut(held).stage = Stage::Sent;
        effects.orders.push(Command::Start { run: held, on });
    }

    /// A machine is out of reach, and with it all that is on it.
    pub(super) fn lose_runs(&mut self, now: Time, machine: MachineId, effects: &mut Effects) {
        let there = self.machine(machine);
        let runs: Vec<RunId> = there.runs().chain(there.stopping().iter().copied()).collect();
        // First what begins with the end of another, so that none begins now.
        for id in self.ahead_on(machine).into_iter().chain(runs) {
            let run = *self.find_run(id).expect("what is on a machine is known");
            if matches!(run.stage, Stage::Sent | Stage::Running) {
                self.count_loss(machine);
            }
            if run.is_wide {
                self.lose_part(now, &run, machine, effects);
                continue;
            }
            let done = self.keepable(now, &run);
            self.take_off(now, &run, effects);
            match (run.stage, self.task(id.task).state) {
                (Stage::Held, _) | (_, TaskState::Finished(_)) => self.forget_run(id),
                (_, TaskState::Placed) if self.runs_of(id.task).any(|other| other.stage == Stage::Held) => {
                    self.forget_run(id);
                    self.send_held(id.task, RunEnd::Lost, effects);
                }
                (_, state) => {
                    let missing = self.run_mut(id);
                    (missing.stage, missing.done) = (Stage::Missing, done);
                    let is_elsewhere = self.runs_of(id.task).any(|other| other.stage != Stage::Missing);
                    if state == TaskState::Placed && !is_elsewhere && !self.has_answers(id.task) {
                        self.give_back(now, id.task);
                        self.wait_again(id.task, effects);
                    }
                    self.settle_withdrawn(now, id.task);
                }
            }
        }
    }

    /// One part of a run is gone, and so nothing of the run counts any more: the others are stopped, and with the last of
    /// them it is over.
    fn lose_part(&mut self, now: Time, run: &Run, lost: MachineId, effects: &mut Effects) {
        let id = run.id;
        if run.stage != Stage::Stopping {
            self.begin_to_stop(now, run, effects);
        }
        let needs = self.needs(self.task(id.task).class);
        let parts = self.runs.wide.get_mut(&id).expect("a run of several parts has them");
        let at = parts.iter().position(|part| part.on == lost).expect("a part of it is on the machine");
        let part = parts.remove(at);
        let first = parts.first().map(|part| part.on);
        self.machines[lost.index()].release(id, needs.of_part(part.cores));
        self.beliefs.over(id, lost);
        self.free_cores(self.task(id.task).class, part);
        effects.changes.push(Change::RoomFreed(id, lost));
        let rest = self.run_mut(id);
        rest.is_superseded = true;
        if let Some(on) = first {
            rest.on = on;
            if run.stage != Stage::Stopping {
                effects.orders.push(Command::Stop { run: id, on, why: StopReason::PartLost });
            }
            return;
        }
        self.forget_run(id);
        self.settle_withdrawn(now, id.task);
        let is_elsewhere = self.runs_of(id.task).any(|other| other.stage != Stage::Missing);
        let waits = !is_elsewhere && !self.has_answers(id.task);
        if waits && self.task(id.task).state == TaskState::Placed {
            self.give_back(now, id.task);
            self.wait_again(id.task, effects);
        }
    }

    /// Orders a run to stop, or drops it where it was not sent yet.
    pub(super) fn stop(&mut self, now: Time, run: &Run, why: StopReason, effects: &mut Effects) {
        let &Run { id, on, stage, .. } = run;
        match stage {
            Stage::Held => {
                self.take_off(now, run, effects);
                self.forget_run(id);
                effects.changes.push(Change::ResidentsChanged(on));
                self.vacated(on);
            }
            Stage::Asked | Stage::Sent | Stage::Running => {
                self.begin_to_stop(now, run, effects);
                effects.orders.push(Command::Stop { run: id, on, why });
            }
            Stage::Next => {
                self.run_mut(id).stage = Stage::Stopping;
                effects.changes.extend(self.run_before(id).map(Change::FollowerChanged));
                effects.orders.push(Command::Stop { run: id, on, why });
            }
            // It is told the new reason too.
            Stage::Stopping => effects.orders.push(Command::Stop { run: id, on, why }),
            Stage::Missing => {}
        }
    }

    /// A run that was sent keeps its room until its end is reported, and has no share any more.
    fn begin_to_stop(&mut self, now: Time, run: &Run, effects: &mut Effects) {
        let done = self.keepable(now, run);
        let class = self.task(run.id.task).class;
        let needs = self.needs(class);
        self.each_part(run, |grid, part| {
            grid.machines[part.on.index()].stop(now, class, run.id, needs.of_part(part.cores));
            effects.changes.push(Change::ResidentsChanged(part.on));
        });
        self.count_off(class);
        self.ask_no_more(run.id, effects);
        let stopping = self.run_mut(run.id);
        (stopping.stage, stopping.done) = (Stage::Stopping, done);
    }

    /// The runs of a task, to be changed one by one.
    pub(super) fn all_runs(&self, id: TaskId) -> Vec<Run> {
        self.runs_of(id).copied().collect()
    }

    /// What the next run need not do, if what this one did is kept: nothing where its task keeps nothing to go on from.
    fn keepable(&self, now: Time, run: &Run) -> f64 {
        let class = self.task(run.id.task).class;
        // An answer is one machine's from its beginning, or nobody could say who is wrong.
        let restarts = self.classes.task_class(class).restarts || self.is_compared(run.id.task);
        if restarts { 0.0 } else { self.ops_done(now, run.id) }
    }

    /// What a run keeps that ends now.
    fn left_by(&self, now: Time, run: &Run) -> f64 {
        if run.counts() { self.keepable(now, run) } else { run.done }
    }

    /// Of several runs of a task what the furthest left is kept.
    fn keep(&mut self, now: Time, run: &Run) {
        let done = self.left_by(now, run);
        if done > 0.0 {
            let kept = self.kept.entry(run.id.task).or_default();
            *kept = kept.max(done);
        }
    }

    /// Whether what a run keeps that ends now is no less than what its task has to go on from: of several runs one may be behind.
    pub fn is_furthest(&self, now: Time, run: &Run) -> bool {
        self.left_by(now, run) >= self.kept.get(&run.id.task).copied().unwrap_or(0.0)
    }

    /// The operations that the next run of a task need not do: none where answers are compared, whatever was kept before.
    pub(super) fn kept(&self, id: TaskId) -> f64 {
        let has_kept = self.task(id).runs > 0 && !self.is_compared(id);
        if has_kept { self.kept.get(&id).copied().unwrap_or(0.0) } else { 0.0 }
    }

    /// Off its machine, where it takes room no more.
    fn take_off(&mut self, now: Time, run: &Run, effects: &mut Effects) {
        let class = self.task(run.id.task).class;
        let needs = self.needs(class);
        if self.follow_no_more(run.id, effects) {
            return;
        }
        self.ask_no_more(run.id, effects);
        if run.counts() {
            self.count_off(class);
        }
        self.each_part(run, |grid, part| {
            grid.beliefs.over(run.id, part.on);
            let machine = &mut grid.machines[part.on.index()];
            match run.stage {
                Stage::Held | Stage::Asked | Stage::Sent | Stage::Running => {
                    machine.remove(now, class, run.id, needs.of_part(part.cores));
                }
                Stage::Stopping => machine.release(run.id, needs.of_part(part.cores)),
                Stage::Next => unreachable!("what follows no run has its room"),
                Stage::Missing => return,
            }
            grid.free_cores(class, part);
            effects.changes.push(Change::RoomFreed(run.id, part.on));
        });
        self.pass_room_on(now, run.id, effects);
    }

    /// Tasks of one class and length come to wait.
    pub(super) fn enqueue(&mut self, first: TaskId, count: u32) {
        let class = self.task(first).class;
        self.waiting.add(class, first, count);
        if let Some(length) = self.declared_length(first) {
            let payer = self.classes.demand(class).payer;
            self.waiting_ops.add(payer, OpsTotal::from(length).times(count));
        }
    }

    /// A task waits no more. Costs O(log tasks), and O(queue) where it is planned and not the first there.
    pub(super) fn dequeue(&mut self, id: TaskId) {
        let Task { state, class, .. } = *self.task(id);
        if state != TaskState::Waiting {
            return;
        }
        self.waiting.remove(class, id, 1);
        self.forget_waiting_ops(id, 1);
        self.plans.remove(id);
    }

    /// Of tasks of one class and length.
    pub(super) fn forget_waiting_ops(&mut self, first: TaskId, count: u32) {
        if let Some(length) = self.declared_length(first) {
            self.waiting_ops.take(self.payer(first), OpsTotal::from(length).times(count));
        }
    }

    fn wait_again(&mut self, id: TaskId, effects: &mut Effects) {
        self.tasks.get_mut(id).wait();
        self.enqueue(id, 1);
        effects.changes.push(Change::Wait { first: id, count: 1 });
    }
}
