//! A run of the last figure asked for, drawn.

use super::permutations::SIX;
use super::scheme::Parameters;
use super::{FigureId, Findings, setups};
use crate::drawn;
use gleaner_report::Report;

/// GREEDY, SOCIAL and MIN-NUM with their relocators, and GREEDY without.
pub(super) fn section(report: Report, findings: &Findings) -> Report {
    let figure = findings.figures.last().copied().unwrap_or(FigureId::Four);
    let setup = match figure {
        FigureId::One => setups::figure_1(1),
        FigureId::Two => setups::figure_2(1, 1.0),
        FigureId::Three => setups::figure_3(0, 1),
        FigureId::Four => setups::figure_4(0, 1),
    };
    let machines = setup.machines.len();
    let schedules = SIX[..4].iter().map(|scheme| {
        let rows = (1..=machines).map(|number| format!("machine {number}"));
        let recipe = scheme.recipe(Parameters::default());
        drawn::of_run(&scheme.name(), (&setup, recipe), rows, gleaner_units::MachineId::index)
    });
    let what = format!(
        "The inputs of figure {}, first order of arrival, seed 1. Tasks of one type have one colour; where tasks share a \
         machine, they lie above each other in its row.",
        figure.number()
    );
    drawn::section(report, &what, schedules.collect())
}
