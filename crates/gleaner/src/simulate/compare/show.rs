//! Policies side by side, on a terminal and as a page.

use super::findings::{Findings, OfMetric, OfPolicy};
use crate::cli::SimulateArguments;
use crate::trials::Interval;
use gleaner_report::numbers::decimals;
use gleaner_report::{Axis, Block, Cell, Figure, Gantt, Plot, Report, Series, Style, Svg, Table};

const NONE: &str = "–";
const ALIKE: &str = "All seeds gave the same run, since nothing here is drawn. --shake SECONDS moves each arrival by up to so many seconds, of tasks, logs, and jobs of brokers and peers.";
const ALIKE_THOUGH_SHAKEN: &str = "All seeds gave the same run: nothing here is drawn, and the arrivals that --shake moved changed no figure.";
const UNFAIR: &str = "A run that left work unfinished is held against no other but by that: what it did not do cost it no time.";
const MARK: &str = "* the 95 % interval, paired by seed, does not hold 0";

/// A block for each metric: a line a policy.
pub(super) fn table(findings: &Findings, arguments: &SimulateArguments) -> String {
    let several = findings.policies.len() > 1;
    let mut rows: Vec<[String; 4]> = Vec::new();
    for metric in shown(findings) {
        let unit = if metric.unit.is_empty() { String::new() } else { format!(" ({})", metric.unit) };
        let beside = if several { "beside the first" } else { "" };
        rows.push([format!("{}{unit}", metric.metric), "mean".to_owned(), beside.to_owned(), String::new()]);
        for of in &metric.policies {
            let [more, share] = difference(metric, of);
            rows.push([format!("  {}", of.policy), mean(metric, of.mean.as_ref()), more, share]);
        }
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [name, value, more, share] = [0, 1, 2, 3].map(width);
    let line = |[a, b, c, d]: &[String; 4]| {
        format!("{a:name$}  {b:>value$}  {c:>more$}  {d:>share$}").trim_end().to_owned() + "\n"
    };
    let mut text: String = rows.iter().map(line).collect();
    let runs = findings.seeds.len();
    if runs > 1 {
        text += &format!("\n{runs} seeds each; ± is half of the 95 % interval");
        text += &if several { format!("; {MARK}\n") } else { "\n".to_owned() };
    }
    if findings.all_seeds_alike {
        text += &format!("{}\n", alike(arguments));
    }
    if several && findings.leaves_some {
        text += &format!("\n{UNFAIR}\n");
    }
    if let Some(dir) = &arguments.out {
        text += &format!("\nreport  {}\n", dir.join("report.html").display());
    }
    text
}

/// What is 0 in all runs, or in none of them, says nothing; but that nobody waits says something.
fn shown(findings: &Findings) -> impl Iterator<Item = &OfMetric> {
    let is_a_wait = |metric: &OfMetric| {
        let known = metric.policies.iter().any(|of| of.values.iter().any(Option::is_some));
        metric.metric.starts_with("wait_") && known
    };
    let is_any = |metric: &OfMetric| {
        metric.policies.iter().flat_map(|of| of.values.iter().flatten()).any(|value| *value != 0.0)
    };
    findings.metrics.iter().filter(move |metric| is_any(metric) || is_a_wait(metric))
}

/// A mean with what stands after ±.
fn mean(metric: &OfMetric, mean: Option<&Interval>) -> String {
    let Some(mean) = mean else { return NONE.to_owned() };
    let reach =
        mean.reach().map_or(String::new(), |reach| format!(" ± {}", decimals(reach, metric.decimals)));
    decimals(mean.mean, metric.decimals) + &reach
}

/// How much more than under the first policy, with a mark where that is sure, and in per cent of the first.
fn difference(metric: &OfMetric, of: &OfPolicy) -> [String; 2] {
    let Some(more) = &of.more_than_first else { return [String::new(), String::new()] };
    let sign = |value: f64| if value > 0.0 { "+" } else { "" };
    let mark = if more.is_sure() { " *" } else { "  " };
    let in_percent = |share: f64| format!("{}{} %", sign(share), decimals(share, 1));
    let share = of.percent_more.map_or(NONE.to_owned(), in_percent);
    [sign(more.mean).to_owned() + &mean(metric, Some(more)) + mark, share]
}

/// Why all seeds gave the same.
fn alike(arguments: &SimulateArguments) -> &'static str {
    if arguments.shake.is_some() { ALIKE_THOUGH_SHAKEN } else { ALIKE }
}

