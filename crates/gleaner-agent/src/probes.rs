//! What an agent measures of its machine.
//!
//! - [`benchmark`] fills the speed vector: CPU, disk, network. [`Speeds::rounded`] makes alike machines equal.
//! - [`Sampler`] takes a [`Sample`] of what the machine's owner leaves over: load, memory, disk, pressure, heat.
//! - [`LoadFilter`] turns samples of the owner's load into the few reports that are worth a fact.
//!
//! Invariants:
//! - **Everything is read below a [`Root`]**, `/` in life and a recorded tree in tests, and every read is bounded.
//! - **What is not there is `None`, never an error.** What is there and cannot be understood is a [`ProbeError`]
//!   that names file and line; it costs the sample that one value and no more.
//! - **No clock is read, except by the benchmark**, whose measurements are of time itself.

mod benchmark;
mod cgroup;
mod domain;
mod error;
mod filter;
mod hierarchy;
mod machine;
mod process;
mod root;
mod sampler;
mod sensors;
mod sessions;
mod speeds;
mod text;

pub use benchmark::{Benchmark, Measured, ReadPath, benchmark, measure_network};
pub use cgroup::{Cgroup, Quota};
pub use domain::{Domain, Ours};
pub use error::ProbeError;
pub use filter::{LOAD_CHANGE, LOAD_SAMPLES, LOAD_STEP, LoadFilter};
pub use root::Root;
pub(crate) use sampler::free_disk;
pub use sampler::{Moment, Observation, Pressure, Sample, Sampler};
pub(crate) use sensors::temperature;
pub use speeds::Speeds;
