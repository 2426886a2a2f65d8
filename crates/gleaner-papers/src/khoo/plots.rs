//! Figure 5, and where the signs turn.

use super::case::{Group, LOADS};
use super::findings::{Findings, Metric};
use super::{BACKFILL, MRS, REP, SITES, TABLE};
use crate::statistics::mean;
use gleaner_report::{Axis, Plot, PlotGrid, Series, Style, Svg};

/// Each with the name of its file and a caption.
pub(super) fn all(findings: &Findings) -> Vec<(&'static str, &'static str, Svg)> {
    let mut all = Vec::new();
    if let Some(base) = findings.base() {
        all.push((
            "figure-5",
            "Average wait, queue completion and utilisation beside those of BACKFILL, as in the paper's figure 5: what the \
             paper has, and what came out.",
            figure_5(findings, base),
        ));
    }
    if findings.cases(Group::Sweep).next().is_some() {
        all.push((
            "sweep",
            "How much better than BACKFILL each is, by load, on average over the other numbers of the sweep; a panel for each \
             of the paper's three measures. Above 0 is better.",
            sweep(findings),
        ));
    }
    all
}

fn figure_5(findings: &Findings, base: usize) -> Svg {
    let names = Metric::OF_TABLE.map(Metric::name);
    let ours = |rule: &'static str| {
        let bar = |(at, metric): (usize, &Metric)| {
            let of = |name: &str| mean(findings.values(base, name, |outcome| metric.of(outcome)));
            (at as f64, of(rule) / of(BACKFILL))
        };
        Metric::OF_TABLE.iter().enumerate().map(bar).collect::<Vec<_>>()
    };
    let paper =
        |row: usize| (0..3).map(|at| (at as f64, TABLE[row].1[at] / TABLE[0].1[at])).collect::<Vec<_>>();
    let panel = |title: &str, rows: [Vec<(f64, f64)>; 3]| {
        let plot = Plot::new(title, Axis::categories("", names), Axis::linear("of BACKFILL's"));
        [BACKFILL, REP, MRS]
            .into_iter()
            .zip(rows)
            .fold(plot, |plot, (name, bars)| plot.with(Series::new(name, Style::Bars, bars)))
    };
    let panels = vec![
        panel("The paper", [paper(0), paper(1), paper(2)]),
        panel("Here", [ours(BACKFILL), ours(REP), ours(MRS)]),
    ];
    PlotGrid::new("Figure 5: normalized by BACKFILL", 2, panels).svg()
}

fn sweep(findings: &Findings) -> Svg {
    let panel = |metric: Metric| {
        let plot = Plot::new(metric.name(), Axis::linear("load"), Axis::linear("better than BACKFILL (%)"));
        [REP, MRS, SITES].into_iter().fold(plot, |plot, rule| {
            let at = |load: f64| {
                let cases = findings
                    .cases(Group::Sweep)
                    .filter(|(_, case)| case.at.is_some_and(|at| at.load == load));
                mean(cases.map(|(case, _)| findings.improvement(case, BACKFILL, rule, metric).mean))
            };
            plot.with(Series::new(rule, Style::Marked, LOADS.map(|load| (load, at(load)))))
        })
    };
    PlotGrid::new("Where the signs turn", 3, Metric::OF_TABLE.map(panel).to_vec()).svg()
}
