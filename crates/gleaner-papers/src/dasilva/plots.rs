//! Figures 2 and 3.

use super::band::Band;
use super::experiments::{Case, Findings};
use super::instances::READINGS;
use crate::statistics::{Estimate, mean};
use gleaner_report::{Axis, Plot, Series, Style, Svg};

/// Each with the name of its file and a caption.
pub(super) fn all(findings: &Findings) -> Vec<(&'static str, &'static str, Svg)> {
    vec![
        (
            "figure-2",
            "The mean improvement by peers and model, over the months, with 95 % intervals; the marker at each bar is the mean of \
             the paper's table 2.",
            figure_2(findings),
        ),
        (
            "figure-3",
            "The standard deviation of the time that workers are busy, relative to its mean, by reading. In the paper, of one \
             execution: traditional 71.2 %, greedy 26.9 %.",
            figure_3(findings),
        ),
    ]
}

fn figure_2(findings: &Findings) -> Svg {
    let sizes = [1, 10, 100];
    let cases = |peers: u32, band: Band| {
        let own = findings.cases.iter().filter(|case| case.reading == READINGS[0]);
        own.filter(move |case| case.cell.peers == peers && case.cell.band == band)
    };
    let bands = [Band::Low, Band::Medium, Band::High, Band::Mixed];
    let axes =
        (Axis::categories("peers", sizes.map(|size| size.to_string())), Axis::linear("improvement (%)"));
    bands
        .iter()
        .fold(Plot::new("Figure 2: improvement of greedy over traditional", axes.0, axes.1), |plot, &band| {
            let known = (0..sizes.len()).filter(|at| cases(sizes[*at], band).next().is_some());
            let measured: Vec<(usize, Estimate)> = known
                .clone()
                .map(|at| {
                    let of_seed = |seed: usize| {
                        mean(cases(sizes[at], band).map(|case: &Case| case.pairs[seed].improvement()))
                    };
                    let seeds: Vec<f64> = (0..findings.seeds as usize).map(of_seed).collect();
                    (at, Estimate::of(&seeds))
                })
                .collect();
            let printed = known.map(|at| {
                let numbers =
                    cases(sizes[at], band).filter_map(|case| case.cell.improvement.parse::<f64>().ok());
                (at as f64, mean(numbers))
            });
            let points = measured.iter().map(|(at, estimate)| (*at as f64, estimate.mean));
            let bounds = measured.iter().map(|(_, estimate)| (estimate.low, estimate.high));
            plot.with(Series::new(band.name(), Style::Bars, points).bounds(bounds)).with(Series::new(
                format!("{}, the paper", band.name()),
                Style::Points,
                printed,
            ))
        })
        .svg()
}

fn figure_3(findings: &Findings) -> Svg {
    let readings: Vec<_> = READINGS.iter().filter(|reading| !reading.by_task).collect();
    let deviation = |at: usize, rule: usize| {
        let cases = findings.cases.iter().filter(|case| case.reading == *readings[at]);
        let cases: Vec<&Case> = cases.collect();
        let of_seed = |seed: usize| 100.0 * mean(cases.iter().map(|case| case.pairs[seed].deviations[rule]));
        Estimate::of(&(0..findings.seeds as usize).map(of_seed).collect::<Vec<f64>>())
    };
    let names: Vec<&str> = readings.iter().map(|reading| reading.name).collect();
    let axes = (Axis::categories("reading", names), Axis::linear("deviation of busy time (%)"));
    ["traditional", "greedy"]
        .into_iter()
        .enumerate()
        .fold(Plot::new("Figure 3: how evenly workers are busy", axes.0, axes.1), |plot, (rule, name)| {
            let found: Vec<Estimate> = (0..readings.len()).map(|at| deviation(at, rule)).collect();
            let points = found.iter().enumerate().map(|(at, estimate)| (at as f64, estimate.mean));
            let bounds = found.iter().map(|estimate| (estimate.low, estimate.high));
            plot.with(Series::new(name, Style::Bars, points).bounds(bounds))
        })
        .svg()
}
