use gleaner_report::{Cell, Table};

/// How a paper was taken where its text is open or does not add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// What it is about.
    pub topic: &'static str,
    /// What the paper has.
    pub paper: &'static str,
    /// What was done.
    pub taken: &'static str,
    /// Why.
    pub why: &'static str,
}

/// All of a paper's, for its report.
pub(crate) fn table(readings: &[Reading]) -> Table {
    let table = Table::new("Where the paper leaves a choice", ["What", "The paper", "Taken as", "Because"]);
    readings.iter().fold(table, |table, reading| {
        table.row([reading.topic, reading.paper, reading.taken, reading.why].map(Cell::text))
    })
}