pub(super) fn report(findings: &Findings, arguments: &SimulateArguments, schedules: Vec<Gantt>) -> String {
    let Findings { policies, seeds, .. } = findings;
    let what = arguments.scenario.as_ref().or(arguments.log.swf.as_ref());
    let what = what.map_or(String::new(), |file| file.display().to_string());
    let (first, last) = (seeds.first().copied().unwrap_or(0), seeds.last().copied().unwrap_or(0));
    let lead = format!("{what} under {}, with the seeds {first} to {last} each.", policies.join(", "));
    let note = "A mean stands with half of its 95 % interval. Differences are from the first policy, seed by seed; those whose \
                interval leaves 0 out are marked with a star. Each run has a folder of its own beside this page.";
    let mut report = Report::new("Policies beside each other").lead(lead).with(Block::text(note));
    if findings.all_seeds_alike {
        report = report.with(Block::text(alike(arguments)));
    }
    report = report.with(means(findings));
    if policies.len() > 1 {
        if findings.leaves_some {
            report = report.with(Block::text(UNFAIR));
        }
        report = report.with(differences(findings));
    }
    for metric in shown(findings) {
        let caption = format!("{} by seed.", metric.metric);
        report = report.with(Figure::new(caption, by_seed(metric, seeds)));
    }
    if !schedules.is_empty() {
        let text = format!("What ran where with the seed {first}, under each policy by the same clock.");
        report =
            report.with(Block::heading("Schedules")).with(Block::text(text)).with(Block::Gantts(schedules));
    }
    report.html()
}

fn header(findings: &Findings) -> Vec<String> {
    let unit = |metric: &OfMetric| {
        if metric.unit.is_empty() {
            metric.metric.to_owned()
        } else {
            format!("{} ({})", metric.metric, metric.unit)
        }
    };
    std::iter::once("policy".to_owned()).chain(shown(findings).map(unit)).collect()
}

fn means(findings: &Findings) -> Table {
    let table = Table::new("Means over the seeds", header(findings));
    findings.policies.iter().enumerate().fold(table, |table, (at, policy)| {
        let cells = shown(findings).map(|metric| mean(metric, metric.policies[at].mean.as_ref()));
        table.row(std::iter::once(Cell::text(policy)).chain(cells.map(Cell::number)))
    })
}

fn differences(findings: &Findings) -> Table {
    let caption = format!("More than under {}", findings.policies[0]);
    let table = Table::new(caption, header(findings));
    findings.policies.iter().enumerate().skip(1).fold(table, |table, (at, policy)| {
        let cells = shown(findings).map(|metric| {
            let [more, share] = difference(metric, &metric.policies[at]);
            Cell::number(format!("{} ({share})", more.trim_end()))
        });
        table.row(std::iter::once(Cell::text(policy)).chain(cells))
    })
}

fn by_seed(metric: &OfMetric, seeds: &[u64]) -> Svg {
    let y = if metric.unit.is_empty() {
        metric.metric.to_owned()
    } else {
        format!("{} ({})", metric.metric, metric.unit)
    };
    let plot = Plot::new(metric.metric, Axis::linear("seed"), Axis::linear(y));
    let series = |of: &OfPolicy| {
        let points = seeds.iter().zip(&of.values);
        let points: Vec<(f64, f64)> =
            points.filter_map(|(seed, value)| Some((*seed as f64, (*value)?))).collect();
        Series::new(&of.policy, Style::Marked, points)
    };
    metric.policies.iter().fold(plot, |plot, of| plot.with(series(of))).svg()
}
