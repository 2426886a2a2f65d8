use gleaner_units::Time;
use serde::{Deserialize, Serialize};

/// Where a simulation is in time.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// Whether the latest wake-up led to anything.
    pub(crate) wake_was_idle: bool,
}
