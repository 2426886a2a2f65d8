//! What a queue keeps for a task that waits in a simulation, or for the one that it must not delay.

use gleaner_policy::AnyPolicy;
use gleaner_sim::Simulation;
use gleaner_units::{MachineId, TaskId, Time};
use serde::Serialize;

/// Cores that are kept.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Kept {
    /// For which task.
    pub(super) task: String,
    /// On which machine.
    pub(super) machine: String,
    /// From when on; none where nothing that runs there is known to end.
    pub(super) at_s: Option<f64>,
    /// The cores that the task will not need then.
    pub(super) spare: u32,
}

/// What tasks and machines are called.
pub(super) struct Names<'a> {
    pub(super) task: &'a dyn Fn(TaskId) -> String,
    pub(super) machine: &'a dyn Fn(MachineId) -> String,
}

impl Kept {
    /// None where no queue is in force, or nothing is kept.
    pub(super) fn of(run: &Simulation<'_, AnyPolicy>, task: TaskId, names: &Names<'_>) -> Option<Self> {
        let AnyPolicy::Backfiller(queue) = run.scheduler().policy() else { return None };
        let kept = queue.holds_back(run.scheduler().grid(), run.progress().now, task)?;
        let at_s = (kept.at != Time::NEVER).then(|| kept.at.seconds());
        Some(Self {
            task: (names.task)(kept.task),
            machine: (names.machine)(kept.on),
            at_s,
            spare: kept.spare,
        })
    }

    /// For people, about the task of that name.
    pub(super) fn describe(&self, about: &str) -> String {
        let Self { task, machine, at_s, spare } = self;
        let on = if machine.is_empty() { String::new() } else { format!(" on {machine}") };
        let when = at_s.map_or("when what runs there ends".to_owned(), |at| {
            format!("from {at} s on, as far as is known")
        });
        if task == about {
            return format!("cores are kept for it{on} {when}\n");
        }
        format!(
            "it may not delay {task}, for which cores are kept{on} {when}; {spare} more will be free then\n"
        )
    }
}
