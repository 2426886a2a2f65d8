//! Runs that are ordered ahead: each is on its machine, and begins there when a run before it is over, without anybody
//! being asked. So a machine far away does not stand still until it hears what is next.
//!
//! **A run ahead takes no room** until the run that it follows is over, whose room it then has: they are of one class, so
//! it fits. Its machine may say that it began before it says that the other is over: until both are said each has room, and
//! nothing may follow either of them.
//!
//! **One that is asked back may begin nevertheless**: then it goes on, and else its machine says that it is over.

use super::progress::Resident;
use super::runs::{Run, Stage};
use super::{Availability, Grid, TaskState};
use crate::effects::Effects;
use crate::{Change, Command, Part, Refusal, StopReason};
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};

impl Grid {
    /// The run that follows this one. It starts when this one ends, or it has reported its start already.
    #[inline]
    pub fn run_behind(&self, run: RunId) -> Option<&Run> {
        self.find_run(self.followers.behind(run)?)
    }

    /// The run that this one waits for: until that is over, this one takes no room.
    #[inline]
    pub fn run_before(&self, run: RunId) -> Option<RunId> {
        self.followers.before(run)
    }

    /// The run before this one whose end is not reported yet. No other run may follow it.
    #[inline]
    pub fn leader_of(&self, run: RunId) -> Option<RunId> {
        self.followers.leader(run)
    }

    /// When a run was asked back that has not answered.
    #[inline]
    pub fn asked_back(&self, run: RunId) -> Option<Time> {
        self.followers.asked_back(run)
    }

    /// The first run that waits for another and was not asked back. Costs O(runs that were).
    #[inline]
    pub fn first_ahead(&self) -> Option<RunId> {
        if self.followers.is_empty() {
            return None;
        }
        let is_next = |run: &RunId| self.find_run(*run).is_some_and(|run| run.stage == Stage::Next);
        self.followers.all_next().find(|run| self.asked_back(*run).is_none() && is_next(run))
    }

    /// The longest that tasks of a class took lately, from the first of their runs on: each end halves it, but not below what
    /// that task took. Nothing before the first end.
    #[inline]
    pub fn took_lately(&self, class: TaskClassId) -> Option<Span> {
        self.took.get(class.index()).copied().flatten()
    }

    /// A task came to its end.
    pub(super) fn count_time(&mut self, id: TaskId) {
        let task = *self.task(id);
        if task.begun > task.ended {
            return;
        }
        let took = task.ended.since(task.begun);
        let lately = &mut self.took[task.class.index()];
        let half = lately.map_or(0, |longest| longest.nanos() / 2);
        *lately = Some(took.max(Span::from_nanos(half)));
    }

    /// Whether a run may be followed by one of its class.
    pub fn may_be_followed(&self, id: RunId) -> bool {
        self.find_run(id).is_some_and(|run| self.is_fit_to_lead(run))
    }

    fn is_fit_to_lead(&self, run: &Run) -> bool {
        let machine = self.machine(run.on);
        matches!(run.stage, Stage::Sent | Stage::Running)
            && !run.is_wide
            && self.followers.behind(run.id).is_none()
            && self.leader_of(run.id).is_none()
            && machine.availability() == Availability::Open
            && machine.capacity() > 0.0
            && !machine.is_overfull()
            && self.accounts.is_none()
            && !self.is_compared(run.id.task)
    }

    pub(super) fn follow(
        &mut self,
        now: Time,
        id: TaskId,
        (on, after): (MachineId, RunId),
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        if self.task(id).state != TaskState::Waiting {
            return Err(Refusal::NotWaiting(id));
        }
        let class = self.task(id).class;
        let leads =
            |run: &Run| run.on == on && self.is_fit_to_lead(run) && self.task(after.task).class == class;
        if !self.find_run(after).is_some_and(leads) {
            return Err(Refusal::CannotFollow(id, after));
        }
        self.dequeue(id);
        self.forget_runs(id);
        self.tasks.get_mut(id).state = TaskState::Placed;
        let cores = self.needs(class).cores;
        let run = self.add_run(now, id, &[Part { on, cores }], Stage::Next);
        self.run_mut(run).done = self.kept(id);
        self.followers.link(after, run);
        effects.changes.push(Change::FollowerChanged(after));
        effects.orders.push(Command::StartAfter { run, on, after });
        Ok(())
    }

