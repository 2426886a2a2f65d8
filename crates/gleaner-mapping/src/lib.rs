//! Independent tasks to machines.
mod batch;
mod heuristic;
mod immediate;
mod instance;
mod mapping;
mod matrix;
mod min_min;
mod passes;
pub mod reference;
mod sorting;
mod standings;
mod tournament;

pub use heuristic::{Heuristic, UnknownHeuristic};
pub use instance::InstanceError;
pub use mapping::Mapping;
pub use matrix::{InvalidMatrix, Matrix, TIME_MAX};
