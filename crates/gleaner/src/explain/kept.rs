//! What a queue keeps a task of a simulation from.

use gleaner_policy::{AnyPolicy, HeldBack, Names, Reservation};
use gleaner_sim::Simulation;
use gleaner_units::{MachineId, TaskId, Time};
use serde::Serialize;

/// Why a task does not start as it comes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Back {
    /// One of `no-machine`, `kept`, `no-room`, `turn` and `delays`.
    why: &'static str,
    /// For people.
    #[serde(skip)]
    words: String,
    /// The task that may not be overtaken, where nothing is kept for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind: Option<String>,
    /// The cores that are kept for it, or for the first in line.
    #[serde(flatten)]
    kept: Option<Kept>,
}

/// Cores that are kept.
#[derive(Clone, Debug, Serialize)]
struct Kept {
    /// For which task.
    task: String,
    /// On which machine, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    /// From when on; none where nobody knows.
    at_s: Option<f64>,
    /// The cores that the task will not need then.
    spare: u32,
    /// Whose word that is: `believed`, `declared` or `nobody`.
    by: &'static str,
}

/// What tasks and machines are called.
pub(super) struct Called<'a> {
    pub(super) task: &'a dyn Fn(TaskId) -> String,
    /// Nothing where there is but one.
    pub(super) machine: &'a dyn Fn(MachineId) -> String,
}

impl Back {
    /// None where no queue is in force, or nothing holds the task back.
    pub(super) fn of(run: &Simulation<'_, AnyPolicy>, task: TaskId, called: &Called<'_>) -> Option<Self> {
        let scheduler = run.scheduler();
        let back = scheduler.policy().holds_back(scheduler.grid(), run.progress().now, task)?;
        let moment = |at: Time| format!("from {} s on", at.seconds());
        let names = Names { task: called.task, machine: called.machine, moment: &moment };
        let behind = match back {
            HeldBack::Turn(first) => Some((called.task)(first)),
            HeldBack::NoMachine | HeldBack::Kept(_) | HeldBack::NoRoom(_) | HeldBack::Delays(_) => None,
        };
        let kept = back.kept().map(|kept| Kept::of(&kept, called));
        Some(Self { why: back.word(), words: back.words(&names), behind, kept })
    }

    /// For people.
    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

impl Kept {
    fn of(kept: &Reservation, called: &Called<'_>) -> Self {
        Self {
            task: (called.task)(kept.task),
            machine: Some((called.machine)(kept.on)).filter(|name| !name.is_empty()),
            at_s: (kept.at != Time::NEVER).then(|| kept.at.seconds()),
            spare: kept.spare,
            by: kept.by.name(),
        }
    }
}
