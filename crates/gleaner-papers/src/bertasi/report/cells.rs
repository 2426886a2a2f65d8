//! Numbers with their intervals, as cells of tables.

use crate::statistics::Estimate;
use gleaner_report::{Cell, numbers};

/// Seconds with their interval: `1,689 ± 12`.
pub(super) fn seconds(estimate: Estimate) -> Cell {
    let places = usize::from(estimate.mean < 1000.0);
    Cell::number(estimate.with_reach(places))
}

/// A share of one as a percentage with its interval: `14.0 ± 3.2 %`.
pub(super) fn percent(estimate: Estimate) -> Cell {
    let places = usize::from(estimate.mean < 9.995);
    let [mean, reach] =
        [estimate.mean, estimate.reach()].map(|value| numbers::decimals(100.0 * value, places));
    Cell::number(format!("{mean} ± {reach} %"))
}

/// A count with its interval.
pub(super) fn count(estimate: Estimate) -> Cell {
    Cell::number(estimate.with_reach(0))
}
