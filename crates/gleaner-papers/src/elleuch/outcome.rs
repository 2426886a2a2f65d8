//! What came of a simulation, as it is kept.

use serde::{Deserialize, Serialize};

/// Whenever results mean something else than before, this changes.
pub const EDITION: &str = "elleuch 2";

/// What came of a simulation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// When the last task ended; if some did not, when the trace did.
    pub makespan_s: f64,
    /// How many tasks did not end.
    pub unfinished: usize,
    /// Whether it was given up before the trace ended.
    pub stalls: bool,
    /// The part of the time in which machines were there that they ran something, until the makespan or until the run was
    /// given up.
    pub use_share: f64,
    /// The part of what they could have done that was done.
    pub work_share: f64,
    /// How often a machine went before its task was done.
    pub aborts: u64,
    /// Credits in all, less what was given back.
    pub paid: f64,
}
