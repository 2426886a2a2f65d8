//! Numbers with their intervals, and budgets, as cells of tables.

use crate::elleuch::case::Case;
use crate::statistics::Estimate;
use gleaner_report::{Cell, numbers};

/// Without a reach where one value alone leaves it open.
pub(super) fn cell(estimate: Estimate, places: usize) -> Cell {
    let is_known = estimate.reach().is_finite();
    Cell::number(if is_known {
        estimate.with_reach(places)
    } else {
        numbers::decimals(estimate.mean, places)
    })
}

pub(super) fn budget(case: Case) -> Cell {
    Cell::number(case.budget.map_or("none".to_owned(), |budget| numbers::decimals(budget as f64 / 1e11, 1)))
}
