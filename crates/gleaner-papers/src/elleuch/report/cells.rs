//! Budgets as cells of tables.

use crate::elleuch::case::Case;
use gleaner_report::{Cell, numbers};

pub(super) fn budget(case: Case) -> Cell {
    Cell::number(case.budget.map_or("none".to_owned(), |budget| numbers::decimals(budget as f64 / 1e11, 1)))
}
