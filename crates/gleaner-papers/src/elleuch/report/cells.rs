//! Numbers with their intervals, and budgets, as cells of tables.

use crate::elleuch::case::Case;
use crate::statistics::Estimate;
use gleaner_report::{Cell, numbers};

/// `1.013 ± 0.004`.
pub(super) fn with_reach(estimate: Estimate, places: usize) -> String {
    let [mean, reach] = [estimate.mean, estimate.reach()].map(|value| numbers::decimals(value, places));
    format!("{mean} ± {reach}")
}

pub(super) fn cell(estimate: Estimate, places: usize) -> Cell {
    Cell::number(with_reach(estimate, places))
}

pub(super) fn budget(case: Case) -> Cell {
    Cell::number(case.budget.map_or("none".to_owned(), |budget| numbers::decimals(budget as f64 / 1e11, 1)))
}
