//! What becomes of a task after it was sent to a machine: replies, and what the outside says of the task itself.
//!
//! **A reply counts only if it bears the number of the latest attempt and nothing else is known of that attempt's
//! end.** All others are shown as [`Change::StaleReply`].

use super::{Grid, Task, TaskState};
use crate::{Cause, Change};
use gleaner_units::{MachineId, OpsTotal, TaskId, Time};

impl Grid {
    pub(super) fn attempt_started(&mut self, now: Time, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        let task = self.tasks.get_mut(id);
        match task.state {
            TaskState::Sent(on) if task.attempt == attempt => {
                task.state = TaskState::Running(on);
                task.started = task.started.min(now);
                let class = task.class;
                self.machines[on.index()].begin(now, class, id);
                changes.push(Change::Started(id));
            }
            _ => changes.push(Change::StaleReply { task: id, attempt }),
        }
    }

    pub(super) fn attempt_finished(
        &mut self,
        now: Time,
        id: TaskId,
        attempt: u32,
        changes: &mut Vec<Change>,
    ) {
        let Some(on) = self.running_on(id, attempt) else {
            changes.push(Change::StaleReply { task: id, attempt });
            return;
        };
        let placed = self.leave_if_placed(now, id);
        let payer = self.payer(id);
        match &mut self.accounts {
            Some(accounts) if placed.is_some() => accounts.of_mut(payer).end(now, id),
            // It was thought lost, and its credits were given back: others may have been planned with them.
            Some(accounts) => accounts.of_mut(payer).give_back(now, id),
            None => {}
        }
        let task = self.tasks.get_mut(id);
        task.state = TaskState::Finished(on);
        task.missing_on = None;
        changes.push(Change::Finished(id));
        if placed.is_some() {
            changes.push(Change::ResidentsChanged(on));
            self.ask(Cause::Freed(on));
        }
    }

    pub(super) fn attempt_lost(&mut self, now: Time, id: TaskId, attempt: u32, changes: &mut Vec<Change>) {
        if self.running_on(id, attempt).is_none() {
            changes.push(Change::StaleReply { task: id, attempt });
            return;
        }
        if self.task(id).state == TaskState::Waiting {
            self.no_longer_missing(now, id, changes);
            return;
        }
        let placed = self.leave_if_placed(now, id);
        self.give_back(now, id);
        self.wait_again(id, None, changes);
        if let Some(on) = placed {
            changes.push(Change::ResidentsChanged(on));
            // First whoever has waited longest for that machine, then the task itself, on any.
            self.vacated(on);
            self.ask(Cause::Submitted(self.task(id).class));
        }
    }

    /// A task whose machine was thought lost waits since then, and does not come to wait a second time: only what was
    /// planned for it is given up.
    fn no_longer_missing(&mut self, now: Time, id: TaskId, changes: &mut Vec<Change>) {
        self.give_back(now, id);
        self.tasks.get_mut(id).wait(None);
        if self.plans.queue_of(id).is_some() {
            self.plans.remove(id);
            changes.push(Change::Unplanned(id));
            self.ask(Cause::Submitted(self.task(id).class));
        }
    }

    /// Costs O(pages) for tasks that wait without a plan and are alike, and O(log tasks) for each of the others.
    pub(super) fn tasks_withdrawn(
        &mut self,
        now: Time,
        (first, count): (TaskId, u32),
        changes: &mut Vec<Change>,
    ) {
        self.in_stretches(first, count, |grid, first, count| {
            let task = grid.task(first);
            let waits = task.state == TaskState::Waiting && task.missing_on.is_none();
            if !waits || grid.plans.has_any(first, count) {
                tasks(first, count).for_each(|task| grid.task_withdrawn(now, task, changes));
                return;
            }
            grid.waiting.remove(task.class, first, count);
            grid.forget_waiting_ops(first, count);
            grid.tasks.fill(first, count, Task { state: TaskState::Withdrawn, ..task });
            changes.push(Change::Withdrawn { first, count });
        });
    }

