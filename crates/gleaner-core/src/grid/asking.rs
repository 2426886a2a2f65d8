//! Runs that sites are asked for: all of them hold their parts, or none.
//!
//! **A run is sent as soon as the last of its sites has said that it holds its part**, without any choice. One that
//! refuses, or is silent at the deadline, ends it: it takes its room, as far as is known here, until the end is reported, since the
//! others may hold theirs.

use super::runs::{Run, Stage};
use super::{Grid, TaskState};
use crate::alarm::Alarm;
use crate::effects::Effects;
use crate::{Change, Command, Part, Refusal, StopReason};
use gleaner_units::{MachineId, RunId, TaskId, Time};

impl Grid {
    pub(super) fn ask_for(
        &mut self,
        now: Time,
        (id, parts): (TaskId, &[Part]),
        until: Time,
        effects: &mut Effects,
    ) -> Result<(), Refusal> {
        if until < now {
            return Err(Refusal::Passed(until));
        }
        let run = if self.task(id).state == TaskState::Waiting {
            self.first_of_parts(now, (id, parts), Stage::Asked, effects)?
        } else {
            self.copy_of_parts(now, (id, parts), Stage::Asked, effects)?
        };
        self.runs.silent.insert(run, parts.iter().map(|part| part.on).collect());
        self.alarms.set(Alarm::Silence(run), until);
        effects.orders.push(Command::Ask { run, parts: parts.into() });
        Ok(())
    }

    /// An asked run's sites that have not answered yet.
    pub fn silent(&self, run: RunId) -> impl Iterator<Item = MachineId> + '_ {
        self.runs.silent.get(&run).into_iter().flatten().copied()
    }

    pub(super) fn run_granted(&mut self, (id, on): (RunId, MachineId), since: Time, effects: &mut Effects) {
        // Also of a run that is to stop: its part is held until it is released.
        self.arrived(id, (on, since), effects);
        let Some(silent) = self.runs.silent.get_mut(&id) else { return self.late_answer(id, effects) };
        if !silent.remove(&on) {
            return effects.changes.push(Change::StaleReply(id));
        }
        if !silent.is_empty() {
            return;
        }
        self.ask_no_more(id, effects);
        self.run_mut(id).stage = Stage::Sent;
        let run = *self.find_run(id).expect("who is asked for is known");
        let order = self.start_order(&run);
        effects.orders.push(order);
    }

    pub(super) fn run_refused(&mut self, now: Time, (id, on): (RunId, MachineId), effects: &mut Effects) {
        match self.runs.silent.get(&id) {
            Some(silent) if silent.contains(&on) => self.not_held(now, id, effects),
            Some(_) => effects.changes.push(Change::StaleReply(id)),
            None => self.late_answer(id, effects),
        }
    }

    /// Whoever answers before it heard that the run is to stop does no wrong.
    fn late_answer(&self, id: RunId, effects: &mut Effects) {
        if self.find_run(id).is_none_or(|run| run.stage != Stage::Stopping) {
            effects.changes.push(Change::StaleReply(id));
        }
    }

    /// One of the sites does not hold its part, or is silent.
    pub(super) fn not_held(&mut self, now: Time, id: RunId, effects: &mut Effects) {
        if let Some(run) = self.find_run(id).filter(|run| run.stage == Stage::Asked).copied() {
            self.stop(now, &run, StopReason::NotHeld, effects);
        }
    }

    /// No answer is waited for any more.
    pub(super) fn ask_no_more(&mut self, id: RunId, effects: &mut Effects) {
        if self.runs.silent.remove(&id).is_some() {
            self.alarms.take(Alarm::Silence(id));
            effects.changes.push(Change::AlarmChanged(Alarm::Silence(id)));
        }
    }

    /// The order to start a run where it is.
    pub(super) fn start_order(&self, run: &Run) -> Command {
        if run.is_wide {
            Command::StartWide { run: run.id, parts: self.parts_of(run).collect() }
        } else {
            Command::Start { run: run.id, on: run.on }
        }
    }
}
