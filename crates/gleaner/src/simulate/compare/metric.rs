//! What runs are held against each other by.

use gleaner_report::Gantt;
use serde::Serialize;

/// A number that policies are held against each other by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metric {
    /// As in a run's summary, as far as it stands there.
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) decimals: usize,
}

/// What a run came to.
pub(crate) trait Measured: Serialize + Send {
    fn metrics() -> Vec<Metric>;

    /// One for each metric; none where the run has no such number.
    fn values(&self) -> Vec<Option<f64>>;

    /// What is to be said beside the numbers.
    fn note(&self) -> Option<String> {
        None
    }

    /// What ran where, if it is to stand beside other policies'.
    fn schedule(&self) -> Option<&Gantt> {
        None
    }
}
