//! Independent tasks to machines.
mod batch;
pub mod bound;
pub mod by_class;
mod heuristic;
mod immediate;
mod instance;
mod mapping;
mod matrix;
mod min_min;
mod passes;
pub mod polish;
pub mod reference;
mod scan;
mod sorting;
mod standings;
mod tournament;
pub mod workload;

pub use heuristic::{Heuristic, UnknownHeuristic};
pub use instance::InstanceError;
pub use mapping::Mapping;
pub use matrix::{InvalidMatrix, Matrix, TIME_MAX};
