use gleaner_core::Alarm;
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Where a simulation is in time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// The alarms that led to nothing since anything else happened.
    pub(crate) idle_alarms: BTreeSet<Alarm>,
}
