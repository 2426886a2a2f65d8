//! Tasks that are to be run no more, that are to be run after all, and that are to be run again.

use super::{Grid, Run, Stage, Task, TaskState};
use crate::effects::Effects;
use crate::{Cause, Change, StopReason};
use gleaner_units::{TaskId, Time};

impl Grid {
    /// Costs O(stretches of tasks that are alike), and O(log tasks) for each task that has runs or is planned.
    pub(super) fn tasks_withdrawn(
        &mut self,
        now: Time,
        (first, count): (TaskId, u32),
        effects: &mut Effects,
    ) {
        let mut any_waited = false;
        self.in_stretches(first, count, |grid, first, count| {
            let task = *grid.task(first);
            any_waited |= task.state == TaskState::Waiting;
            let only_waits = task.state == TaskState::Waiting && task.newest.is_none();
            if !only_waits || grid.plans.has_any(first, count) {
                tasks(first, count).for_each(|task| grid.task_withdrawn(now, task, effects));
                return;
            }
            grid.waiting.remove(task.class, first, count);
            grid.forget_waiting_ops(first, count);
            grid.tasks.fill(first, count, Task { state: TaskState::Withdrawn, ..task });
            effects.changes.push(Change::Withdrawn { first, count });
        });
        if any_waited && self.has_waiting() {
            self.ask(Cause::Withdrawn);
        }
    }

    /// Likewise.
    pub(super) fn tasks_returned(&mut self, (first, count): (TaskId, u32), effects: &mut Effects) {
        self.in_stretches(first, count, |grid, first, count| {
            let mut task = *grid.task(first);
            if task.state != TaskState::Withdrawn {
                return;
            }
            // What has runs is alike to nothing else, and waits as soon as they are over.
            if grid.runs_of(first).any(Run::goes_on) {
                grid.tasks.get_mut(first).state = TaskState::Placed;
                return;
            }
            task.wait();
            grid.tasks.fill(first, count, task);
            grid.enqueue(first, count);
            effects.changes.push(Change::Wait { first, count });
            grid.ask(Cause::Submitted(task.class));
        });
    }

    /// Likewise.
    pub(super) fn tasks_rerun(&mut self, tasks: &[(TaskId, u32)], effects: &mut Effects) {
        let mut any_ended = false;
        for &(first, count) in tasks {
            any_ended |= self.stretch_rerun((first, count), effects);
        }
        // Told once: the rules may have to look at all that ended.
        if any_ended {
            effects.changes.push(Change::EndsForgotten);
        }
    }

    /// Whether any of them had ended.
    fn stretch_rerun(&mut self, (first, count): (TaskId, u32), effects: &mut Effects) -> bool {
        let mut any_ended = false;
        self.in_stretches(first, count, |grid, first, count| {
            let task = grid.task(first);
            if !matches!(task.state, TaskState::Finished(_) | TaskState::Withdrawn) {
                return;
            }
            any_ended |= matches!(task.state, TaskState::Finished(_));
            for run in grid.all_runs(first) {
                if run.stage == Stage::Missing {
                    grid.forget_run(run.id);
                } else {
                    grid.run_mut(run.id).is_superseded = true;
                }
            }
            grid.checks.forget(first, count);
            let end = TaskId::new(first.index() + count as usize);
            while let Some((&task, _)) = grid.kept.range(first..end).next() {
                grid.kept.remove(&task);
            }
            let mut task = *grid.task(first);
            task.wait();
            grid.tasks.fill(first, count, Task { state: TaskState::Withdrawn, ..task });
            grid.tasks_returned((first, count), effects);
        });
        any_ended
    }

    /// Does something with each stretch of tasks that are alike, and of one length.
    pub(super) fn in_stretches(
        &mut self,
        first: TaskId,
        count: u32,
        mut act: impl FnMut(&mut Self, TaskId, u32),
    ) {
        let (mut next, end) = (first.index(), first.index() + count as usize);
        while next < end {
            let id = TaskId::new(next);
            let most = (end - next) as u32;
            let stretch = self.tasks.alike_from(id, most).min(self.lengths.alike_from(id, most));
            act(self, id, stretch);
            next += stretch as usize;
        }
    }

    fn task_withdrawn(&mut self, now: Time, id: TaskId, effects: &mut Effects) {
        match self.task(id).state {
            TaskState::Finished(_) | TaskState::Retired => return,
            // Why its runs are to stop may be another than before, and whoever stops them is told.
            TaskState::Withdrawn => {}
            TaskState::Waiting | TaskState::Placed => {
                self.dequeue(id);
                self.drop_answers(id);
                self.tasks.get_mut(id).state = TaskState::Withdrawn;
                self.settle_withdrawn(now, id);
                effects.changes.push(Change::Withdrawn { first: id, count: 1 });
            }
        }
        for run in self.all_runs(id) {
            self.stop(now, &run, StopReason::Withdrawn, effects);
        }
    }

    /// A task that is to be run no more costs nothing once none of its runs goes on: until then one may come to its end, and counts.
    pub(super) fn settle_withdrawn(&mut self, now: Time, id: TaskId) {
        if self.task(id).state == TaskState::Withdrawn && !self.runs_of(id).any(Run::goes_on) {
            self.give_back(now, id);
        }
    }
}

fn tasks(first: TaskId, count: u32) -> impl Iterator<Item = TaskId> {
    (first.index()..first.index() + count as usize).map(TaskId::new)
}
