use crate::Alarm;
use gleaner_units::{MachineId, TaskClassId, Time};
use serde::{Deserialize, Serialize};

/// Something that a policy may want to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// Tasks of a class came to wait, or can run elsewhere than before. However many they are, it is one occasion:
    /// what holds for the first of them holds for all.
    Submitted(TaskClassId),
    /// A machine joined.
    Joined(MachineId),
    /// A machine takes tasks again.
    Opened(MachineId),
    /// A machine is another than was thought: what is there may be better off elsewhere, or others there.
    Measured(MachineId),
    /// A machine takes no more tasks; those on it may leave.
    Closed(MachineId),
    /// A machine is out of reach; its tasks wait.
    Lost(MachineId),
    /// An owner took more of a machine; or a task that was on its way came to one whose owner leaves nothing.
    LoadRose(MachineId),
    /// An owner took less of a machine.
    LoadFell(MachineId),
    /// A task ended on a machine.
    Freed(MachineId),
    /// A task left a machine without an end, and what waits could run there now.
    Vacated(MachineId),
    /// A site published its state, and tasks wait that could go there.
    Published(MachineId),
    /// Peers want workers.
    Wanted,
    /// No peer lends what was asked for.
    NothingLent,
    /// Another rule is in force: what waits may find a place by it.
    RuleChanged,
    /// The moment that the policy asked for came.
    WokeUp {
        /// What for.
        alarm: Alarm,
        /// Which moment that was; not after now.
        due: Time,
    },
    /// A copy of data came to a site, or a way for it was found: what waits for data may find a place.
    DataCame,
    /// Tasks that waited are to be run no more, or came to their ends after all; or under a budget credits were given back. Others wait,
    /// and may have waited behind those or for these.
    Withdrawn,
}

/// A cause that awaits its answer, with what was done about it so far. Occasions are part of the grid, not of the
/// policy, so that a recovered grid goes on in the middle of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Occasion {
    /// What happened.
    pub cause: Cause,
    /// How many relocations were admitted in answer to it.
    pub moves: u32,
}

/// How far a call of [`Scheduler::decide`](crate::Scheduler::decide) came with what happened: recorded beside its decisions, it lets
/// [`Scheduler::carry_out`](crate::Scheduler::carry_out) leave the same grid behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Settled {
    /// How many occasions still want an answer.
    pub occasions_left: usize,
    /// How many moves were made about the first of them.
    pub moves: u32,
}
