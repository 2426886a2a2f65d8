//! The page of a run whose parties have queues of their own: sites, or elements behind brokers.

use gleaner_report::{Block, Cell, Gantt, Report, Table};

/// What is said of a run on a terminal, and what ran where.
pub(super) fn of_run(policy: &str, said: &[(&str, String)], schedule: Gantt) -> String {
    let table = said
        .iter()
        .fold(Table::new("The run in a few numbers", ["what", "value"]), |table, (what, value)| {
            table.row([Cell::text(*what), Cell::text(value)])
        });
    Report::new(format!("A simulated run under {policy}"))
        .with(table)
        .with(Block::heading("Schedule"))
        .with(schedule)
        .html()
}
