//! The first hours of September under three ways to spend the same budget, drawn.

use super::SCARCE;
use super::case::{Case, Heuristic, Month, Rule};
use super::setups::{Traces, setup};
use crate::drawn;
use gleaner_report::Report;

/// How long tasks come: more could not be told apart.
const DAYS: f64 = 1.0 / 24.0;

pub(super) fn section(report: Report) -> Report {
    let traces = Traces::new(DAYS);
    let cases = [
        Case::free(Month::September, Heuristic::MinMin),
        Case::min_min(Month::September, Rule::Cap, SCARCE),
        Case::min_min(Month::September, Rule::PerTaskAndTime, SCARCE),
    ];
    let schedules = cases.map(|case| {
        let setup = setup(case, 1, &traces);
        let trace = &setup.availability.as_ref().expect("machines come by a trace").trace;
        // A machine that comes back is another to the grid, and the same to its owner.
        let host = |machine: gleaner_units::MachineId| trace.intervals()[machine.index()].machine as usize;
        let rows = (1..=trace.machines().len()).map(|number| format!("machine {number}"));
        drawn::of_run(&case.version(), (&setup, case.recipe()), rows, host)
    });
    let what = "The first hour of September's arrivals, pattern of seed 1, on all of its machines: Min-Min without a budget, \
                with the scarce one up to its end (B), and with the scarce one divided among tasks and through time (BTT).";
    drawn::section(report, what, schedules.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_schedule() {
        assert_eq!(drawn::schedules(&section(Report::new("r"))), 3);
    }
}
