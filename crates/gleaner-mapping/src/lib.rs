//! Maps independent tasks to machines from the times they are expected to take.
//!
//! - [`Heuristic`]: Min-Min, Max-Min, Sufferage in both known forms, MCT, MET, OLB, KPB, on any [`Matrix`]; from
//!   machines that are idle, or busy until given moments.
//! - [`bound`]: a lower bound of every makespan, proven by prices.
//! - [`polish`]: improves any mapping towards that bound.
//! - [`mod@reference`]: the heuristics written down plainly; [`workload`]: instances to measure with.
//!
//! Invariants: **each fast heuristic gives the mapping of its reference, to the bit**, ties included; **ties go to the
//! lowest task, then to the lowest machine**, and two scores tie within 1e-12 relative of the best
//! ([`gleaner_core::tie_threshold`]); **no clock, no I/O, no randomness but from a seed**.
//!
//! What is deliberately not here: arrivals, dependences between tasks, and machines that share their time.
//!
//! ```
//! use gleaner_mapping::{Heuristic, Matrix, bound::Bound};
//!
//! let matrix = Matrix::parse(b"3 2 0  4 6  3 2  5 5").expect("an instance");
//! let mapping = Heuristic::MinMin.map(&matrix);
//! assert_eq!((&mapping.assignment[..], mapping.makespan), (&[0, 1, 1][..], 7.0));
//! assert!(Bound::of(&matrix).value <= mapping.makespan);
//! ```

pub mod bound;
mod heuristic;
mod immediate;
mod instance;
mod level;
mod mapping;
mod matrix;
mod max_min;
mod min_min;
mod passes;
pub mod polish;
pub mod reference;
mod scan;
mod sorting;
mod standings;
mod sufferage;
mod tournament;
pub mod workload;

pub use heuristic::{Heuristic, UnknownHeuristic};
pub use instance::InstanceError;
pub use mapping::Mapping;
pub use matrix::{InvalidMatrix, Matrix, TIME_MAX};
