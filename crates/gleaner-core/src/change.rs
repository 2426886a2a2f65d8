use crate::alarm::Alarm;
use crate::decision::{Queue, Refusal};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId};

/// What an event, an admitted decision or a refusal did to the grid: the only feed of a policy's indices.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// A machine class got its id.
    MachineClassMet(MachineClassId),
    /// A task class got its id.
    TaskClassMet(TaskClassId),
    /// Task classes have another composition than before, and so other times per operation.
    TaskClassesMeasured,
    /// A task class is another than before; no task was of it.
    TaskClassReplaced(TaskClassId),
    /// A machine is part of the grid.
    MachineJoined(MachineId),
    /// A machine is of another class than before.
    MachineMeasured(MachineId),
    /// A machine takes tasks where it took none, or no longer does.
    AvailabilityChanged(MachineId),
    /// Tasks wait to be started.
    Wait {
        /// The lowest; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
    },
    /// What a machine has on it, or on its way to it, is other than before: tasks, or the room that is taken.
    ResidentsChanged(MachineId),
    /// A run takes its machine's room from now on.
    RoomTaken(RunId),
    /// A run takes that machine's room no more.
    RoomFreed(RunId, MachineId),
    /// Another run follows that one than before, or none, or the one that does is to stop.
    FollowerChanged(RunId),
    /// A task has its place in a queue.
    Planned(TaskId, Queue),
    /// A task lost its place in a queue and still waits.
    Unplanned(TaskId),
    /// The budget is another than before.
    BudgetChanged,
    /// How many cores users may have at a time is other than before.
    CapsChanged,
    /// A run began.
    Started(RunId),
    /// A task came to its end.
    Finished(TaskId),
    /// Tasks that had come to their end are to be run again: how they ended counts no more. It comes after all that tells of them.
    EndsForgotten,
    /// An answer to a task is kept until others are there to be compared with it; or another number of them is wanted.
    AnswerKept(TaskId),
    /// Tasks are to be run no more, unless they return.
    Withdrawn {
        /// The lowest; the others follow on it.
        first: TaskId,
        /// How many.
        count: u32,
    },
    /// The owner's share of a machine is another than before.
    LoadChanged(MachineId),
    /// What is known of files, of their copies, of what tasks read, of links or of where machines are is other than before.
    CatalogueChanged,
    /// A site said how things are there, or what was sent there since is other than before.
    BeliefChanged(MachineId),
    /// What is lent, borrowed, wanted, asked or offered among peers is other than before, or what they did for each other.
    LoansChanged,
    /// A reply spoke of a run that is over, or never was; nothing came of it.
    StaleReply(RunId),
    /// The latest wish was refused; it must not be proposed again at this instant.
    Refused(Refusal),
    /// An alarm was set, or has come.
    AlarmChanged(Alarm),
}
