//! The simulator: it plays the outside world for the one [`Scheduler`](gleaner_core::Scheduler).
//!
//! - [`Setup`] is all that a run is given; [`Simulation`] runs it, one event at a time.
//! - [`Experiment`] comes from a scenario file; [`output`] writes what came of it.
//! - [`sharing`] is the model of time-shared machines; an [`Availability`] has machines that come and go by a trace.
//! - [`bound`] says how early the last task could end at best.

pub mod bound;
pub mod forecast;
pub mod output;
pub mod sharing;

mod agenda;
mod availability;
mod choice;
mod demand;
mod experiment;
mod history;
mod machines;
mod register;
mod reputation;
mod saved;
mod setup;
mod simulation;
mod speed_scale;
mod traced;
mod world;

pub use availability::{Availability, Prediction, Pricing};
pub use experiment::Experiment;
pub use history::{History, Period, TaskHistory, TimelineRow, Waste};
pub use saved::{RestoreError, Saved};
pub use setup::{LoadChange, Setup, Tasks};
pub use simulation::{Observer, Progress, Simulation};
pub use speed_scale::SpeedScale;
