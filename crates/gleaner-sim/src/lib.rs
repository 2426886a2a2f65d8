//! The simulator: it plays the outside world for the one [`Scheduler`](gleaner_core::Scheduler).
//!
//! - [`Setup`] is all that a run is given; [`Simulation`] runs it, one event at a time.
//! - [`sharing`] is the model of time-shared machines.

pub mod sharing;

mod agenda;
mod history;
mod saved;
mod setup;
mod simulation;
mod world;

pub use history::{History, TaskHistory, TimelineRow};
pub use saved::{RestoreError, Saved};
pub use setup::{LoadChange, Setup, Tasks};
pub use simulation::{Observer, Progress, Simulation};