    /// Asks for a task whose run has not begun: it waits again when its machine says that it did not begin.
    pub(super) fn take_back(&mut self, now: Time, id: TaskId, effects: &mut Effects) -> Result<(), Refusal> {
        let is_ahead = |run: &&Run| run.stage == Stage::Next && self.asked_back(run.id).is_none();
        let &Run { id: run, on, .. } = self.runs_of(id).find(is_ahead).ok_or(Refusal::NotAhead(id))?;
        self.followers.ask_back(now, run);
        effects.changes.extend(self.run_before(run).map(Change::FollowerChanged));
        effects.orders.push(Command::Stop { run, on, why: StopReason::TakenBack });
        Ok(())
    }

    /// A run is over and its room free: what waited for that has the room, and begins.
    pub(super) fn pass_room_on(&mut self, now: Time, before: RunId, effects: &mut Effects) {
        let had_begun = |behind: RunId| self.followers.before(behind).is_none();
        let begun = self.followers.behind(before).filter(|behind| had_begun(*behind));
        let Some(behind) = self.followers.unlink_behind(before) else { return };
        if begun.is_some() {
            effects.changes.push(Change::FollowerChanged(behind));
        } else {
            self.take_room_at_last(now, behind, effects);
        }
    }

    /// A run that was ahead begins: as its machine said, or since the run before it is over.
    fn take_room_at_last(&mut self, now: Time, id: RunId, effects: &mut Effects) {
        let run = *self.find_run(id).expect("what follows a run is known");
        let class = self.task(id.task).class;
        let needs = self.needs(class);
        let done = run.done;
        let machine = &mut self.machines[run.on.index()];
        machine.add(now, class, Resident::sent(id, done), needs);
        self.caps.take(self.classes.demand(class).payer, needs.cores);
        if run.stage == Stage::Stopping {
            self.machines[run.on.index()].stop(now, class, id, needs);
        } else {
            self.placed[class.index()] += 1;
            self.placed_total += 1;
            let begun = self.run_mut(id);
            (begun.stage, begun.since, begun.done) = (Stage::Sent, now, 0.0);
        }
        effects.changes.push(Change::ResidentsChanged(run.on));
        effects.changes.push(Change::RoomTaken(id));
    }

    /// A run says that it runs. It takes room now if the end of the one before it was not reported.
    pub(super) fn begin_ahead(&mut self, now: Time, id: RunId, effects: &mut Effects) {
        if let Some(before) = self.followers.begin(id) {
            effects.changes.push(Change::FollowerChanged(before));
            self.take_room_at_last(now, id, effects);
        }
    }

    /// A run is over, and follows nothing any more. Whether it had no room yet.
    pub(super) fn follow_no_more(&mut self, id: RunId, effects: &mut Effects) -> bool {
        let had_no_room = self.followers.before(id).is_some();
        effects.changes.extend(self.followers.unlink(id).map(Change::FollowerChanged));
        had_no_room
    }

    /// The runs ahead on a machine, with those that are to stop.
    pub fn ahead_on(&self, machine: MachineId) -> Vec<RunId> {
        if self.followers.is_empty() {
            return Vec::new();
        }
        let there = self.machine(machine);
        let runs = there.runs().chain(there.stopping().iter().copied());
        let behind = runs.filter_map(|run| self.followers.behind(run));
        behind.filter(|behind| self.run_before(*behind).is_some()).collect()
    }

    /// Whether each run that is next waits for one that has its machine's room, nothing else is said to follow, and only what is known
    /// and has not begun is asked back.
    pub(super) fn following_is_whole(&self) -> bool {
        let fits = |before: RunId, behind: RunId| {
            let (Some(leader), Some(run)) = (self.find_run(before), self.find_run(behind)) else {
                return false;
            };
            let waits = matches!(run.stage, Stage::Next | Stage::Stopping);
            let has_begun = matches!(run.stage, Stage::Running | Stage::Stopping);
            leader.on == run.on
                && leader.stage != Stage::Missing
                && if self.run_before(behind).is_some() { waits } else { has_begun }
                && self.leader_of(before).is_none()
        };
        let may_begin =
            |run: &Run| matches!(run.stage, Stage::Next | Stage::Sent | Stage::Stopping | Stage::Missing);
        let runs = self.tasks().flat_map(|(id, _)| self.runs_of(id));
        let mut next = runs.filter(|run| run.stage == Stage::Next);
        self.followers.all(fits)
            && next.all(|run| self.run_before(run.id).is_some())
            && self.followers.all_asked_back().all(|run| self.find_run(run).is_some_and(may_begin))
    }
}
