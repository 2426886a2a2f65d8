//! Retired tasks. The grid only remembers that they are over; the live grid's store has the rest.
//!
//! A million of them in a row are one value for each page. One that is to run again is revived first, with what was
//! forgotten.

use super::{Grid, Run, Stage, Task, TaskState};
use gleaner_units::{Ops, TaskClassId, TaskId, Time};

impl Grid {
    /// Costs O(count / 256), and O(256).
    ///
    /// # Panics
    /// For tasks that are not over, or of which a run is not and may yet be heard of.
    pub(super) fn tasks_retired(&mut self, first: TaskId, count: u32) {
        self.in_stretches(first, count, |grid, first, _| {
            let is_over = matches!(
                grid.task(first).state,
                TaskState::Finished(_) | TaskState::Withdrawn | TaskState::Retired
            );
            assert!(is_over, "{first} is not over");
            let runs: Vec<Run> = grid.runs_of(first).copied().collect();
            for run in runs {
                assert!(run.stage == Stage::Missing, "{} is not over", run.id);
                grid.forget_run(run.id);
            }
        });
        let end = TaskId::new(first.index() + count as usize);
        while let Some((&task, _)) = self.kept.range(first..end).next() {
            self.kept.remove(&task);
        }
        self.checks.forget(first, count);
        self.tasks.fill(first, count, Task::RETIRED);
        self.lengths.fill(first, count, 0.0);
    }

    /// Tasks of one class and length that had as many runs are known again, and withdrawn. Changes nothing about those that
    /// are not retired. Costs the same.
    pub(super) fn tasks_revived(
        &mut self,
        (first, count): (TaskId, u32),
        (class, length): (TaskClassId, Option<Ops>),
        (runs, submitted): (u32, Time),
    ) {
        let task = Task { state: TaskState::Withdrawn, runs, ..Task::new(class, submitted) };
        self.in_stretches(first, count, |grid, first, count| {
            if grid.task(first).state == TaskState::Retired {
                grid.tasks.fill(first, count, task);
                grid.lengths.fill(first, count, length.map_or(0.0, Ops::amount));
            }
        });
    }
}
