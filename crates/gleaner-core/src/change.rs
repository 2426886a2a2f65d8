use crate::decision::{Decision, Refusal};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId};

/// What an event, an admitted decision or a refusal did to the grid: the only feed of a policy's indices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// A machine class got its id.
    MachineClassMet(MachineClassId),
    /// A task class got its id.
    TaskClassMet(TaskClassId),
    /// A machine is part of the grid.
    MachineJoined(MachineId),
    /// A task waits to be started.
    Waits(TaskId),
    /// The tasks on a machine, or on their way to it, are others than before.
    ResidentsChanged(MachineId),
    /// A task began to run.
    Started(TaskId),
    /// A task came to its end.
    Finished(TaskId),
    /// The owner's share of a machine is another than before.
    LoadChanged(MachineId),
    /// A reply bore the number of an attempt that is over; nothing came of it.
    StaleReply {
        /// The task it spoke of.
        task: TaskId,
        /// The number it bore.
        attempt: u32,
    },
    /// A wish was refused; it must not be proposed again at this instant.
    Refused(Decision, Refusal),
    /// The next wake-up was set, or has come.
    WakeChanged,
}
