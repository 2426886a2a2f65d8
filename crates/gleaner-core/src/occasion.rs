use gleaner_units::{MachineId, TaskId};
use serde::{Deserialize, Serialize};

/// Something that a policy may want to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// A task arrived.
    Submitted(TaskId),
    /// A machine joined.
    Joined(MachineId),
    /// An owner took more of a machine.
    LoadRose(MachineId),
    /// An owner took less of a machine.
    LoadFell(MachineId),
    /// A task ended on a machine.
    Freed(MachineId),
    /// The moment that the policy asked for came.
    WokeUp,
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
