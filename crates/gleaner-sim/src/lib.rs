//! The simulator of the grid.
//!
//! - [`sharing`] runs tasks on machines that share their cores among all their tasks, in virtual time.

pub mod sharing;
