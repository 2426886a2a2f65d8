//! The figures as plots.

use super::ages;
use super::case::{Case, Work};
use super::experiments::{Findings, Part, slow};
use super::rule::Rule;
use crate::statistics::Estimate;
use gleaner_policy::{Choose, Until};
use gleaner_report::{Axis, Plot, PlotGrid, Series, Style, Svg};

/// Each with the name of its file and a caption.
pub(super) fn all(findings: &Findings) -> Vec<(&'static str, &'static str, Svg)> {
    let mut all = Vec::new();
    if findings.has(Part::Figures) {
        let findings = &findings.only(Part::Figures);
        let note = "a) mean lifetime, b) how much shorter it is than under the rule in force, by mean interarrival time; \
                    bars are 95 % intervals.";
        all.push(("figure-3", note, figure(findings, "Figure 3: light jobs, balanced", Work::Balanced)));
        all.push(("figure-4", note, figure(findings, "Figure 4: light jobs, unbalanced", Work::Unbalanced)));
        all.push(("figure-5", note, figure(findings, "Figure 5: heavy jobs, as printed", Work::Heavy)));
        all.push((
            "figure-5-scaled",
            note,
            figure(findings, "Figure 5: heavy jobs, sites that saturate at 700 s", Work::HeavyScaled),
        ));
    }
    if findings.has(Part::Ages) {
        let note = "Mean lifetime by the time to live of the index, in mean interarrival times.";
        all.push(("ages", note, by_age(&findings.only(Part::Ages))));
    }
    all
}

fn curve(name: &str, points: Vec<(f64, Estimate)>) -> Series {
    let bounds: Vec<(f64, f64)> = points.iter().map(|(_, estimate)| (estimate.low, estimate.high)).collect();
    Series::new(name, Style::Marked, points.into_iter().map(|(x, estimate)| (x, estimate.mean)))
        .bounds(bounds)
}

fn figure(findings: &Findings, title: &str, work: Work) -> Svg {
    let loads = work.loads_s();
    let axis =
        || Axis::linear("mean interarrival time (s)").range(loads[0] * 0.98, loads[loads.len() - 1] * 1.02);
    let lives = |rule: Rule, of: fn(Case) -> Case| {
        loads.iter().map(|load| (*load, findings.life(of(Case::of(work, *load)), rule))).collect()
    };
    let a = Rule::FIGURES.iter().fold(Plot::new("a", axis(), Axis::linear("lifetime (s)")), |plot, rule| {
        plot.with(curve(&rule.name(), lives(*rule, |case| case)))
    });
    let a = if work.is_light() {
        a
    } else {
        a.with(curve("stochastic, slow update", lives(Rule::STOCHASTIC, slow)))
    };
    let gains = |rule: Rule| {
        loads
            .iter()
            .map(|load| (*load, findings.gain(&[Case::of(work, *load)], rule, Rule::CURRENT)))
            .collect()
    };
    let b = [Rule::DETERMINISTIC, Rule::STOCHASTIC]
        .iter()
        .fold(Plot::new("b", axis(), Axis::linear("improvement (%)")), |plot, rule| {
            plot.with(curve(&rule.name(), gains(*rule)))
        });
    PlotGrid::new(title, 2, vec![a, b]).svg()
}

fn by_age(findings: &Findings) -> Svg {
    let rule = |choose, own| Rule { files: true, until: Until::Begin, choose, own };
    let shown = [
        rule(Choose::Best, false),
        rule(Choose::Proportional { power: 1 }, false),
        rule(Choose::TwoChoices, false),
        rule(Choose::Best, true),
        rule(Choose::TwoChoices, true),
        rule(Choose::Proportional { power: 4 }, true),
    ];
    let panels = ages::WORKS.into_iter().flat_map(|work| ages::BROKERS.map(|brokers| (work, brokers)));
    let panels = panels.map(|((work, inter_s), brokers)| {
        let name = format!("{}, {brokers} broker{}", work.name(), if brokers == 1 { "" } else { "s" });
        let plot = Plot::new(name, Axis::log("time to live (interarrival times)"), Axis::log("lifetime (s)"));
        shown.iter().fold(plot, |plot, rule| {
            let cases = ages::row((work, inter_s), brokers);
            let points = ages::AGES.iter().zip(cases).map(|(age, case)| (*age, findings.life(case, *rule)));
            plot.with(curve(&rule.name(), points.collect()))
        })
    });
    PlotGrid::new("Choices and beliefs by the age of the index", 2, panels.collect()).svg()
}
