//! Numbers with their intervals, and budgets, as cells of tables.

use crate::elleuch::case::Case;
use crate::statistics::Estimate;
use gleaner_report::{Cell, numbers};

pub(super) fn cell(estimate: Estimate, places: usize) -> Cell {
    Cell::number(estimate.with_reach(places))
}

pub(super) fn budget(case: Case) -> Cell {
    Cell::number(case.budget.map_or("none".to_owned(), |budget| numbers::decimals(budget as f64 / 1e11, 1)))
}
