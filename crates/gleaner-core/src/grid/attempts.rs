//! What becomes of a task after it was sent to a machine: replies, and what the outside says of the task itself.
//!
//! **A reply counts only if it bears the number of the latest attempt and nothing else is known of that attempt's
//! end.** All others are shown as [`Change::StaleReply`].

use super::{Grid, TaskState};
use crate::{Cause, Change};
use gleaner_units::{MachineId, TaskId, Time};

impl Grid {
    pub(super) fn attempt_started(&mut self, now: Time, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        let task = self.tasks.get_mut(id);
        match task.state {
            TaskState::Sent(on) if task.attempt == attempt => {
                task.state = TaskState::Running(on);
                task.started = task.started.min(now);
                changes.push(Change::Started(id));
            }
            _ => changes.push(Change::StaleReply { task: id, attempt }),
        }
    }

    pub(super) fn attempt_finished(&mut self, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        let Some(on) = self.running_on(id, attempt) else {
            changes.push(Change::StaleReply { task: id, attempt });
            return;
        };
        let placed = self.leave_if_placed(id);
        let task = self.tasks.get_mut(id);
        task.state = TaskState::Finished(on);
        task.missing_on = None;
        changes.push(Change::Finished(id));
        if placed.is_some() {
            changes.push(Change::ResidentsChanged(on));
            self.ask(Cause::Freed(on));
        }
    }

    pub(super) fn attempt_lost(&mut self, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        if self.running_on(id, attempt).is_none() {
            changes.push(Change::StaleReply { task: id, attempt });
            return;
        }
        let placed = self.leave_if_placed(id);
        self.wait_again(id, None, changes);
        if let Some(on) = placed {
            changes.push(Change::ResidentsChanged(on));
            // First whoever has waited longest for that machine, then the task itself, on any.
            self.vacated(on);
            self.ask(Cause::Submitted(self.task(id).class));
        }
    }

    pub(super) fn task_withdrawn(&mut self, id: TaskId, changes: &mut Vec<Change>) {
        if matches!(self.task(id).state, TaskState::Finished(_) | TaskState::Withdrawn) {
            return;
        }
        let placed = self.leave_if_placed(id);
        let task = self.tasks.get_mut(id);
        task.state = TaskState::Withdrawn;
        task.missing_on = None;
        changes.push(Change::Withdrawn(id));
        if let Some(on) = placed {
            changes.push(Change::ResidentsChanged(on));
            self.ask(Cause::Freed(on));
        }
    }

    pub(super) fn task_returned(&mut self, id: TaskId, changes: &mut Vec<Change>) {
        if matches!(self.task(id).state, TaskState::Finished(_) | TaskState::Withdrawn) {
            self.wait_again(id, None, changes);
            self.ask(Cause::Submitted(self.task(id).class));
        }
    }

    /// Where the attempt of that number is running, or may be; nowhere if it is not the latest or is known to be over.
    fn running_on(&self, id: TaskId, attempt: u32) -> Option<MachineId> {
        let task = self.task(id);
        let on = match task.state {
            TaskState::Sent(on) | TaskState::Running(on) => Some(on),
            TaskState::Waiting => task.missing_on,
            TaskState::Finished(_) | TaskState::Withdrawn => None,
        };
        on.filter(|_| task.attempt == attempt)
    }

    /// Off its machine, if it is on one, or out of the waiting set, if it waits. Its state is the caller's to write.
    fn leave_if_placed(&mut self, id: TaskId) -> Option<MachineId> {
        let task = self.task(id);
        match task.placed_on() {
            Some(on) => self.leave(id, on),
            None => self.waiting.remove(task.class, id),
        }
        task.placed_on()
    }

    pub(super) fn leave(&mut self, id: TaskId, on: MachineId) {
        let class = self.task(id).class;
        let needs = self.needs(class);
        self.machines[on.index()].remove(class, id, needs);
        self.placed[class.index()] -= 1;
        self.placed_total -= 1;
    }

    pub(super) fn wait_again(
        &mut self,
        id: TaskId,
        missing_on: Option<MachineId>,
        changes: &mut Vec<Change>,
    ) {
        let task = self.tasks.get_mut(id);
        task.wait(missing_on);
        self.waiting.add(task.class, id, 1);
        changes.push(Change::Wait { first: id, count: 1 });
    }
}
