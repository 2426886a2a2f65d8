use crate::Queue;
use gleaner_units::{MachineId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// An order to the outside, with no choice left in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Run a task that waits.
    Start {
        /// What to run.
        task: TaskId,
        /// The number every reply about this run must carry.
        attempt: u32,
        /// Where to run it.
        on: MachineId,
    },
    /// Stop a running task, carry what it has done to another machine, and go on there.
    Move {
        /// What to move.
        task: TaskId,
        /// The number every reply about the run on `to` must carry.
        attempt: u32,
        /// Where it runs now.
        from: MachineId,
        /// Where it runs next.
        to: MachineId,
    },
    /// Report [`Event::WokeUp`](crate::Event::WokeUp) at this moment. The latest order replaces earlier ones.
    WakeAt {
        /// When.
        at: Time,
    },
    /// A batch begins, and what was planned is planned no more. Nothing for the outside to do.
    Collect,
    /// A task has its place in a queue. Nothing for the outside to do.
    Plan {
        /// What will run.
        task: TaskId,
        /// When its turn comes there.
        on: Queue,
    },
}
