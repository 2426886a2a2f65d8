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

/// A metric and a run's number of it, if the run has one.
pub(crate) type Measure = (Metric, Option<f64>);

impl Metric {
    pub(crate) fn of(
        name: &'static str,
        unit: &'static str,
        decimals: usize,
        number: impl Into<Option<f64>>,
    ) -> Measure {
        (Self { name, unit, decimals }, number.into())
    }
}

/// What a run came to.
pub(crate) trait Measured: Serialize + Send {
    /// Its numbers: of the same metrics in the same order for all runs of a kind.
    fn measures(&self) -> Vec<Measure>;

    /// What is to be said beside the numbers.
    fn note(&self) -> Option<String> {
        None
    }

    /// What ran where, if it is to stand beside other policies'.
    fn schedule(&self) -> Option<&Gantt> {
        None
    }
}
