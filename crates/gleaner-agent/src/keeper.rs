//! Runs tasks so that all of a task ends with it, and all tasks end with the agent.
//!
//! ```text
//! agent ──control──▶ keeper ──starts──▶ minder ──starts──▶ the task's processes
//!   └──────── orders, reports (one socket a minder) ──┘
//! ```
//!
//! A *minder* minds one task at a time and is a child subreaper: whatever a task does (a new session, a double fork,
//! `SIGTERM` ignored), its processes stay below the minder, which kills and reaps until none is left. That is why there
//! is one minder for each running task: of a process below it there is no doubt whose it is. An idle minder is used
//! again. The *keeper* starts minders and is their subreaper.
//!
//! Invariants:
//! - A minder that loses the agent (end of file) or the keeper (end of its lifeline) ends its task and itself.
//! - A minder kills its task when the lease ends of which the agent told it last, whatever becomes of the agent.
//! - When a minder is killed, the keeper kills what it leaves behind; when the keeper is killed, the minders notice. Either
//!   way the agent hears of it when that is done: a task that is started again then meets nothing of its earlier run.
//!   Only when agent, keeper and minder are killed in one instant can processes of a task outside sandbox and cgroup stay.
//! - Keeper and minders hold what the agent gave the keeper to hold: a lock by which the next agent knows that all is gone.
//! - `Report::Exited` is sent when no process of the task is left.
//! - Keeper and minders have one thread: file descriptors and children are theirs alone.

mod client;
mod frames;
pub(crate) mod handing;
mod hearing;
mod keep;
mod kin;
mod launcher;
mod memory;
mod mind;
mod next_look;
mod open_files;
mod orders;
pub(crate) mod precedence;
mod standing;
mod start;
mod task;
mod traffic;

pub use client::{Keeper, KeeperError, Minder};
pub use frames::{FRAME_BYTES_MAX, FrameError, Inbox, encode};
pub use keep::keep;
pub use mind::mind;
pub use open_files::OPEN_FILES;
pub use orders::{
    Confinement, Input, Network, Order, ProgramEnd, Report, RunSpec, Sandbox, Signal, TASK_FOLDER, Usage,
};