    /// Likewise.
    pub(super) fn tasks_returned(&mut self, (first, count): (TaskId, u32), changes: &mut Vec<Change>) {
        self.in_stretches(first, count, |grid, first, count| {
            let mut task = grid.task(first);
            if matches!(task.state, TaskState::Finished(_) | TaskState::Withdrawn) {
                task.wait(None);
                grid.tasks.fill(first, count, task);
                grid.enqueue(first, count);
                changes.push(Change::Wait { first, count });
                grid.ask(Cause::Submitted(task.class));
            }
        });
    }

    /// Does something with each stretch of tasks that are alike, and of one length.
    fn in_stretches(&mut self, first: TaskId, count: u32, mut act: impl FnMut(&mut Self, TaskId, u32)) {
        let (mut next, end) = (first.index(), first.index() + count as usize);
        while next < end {
            let id = TaskId::new(next);
            let most = (end - next) as u32;
            let stretch = self.tasks.alike_from(id, most).min(self.lengths.alike_from(id, most));
            act(self, id, stretch);
            next += stretch as usize;
        }
    }

    fn task_withdrawn(&mut self, now: Time, id: TaskId, changes: &mut Vec<Change>) {
        if matches!(self.task(id).state, TaskState::Finished(_) | TaskState::Withdrawn) {
            return;
        }
        let placed = self.leave_if_placed(now, id);
        self.give_back(now, id);
        let task = self.tasks.get_mut(id);
        task.state = TaskState::Withdrawn;
        task.missing_on = None;
        changes.push(Change::Withdrawn { first: id, count: 1 });
        if let Some(on) = placed {
            changes.push(Change::ResidentsChanged(on));
            self.ask(Cause::Freed(on));
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
    fn leave_if_placed(&mut self, now: Time, id: TaskId) -> Option<MachineId> {
        let task = self.task(id);
        match task.placed_on() {
            Some(on) => self.leave(now, id, on),
            None => self.dequeue(id),
        }
        task.placed_on()
    }

    pub(super) fn leave(&mut self, now: Time, id: TaskId, on: MachineId) {
        let class = self.task(id).class;
        let needs = self.needs(class);
        self.machines[on.index()].remove(now, class, id, needs);
        self.placed[class.index()] -= 1;
        self.placed_total -= 1;
    }

    /// Tasks of one class and length come to wait.
    pub(super) fn enqueue(&mut self, first: TaskId, count: u32) {
        self.waiting.add(self.task(first).class, first, count);
        if let Some(length) = self.declared_length(first) {
            let payer = self.payer(first);
            *self.waiting_ops.entry(payer).or_default() += OpsTotal::from(length).times(count);
        }
    }

    /// A task waits no more. Costs O(log tasks), and O(queue) where it is planned and not the first there.
    pub(super) fn dequeue(&mut self, id: TaskId) {
        if self.task(id).state != TaskState::Waiting {
            return;
        }
        self.waiting.remove(self.task(id).class, id, 1);
        self.forget_waiting_ops(id, 1);
        self.plans.remove(id);
    }

    /// Of tasks of one class and length.
    fn forget_waiting_ops(&mut self, first: TaskId, count: u32) {
        let payer = self.payer(first);
        if let Some(length) = self.declared_length(first)
            && let Some(sum) = self.waiting_ops.get_mut(&payer)
        {
            *sum -= OpsTotal::from(length).times(count);
            if *sum == OpsTotal::ZERO {
                self.waiting_ops.remove(&payer);
            }
        }
    }

    pub(super) fn wait_again(
        &mut self,
        id: TaskId,
        missing_on: Option<MachineId>,
        changes: &mut Vec<Change>,
    ) {
        let task = self.tasks.get_mut(id);
        task.wait(missing_on);
        self.enqueue(id, 1);
        changes.push(Change::Wait { first: id, count: 1 });
    }
}

fn tasks(first: TaskId, count: u32) -> impl Iterator<Item = TaskId> {
    (first.index()..first.index() + count as usize).map(TaskId::new)
}
