//! The figures as plots.

use super::PERIODS_S;
use super::case::{Case, Heuristic, Month, Part, Rule};
use super::experiments::period;
use super::findings::Findings;
use crate::statistics::{mean, range};
use gleaner_report::{Axis, Plot, PlotGrid, Series, Style, Svg};

/// Each with the name of its file and a caption.
pub(super) fn all(findings: &Findings) -> Vec<(&'static str, &'static str, Svg)> {
    let mut all = Vec::new();
    if findings.shows(4) {
        all.push((
            "figure-4",
            "Makespan in units of that without a budget, by budget, of the patterns that came to their end. Bars show the \
             smallest and the largest of them, as in the paper.",
            by_budget(findings, "Figure 4: normalized makespan", "makespan, normalized", &|case, seed| {
                findings.normalized(case, seed)
            }),
        ));
    }
    if findings.shows(5) {
        all.push((
            "figure-5",
            "The part of the machines' time that is used until the makespan, by budget, of the patterns that came to their end; \
             the line without markers is without a budget.",
            by_budget(findings, "Figure 5: resource utilization", "use (%)", &|case, seed| {
                100.0 * findings.outcome(case, seed).use_share
            }),
        ));
    }
    if findings.has(Part::Periods) {
        all.push((
            "periods",
            "How long after the last arrival the last task ends, by the period between batches; September, MinMin \
             without a budget.",
            periods(findings),
        ));
    }
    all
}

fn by_budget(findings: &Findings, title: &str, label: &str, value: &dyn Fn(Case, usize) -> f64) -> Svg {
    let ended = |case: Case| findings.ended(case).into_iter().map(move |seed| value(case, seed));
    let curves = |month: Month| {
        let of_rule =
            move |rule| Case::min_min(month, rule, 0).readings().iter().map(move |read| (rule, *read));
        Rule::BUDGETED.into_iter().flat_map(of_rule)
    };
    let left_out_of = |month: Month| -> usize {
        let of_budget = |budget: u64| {
            curves(month).map(move |(rule, read)| {
                let case = Case::min_min(month, rule, budget).read(read);
                findings.seeds() as usize - findings.ended(case).len()
            })
        };
        findings.budgets(month, Heuristic::MinMin).into_iter().flat_map(of_budget).sum()
    };
    let left_out: usize = Month::ALL.into_iter().map(left_out_of).sum();
    let panel = |month: Month| {
        let budgets = findings.budgets(month, Heuristic::MinMin);
        let x = |budget: u64| budget as f64 / 1e11;
        let (first, last) = (x(budgets[0]), x(budgets[budgets.len() - 1]));
        let axis = Axis::linear("budget (10¹¹ credits)").range(first - 0.2, last + 0.2);
        let plot = Plot::new(month.name(), axis, Axis::linear(label));
        let plot = curves(month).fold(plot, |plot, (rule, read)| {
            let case = move |budget: u64| Case::min_min(month, rule, budget).read(read);
            // Where none came to its end, there is no number, and the line is broken.
            let points = budgets.iter().map(|budget| (x(*budget), mean(ended(case(*budget)))));
            let bounds = budgets.iter().map(|budget| range(ended(case(*budget))));
            let name = case(0).version() + case(0).remark();
            plot.with(Series::new(name, Style::Marked, points.collect::<Vec<_>>()).bounds(bounds))
        });
        let free = mean(ended(Case::free(month, Heuristic::MinMin)));
        let plot = plot.with(Series::new("MinMin", Style::Line, [(first, free), (last, free)]));
        if left_out == 0 {
            return plot;
        }
        plot.note(format!("Left out: {left_out} runs that were given up or not done when the trace ended."))
    };
    PlotGrid::new(title, 2, Month::ALL.map(panel).to_vec()).svg()
}

fn periods(findings: &Findings) -> Svg {
    let free = Case::free(Month::September, Heuristic::MinMin);
    let estimates = PERIODS_S.map(|period_s| {
        (
            f64::from(period_s),
            findings.over_seeds(|seed| findings.after_s(period(free, period_s), seed) / 3600.0),
        )
    });
    let series =
        Series::new("MinMin", Style::Marked, estimates.map(|(period_s, estimate)| (period_s, estimate.mean)));
    Plot::new("The period between batches", Axis::linear("R (s)"), Axis::linear("after the last arrival (h)"))
        .with(series.bounds(estimates.map(|(_, estimate)| (estimate.low, estimate.high))))
        .svg()
}
