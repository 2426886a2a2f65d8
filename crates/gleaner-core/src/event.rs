use crate::classes::{MachineClass, TaskClass};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId};
use serde::{Deserialize, Serialize};

/// What happened outside. Events are facts: the grid never refuses one.
///
/// Ids are dense: whoever reports a new class, machine or task gives it the next id of its kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Event {
    /// A kind of machine was met for the first time; it gets the next [`MachineClassId`].
    MachineClassMet(MachineClass),
    /// A kind of task was met for the first time; it gets the next [`TaskClassId`].
    TaskClassMet(TaskClass),
    /// A machine joined, idle and with no owner load.
    MachineJoined {
        /// The next machine id.
        machine: MachineId,
        /// What kind of machine it is.
        class: MachineClassId,
    },
    /// A user handed in a task.
    TaskSubmitted {
        /// The next task id.
        task: TaskId,
        /// What kind of task it is.
        class: TaskClassId,
    },
    /// The owner of a machine now uses this share of it.
    OwnerLoadReported {
        /// Whose owner.
        machine: MachineId,
        /// λ, from 0 (idle) to 1 (none left).
        load: f64,
    },
    /// An attempt began to run where it was sent.
    AttemptStarted {
        /// The task that runs.
        task: TaskId,
        /// The attempt that the command named.
        attempt: u32,
    },
    /// An attempt ran to its end.
    AttemptFinished {
        /// The task that ended.
        task: TaskId,
        /// The attempt that the command named.
        attempt: u32,
    },
    /// The moment asked for by [`Command::WakeAt`](crate::Command::WakeAt) came.
    WokeUp,
}
