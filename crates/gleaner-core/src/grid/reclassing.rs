//! Tasks that become another kind of task: how one machine is kept from one task, which has no place in classes.
//!
//! Whoever reports it makes a class that asks for what keeps the machine out. **A task changes its class only while no
//! index has it**, neither among what waits nor among what runs: so no policy has to hear of it.

use super::runs::Stage;
use super::{Grid, TaskState};
use gleaner_units::{TaskClassId, TaskId};

impl Grid {
    /// Changes nothing about a task that waits, or of which a run is not over. Costs O(runs of it).
    pub(super) fn task_reclassed(&mut self, id: TaskId, class: TaskClassId) {
        let is_out = matches!(self.task(id).state, TaskState::Withdrawn | TaskState::Finished(_));
        if is_out && self.runs_of(id).all(|run| run.stage == Stage::Missing) {
            self.tasks.get_mut(id).class = class;
        }
    }
}
