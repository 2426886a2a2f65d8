//! Figures 3 and 4: schemes over all orders of arrival, and order by order.

use super::cells::{count, percent, seconds};
use super::claims;
use crate::bertasi::jobs::PERMUTATIONS;
use crate::bertasi::permutations::{SIX, Samples};
use crate::bertasi::scheme::Scheme;
use crate::bertasi::{FigureId, Findings, plots};
use gleaner_report::{Block, Cell, Figure, Report, Table, numbers};

const FIGURE_3: &str = "70 machines, four bursts of 500 jobs, 25 s apart, in each of the 24 orders of their types. The \
    axis is logarithmic here and in figure 4, so that a distance is a ratio and equally far apart in both.";
const FIGURE_4: &str = "As figure 3, but the owners of four machines come back and stay, at 0 s, 60 s, 100 s and 125 s. \
    The MIN-NUM relocator counts tasks and not what they can do: the four \
    machines may keep as many as any other, and these take twenty times as long. \
    What it does without its guard is under “Beyond the paper”.";

pub(super) fn figure_3(report: Report, findings: &Findings) -> Report {
    let Some(samples) = &findings.figure_3 else { return report };
    let plot = plots::permutations(samples, "Figure 3: makespan by order of arrival");
    let report = report
        .with(Block::heading("Figure 3: 24 orders of arrival"))
        .with(Block::text(FIGURE_3))
        .with(Figure::new("Mean makespan with 95 % intervals; IDs are those of the paper's table 4.", plot));
    let report = tables(report, samples);
    claims::section(report, &findings.claims_of(FigureId::Three))
}

pub(super) fn figure_4(report: Report, findings: &Findings) -> Report {
    let Some(samples) = &findings.figure_4 else { return report };
    let plot = plots::permutations(samples, "Figure 4: makespan by order of arrival, four owners back");
    let report = report
        .with(Block::heading("Figure 4: the same with four owners"))
        .with(Block::text(FIGURE_4))
        .with(Figure::new(
            "Mean makespan with 95 % intervals, while four machines are nearly unavailable.",
            plot,
        ));
    let report = tables(report, samples);
    claims::section(report, &findings.claims_of(FigureId::Four))
}

fn tables(report: Report, samples: &Samples) -> Report {
    let (moving, alone) = SIX.split_at(3);
    report
        .with(schemes(samples))
        .with(by_permutation(samples, "With relocation", moving))
        .with(by_permutation(samples, "Without relocation", alone))
}

fn schemes(samples: &Samples) -> Table {
    let caption = "Means over all permutations";
    let table = Table::new(caption, ["Scheme", "Makespan (s)", "Above the bound", "Moves"]);
    samples.rules().iter().fold(table, |table, &scheme| {
        table.row([
            Cell::text(scheme.name()),
            seconds(samples.over_all(|case, seed| samples.makespan_s(scheme, case, seed))),
            percent(samples.over_all(|case, seed| samples.gap(scheme, case, seed))),
            count(samples.over_all(|case, seed| samples.run(scheme, case, seed).moves as f64)),
        ])
    })
}

fn by_permutation(samples: &Samples, which: &str, schemes: &[Scheme]) -> Table {
    let caption =
        format!("{which}: makespan in seconds ± the 95 % interval, and its distance from the bound");
    let names = schemes.iter().map(|scheme| scheme.name());
    let header = ["ID", "Order", "Bound (s)"].map(str::to_owned).into_iter().chain(names);
    (0..samples.cases()).fold(Table::new(caption, header), |table, case| {
        let order = PERMUTATIONS[case].map(|kind| format!("C{kind}")).join("\u{a0}");
        let bound = samples.over_seeds(|seed| samples.bound_s(case, seed)).mean;
        let head = [Cell::text((case + 1).to_string()), Cell::text(order)];
        let cells = schemes.iter().map(|&scheme| {
            let makespan = samples.over_seeds(|seed| samples.makespan_s(scheme, case, seed));
            let gap = samples.over_seeds(|seed| samples.gap(scheme, case, seed)).mean;
            let gap = numbers::decimals(100.0 * gap, 0);
            Cell::number(format!("{}, +{gap} %", makespan.with_reach(0)))
        });
        let bound = Cell::number(numbers::decimals(bound, 0));
        table.row(head.into_iter().chain([bound]).chain(cells))
    })
}
