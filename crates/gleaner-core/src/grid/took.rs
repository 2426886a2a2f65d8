//! How long tasks turned out to be.
//!
//! **What counts is the run that came to its end**: the time that it had a core to itself, with what earlier runs kept for it. Not
//! how long its task was on machines: copies and moves, neighbours and owners make that longer. It is worked out when the run
//! ends, by what its machine was then; what becomes of the machine later changes nothing.

use super::task::Spent;
use super::{Grid, Run, Stage};
use gleaner_units::{Span, TaskId, Time};

/// How long a task was that ended.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Took {
    /// On a machine like the one where it ended, with a core to itself.
    pub service_seconds: f64,
    /// h on such a machine, above 0 and finite.
    pub seconds_per_op: f64,
    /// For how long it held its cores there. On a machine with more slots than cores that is longer than `service_seconds` while more tasks
    /// run than there are cores; on any other it is `service_seconds`.
    pub held_seconds: f64,
}

impl Took {
    /// In operations.
    pub fn ops(self) -> f64 {
        self.service_seconds / self.seconds_per_op
    }
}

impl Grid {
    /// How long a task was that ended, by the composition that its class has now. Nothing where nobody knows: its run was out of
    /// reach or to stop when it ended, or was never said to have begun; or its machine was one that cannot run such a task.
    pub fn took(&self, id: TaskId) -> Option<Took> {
        let task = self.task(id);
        let Spent { service, on } = task.spent?;
        let seconds_per_op = self.classes.seconds_per_op_in_parts(task.class, on);
        let is_able = seconds_per_op > 0.0 && seconds_per_op.is_finite();
        let service_seconds = service.seconds();
        let shares_cores = self.classes.machine_class(on).has_more_slots_than_cores();
        let held_seconds =
            if shares_cores { service_seconds.max(task.seconds_run(task.ended)) } else { service_seconds };
        is_able.then_some(Took { service_seconds, seconds_per_op, held_seconds })
    }

    /// What a run took that ends now. Costs O(log tasks there), for each part.
    pub(super) fn spent(&self, now: Time, run: &Run) -> Option<Spent> {
        if run.stage != Stage::Running {
            return None;
        }
        let (class, machine) = (self.task(run.id.task).class, self.machine(run.on));
        let seconds_per_op = self.classes.seconds_per_op_in_parts(class, machine.class());
        let seconds = if run.is_wide {
            self.ops_done(now, run.id) * seconds_per_op
        } else {
            machine.seconds_spent(now, (class, run.id), seconds_per_op)
        };
        Some(Spent { service: Span::from_seconds(seconds)?, on: machine.class() })
    }
}
