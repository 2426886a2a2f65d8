//! Tasks that get another class, and classes that stand for other tasks.
//!
//! One machine is kept from one task in this way, which has no place in classes.
//!
//! Whoever reports it makes a class that asks for what keeps the machine out. **A task changes its class only while no
//! index has it**, neither among what waits nor among what runs: so no policy has to hear of it.

use super::runs::Stage;
use super::{Grid, Task, TaskState};
use crate::effects::Effects;
use crate::{Cause, Change, TaskClass};
use gleaner_units::{TaskClassId, TaskId};

impl Grid {
    /// Changes nothing about a task that waits, or of which a run is not over. Costs as much as tasks that are withdrawn.
    pub(super) fn tasks_reclassed(&mut self, (first, count): (TaskId, u32), class: TaskClassId) {
        self.in_stretches(first, count, |grid, first, count| {
            let task = *grid.task(first);
            let is_out = matches!(task.state, TaskState::Withdrawn | TaskState::Finished(_));
            // What has runs is alike to nothing else.
            if is_out && grid.runs_of(first).all(|run| run.stage == Stage::Missing) {
                grid.tasks.fill(first, count, Task { class, ..task });
            }
        });
    }

    pub(super) fn class_met(&mut self, class: TaskClass, effects: &mut Effects) {
        let id = self.classes.add_task_class(class);
        self.placed.push(0);
        self.took.push(None);
        effects.changes.push(Change::TaskClassMet(id));
    }

    /// Told once for all of them: indices may be made anew for it.
    pub(super) fn classes_measured(
        &mut self,
        classes: &[TaskClassId],
        composition: &[f64],
        effects: &mut Effects,
    ) {
        for &class in classes {
            self.classes.measure_task_class(class, composition.to_vec());
            self.ask(Cause::Submitted(class));
        }
        effects.changes.push(Change::TaskClassesMeasured);
    }

    /// A class of which there is no task is another from now on, of which nothing was learnt yet. Costs O(machine classes).
    ///
    /// # Panics
    /// Where a task of it waits or runs: whoever keeps the books knows better.
    pub(super) fn class_replaced(&mut self, id: TaskClassId, by: TaskClass, effects: &mut Effects) {
        let is_unused = self.placed[id.index()] == 0 && self.waiting.count_of(id) == 0;
        assert!(is_unused, "tasks of {id} wait or run");
        self.classes.replace_task_class(id, by);
        self.took[id.index()] = None;
        self.limits.remove(&id);
        self.checks.ask_for_none(id);
        self.catalogue.no_inputs_named(id);
        effects.changes.push(Change::TaskClassReplaced(id));
    }
}
