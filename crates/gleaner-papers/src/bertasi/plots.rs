//! The figures as plots: the paper's panels, axes and order, with what it leaves out beside them.

use super::figure_2::{Counts, DATA, PAPER_END_S, PAPER_PEAK, S3, Watched};
use super::jobs::PERMUTATIONS;
use super::permutations::{self, SIX};
use super::scheme::name;
use super::{FIGURE_1_GAINS, figure_1, figure_2};
use crate::statistics::{Estimate, mean};
use gleaner_policy::Score;
use gleaner_report::{Axis, Plot, PlotGrid, Series, Style, Svg};

/// A plot of a whole run shows every so many seconds.
const COARSE_S: usize = 20;

fn with_bounds(series: Series, estimates: &[Estimate]) -> Series {
    series.bounds(estimates.iter().map(|estimate| (estimate.low, estimate.high)))
}

/// Makespan against N, a panel for each scheme and a curve for each θ.
pub(super) fn figure_1(samples: &figure_1::Samples) -> Svg {
    let panels = [Score::Greedy, Score::Social, Score::MinNum].map(|score| {
        let axis = Axis::linear("most moves at an event, N").range(0.0, 10.5);
        let plot = Plot::new(name(score), axis, Axis::linear("makespan (s)").range(1_600.0, 2_000.0));
        let gains = if score == Score::MinNum { &FIGURE_1_GAINS[..1] } else { &FIGURE_1_GAINS[..] };
        gains.iter().fold(plot, |plot, gain| {
            let label = match score {
                Score::MinNum => "no θ".to_owned(),
                Score::Greedy
                | Score::Social
                | Score::SocialWhole
                | Score::SocialAsPrinted
                | Score::Power
                | Score::PowerPerCore
                | Score::ReliablePower
                | Score::Energy
                | Score::EnergyDelay
                | Score::ReliableEnergyDelay => {
                    format!("θ = {:.0} %", 100.0 * gain)
                }
            };
            let recipes = figure_1::curve(score, score, *gain);
            let estimates: Vec<Estimate> = recipes
                .map(|recipe| samples.over_seeds(|seed| samples.makespan_s(recipe, 0, seed)))
                .collect();
            let points = figure_1::MOVES.iter().zip(&estimates).map(|(n, e)| (f64::from(*n), e.mean));
            plot.with(with_bounds(Series::new(label, Style::Marked, points), &estimates))
        })
    });
    PlotGrid::new("Figure 1: makespan by N and θ", 3, panels.to_vec()).svg()
}

/// Tasks on S₀, S₁ and S₃ under three relocators, until the paper's axis ends.
pub(super) fn figure_2(samples: &figure_2::Samples) -> Svg {
    let shown = || [Score::Social, Score::MinNum, Score::Greedy].into_iter();
    let peak = peak(shown().map(|score| watched(samples, score)));
    // Up to a round number, so that no line runs along the frame.
    let height = PAPER_PEAK.max((f64::from(peak) / 50.0).ceil() * 50.0);
    let panel = |score: Score, machine: usize, at: usize| {
        let title = match at {
            0..6 => {
                format!("({}) {}, S{machine}", char::from(b'a' + at as u8), name(score))
            }
            _ => format!("{}, S{machine}", name(score)),
        };
        let axis = Axis::linear("time (s)").range(0.0, PAPER_END_S as f64);
        let plot = Plot::new(title, axis, Axis::linear("tasks").range(0.0, height));
        with_kinds(plot, &watched(samples, score).seconds[..], machine, 1)
    };
    let panels = shown().flat_map(|score| [0, 1, S3].map(|machine| (score, machine)));
    let panels = panels.enumerate().map(|(at, (score, machine))| panel(score, machine, at));
    PlotGrid::new("Figure 2: where tasks are when S3's owner returns at 1500 s", 3, panels.collect()).svg()
}

/// The same until the last task ends.
pub(super) fn figure_2_whole(samples: &figure_2::Samples) -> Svg {
    let panels = [Score::Social, Score::MinNum, Score::Greedy].into_iter().map(|score| {
        let plot = Plot::new(format!("{}, S3", name(score)), Axis::linear("time (s)"), Axis::linear("tasks"));
        with_kinds(plot, &watched(samples, score).seconds, S3, COARSE_S)
    });
    PlotGrid::new("S3 until the last task ends", 3, panels.collect()).svg()
}

/// The most tasks of a kind on a machine in any of the runs, until the paper's axis ends.
fn peak<'a>(runs: impl Iterator<Item = &'a Watched>) -> u32 {
    let counts = runs.flat_map(|run| run.seconds.iter().take(PAPER_END_S)).flatten();
    counts.map(|kinds| kinds[0].max(kinds[DATA])).max().unwrap_or(0)
}

fn watched(samples: &figure_2::Samples, score: Score) -> &Watched {
    let at = Score::ALL.iter().position(|other| *other == score).expect("one of all");
    &samples.first[at]
}

fn with_kinds(plot: Plot, seconds: &[Counts], machine: usize, every: usize) -> Plot {
    let kinds = [(DATA, "C4 (disk intensive)"), (0, "C0 (CPU intensive)")];
    kinds.into_iter().fold(plot, |plot, (kind, label)| {
        plot.with(Series::new(label, Style::Step, changes(seconds, every, |counts| counts[machine][kind])))
    })
}

/// The moments at which a count is another than before, and the last one.
fn changes(seconds: &[Counts], every: usize, of: impl Fn(&Counts) -> u32) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (second, counts) in seconds.iter().enumerate().step_by(every) {
        let count = f64::from(of(counts));
        if points.last().is_none_or(|(_, last)| *last != count) {
            points.push((second as f64, count));
        }
    }
    points.extend(points.last().map(|(_, last)| (seconds.len() as f64, *last)));
    points
}

/// Makespan by permutation: the paper's six schemes, and the bound below them.
pub(super) fn permutations(samples: &permutations::Samples, title: &str) -> Svg {
    let ids = (1..=PERMUTATIONS.len()).take(samples.cases()).map(|id| id.to_string());
    let plot = Plot::new(title, Axis::categories("permutation ID", ids), Axis::log("makespan (s)"));
    let plot = SIX.into_iter().fold(plot, |plot, scheme| {
        let estimates: Vec<Estimate> = (0..samples.cases())
            .map(|case| {
                let makespan = samples.over_seeds(|seed| samples.makespan_s(scheme, case, seed));
                // However few the runs, no makespan is below the bound.
                makespan
                    .within(mean((0..samples.seeds()).map(|seed| samples.bound_s(case, seed))), f64::INFINITY)
            })
            .collect();
        let points = estimates.iter().enumerate().map(|(case, estimate)| (case as f64, estimate.mean));
        plot.with(with_bounds(Series::new(scheme.name(), Style::Marked, points), &estimates))
    });
    let bound = (0..samples.cases())
        .map(|case| (case as f64, mean((0..samples.seeds()).map(|seed| samples.bound_s(case, seed)))));
    plot.with(Series::new("lower bound", Style::Line, bound)).svg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_reaches_the_peak_of_every_run() {
        let run = |tasks: u32, seconds: usize| {
            let mut counts = Counts::default();
            counts[S3][DATA] = tasks;
            Watched { seconds: vec![counts; seconds], left_s3: 0 }
        };
        let runs = [run(10, 2 * PAPER_END_S), run(20, 100), run(400, 100)];
        assert_eq!(peak(runs.iter()), 400);
    }
}
