//! What groups say to each other.

use gleaner_core::RunEnd;
use gleaner_units::{MachineId, TaskClassId, TaskId};
use serde::{Deserialize, Serialize};

/// What was handed over: whoever hands over counts, and nobody else gives it a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Ticket(pub u64);

/// How a machine is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MachineState {
    /// How many tasks of each class are there, without those that whoever reads this counts there itself.
    pub others: Vec<(TaskClassId, u32)>,
    /// What its owner uses of it.
    pub load: f64,
}

/// A letter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Word {
    /// How my machines are, in their order.
    State(Vec<MachineState>),
    /// This task is yours; what is left of it, whoever keeps its checkpoint knows.
    Take {
        /// The sender's number for it.
        ticket: Ticket,
        /// Which task.
        task: TaskId,
        /// Where the sender counts it, of your machines.
        on: MachineId,
        /// How often it was handed on, this time included.
        hops: u32,
    },
    /// I have it.
    Taken(Ticket),
    /// Give it back, as far as it is.
    TakeBack(Ticket),
    /// It is over: done, or given back.
    Over(Ticket, RunEnd),
    /// I know that it is over.
    Noted(Ticket),
}
