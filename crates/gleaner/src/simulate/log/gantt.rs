//! The plots of a run of a log.

use super::allocation::Processors;
use crate::simulate::figures::Figures;
use gleaner_report::{Axis, Bar, Gantt, Plot, Series, Style, Svg, histogram};
use gleaner_sim::History;
use gleaner_units::Time;
use gleaner_workload::LogExperiment;
use gleaner_workload::swf::Served;
use std::collections::BTreeMap;

const BINS: usize = 40;
/// More jobs than this in one chart cannot be told apart.
const JOBS_SHOWN: usize = 2_000;
/// A row of a chart for each of more processors is too much for a reader, and for memory.
const PROCESSORS_SHOWN: u32 = 100_000;

pub(super) fn figures(
    experiment: &LogExperiment,
    history: &History,
    (places, cores): (&[Processors], u32),
) -> Figures {
    vec![
        ("gantt", "Which processors each job had, and when.", gantt(history, (places, cores))),
        ("queue", "Jobs that wait, and what they ask for.", queue(experiment, history)),
        ("waits", "How long jobs waited.", waits(experiment, history)),
        (
            "slowdowns",
            "Which part of the jobs had at most that bounded slowdown.",
            slowdowns(experiment, history),
        ),
    ]
}

/// The same to look into: every job of a run on its processors, of its user's colour.
pub(super) fn schedule(
    experiment: &LogExperiment,
    history: &History,
    (places, cores): (&[Processors], u32),
    label: &str,
) -> Gantt {
    let jobs = history.tasks().iter().zip(places).enumerate();
    let ended = jobs.filter(|(_, (task, _))| task.finished != Time::NEVER);
    let (names, shown) = (&experiment.experiment.task_names, cores.min(PROCESSORS_SHOWN));
    let bars = ended.flat_map(|(index, (task, processors))| {
        let (from_s, to_s) = (task.started.seconds(), task.finished.seconds());
        let group = usize::try_from(experiment.kept.jobs[index].user.unwrap_or(0)).unwrap_or(0);
        let name = format!("job {}", names.id(index));
        processors.iter().map(move |&(first, last)| {
            let last = last.min(shown.saturating_sub(1));
            let rows = Some(last.saturating_sub(first) as usize + 1);
            Bar { row: first as usize, rows, from_s, to_s, group, name: name.clone() }
        })
    });
    let of = if shown < cores { format!("the first {shown} of {cores}") } else { cores.to_string() };
    let count = history.finished();
    let caption = format!(
        "{label}: {count} jobs on {of} processors; those of one user have one colour, and one whose processors do not lie \
         together has several blocks. Zoom with the buttons, or with + and -; point at a \
         job for what is known of it."
    );
    Gantt::new(caption, label, (0..shown).map(|processor| format!("processor {processor}")), bars)
        .counting("block of a job", "processor")
}

/// The first jobs of a run, each as a bar on its processors.
fn gantt(history: &History, (places, cores): (&[Processors], u32)) -> Svg {
    let shown = history.tasks().iter().zip(places).filter(|(task, _)| task.finished != Time::NEVER);
    // One series for each side of a rectangle that is no function of time: a line goes from left to right.
    let outlines = shown.take(JOBS_SHOWN).flat_map(|(task, processors)| {
        let (start, end) = (task.started.seconds(), task.finished.seconds());
        processors.iter().flat_map(move |&(first, last)| {
            let (low, high) = (f64::from(first) + 0.1, f64::from(last) + 0.9);
            [vec![(start, high), (start, low), (end, low), (end, high)], vec![(start, high), (end, high)]]
        })
    });
    let plot = Plot::new("Jobs on processors", Axis::linear("time (s)"), Axis::linear("processor"));
    let mut plot = outlines.fold(plot, |plot, line| plot.with(Series::new("jobs", Style::Line, line)));
    if history.tasks().len() > JOBS_SHOWN {
        plot = plot.note(format!(
            "The first {JOBS_SHOWN} of {} jobs, on {cores} processors.",
            history.tasks().len()
        ));
    }
    plot.svg()
}

fn queue(experiment: &LogExperiment, history: &History) -> Svg {
    let mut changes: BTreeMap<Time, (i64, i64)> = BTreeMap::new();
    for (job, task) in experiment.kept.jobs.iter().zip(history.tasks()) {
        let cores = i64::from(job.processors);
        for (at, sign) in [(job.submit, 1), (task.started, -1)] {
            let change = changes.entry(at).or_default();
            (change.0, change.1) = (change.0 + sign, change.1 + sign * cores);
        }
    }
    let (mut jobs, mut asked) = (Vec::new(), Vec::new());
    let mut sum = (0, 0);
    for (at, change) in changes {
        sum = (sum.0 + change.0, sum.1 + change.1);
        if at != Time::NEVER {
            jobs.push((at.seconds(), sum.0 as f64));
            asked.push((at.seconds(), sum.1 as f64));
        }
    }
    Plot::new("The queue", Axis::linear("time (s)"), Axis::linear("waiting"))
        .with(Series::new("jobs", Style::Step, jobs))
        .with(Series::new("processors asked for", Style::Step, asked))
        .svg()
}

fn waits(experiment: &LogExperiment, history: &History) -> Svg {
    let jobs = experiment.kept.jobs.iter().zip(history.tasks());
    let started = jobs.filter(|(_, task)| task.started != Time::NEVER);
    let seconds: Vec<f64> = started.map(|(job, task)| task.started.since(job.submit).seconds()).collect();
    Plot::new("From submission to start", Axis::linear("time (s)"), Axis::linear("jobs"))
        .with(Series::new("jobs", Style::Bars, histogram(&seconds, BINS)))
        .svg()
}

/// More points than this in one line cannot be told apart.
const QUANTILES: usize = 400;

fn slowdowns(experiment: &LogExperiment, history: &History) -> Svg {
    let mut slowdowns: Vec<f64> = experiment.served(history).iter().map(Served::bounded_slowdown).collect();
    slowdowns.sort_by(f64::total_cmp);
    let count = slowdowns.len();
    let step = count.div_ceil(QUANTILES).max(1);
    let shown = (0..count).filter(|at| at % step == 0 || at + 1 == count);
    let points = shown.map(|at| (slowdowns[at], 100.0 * (at + 1) as f64 / count as f64));
    Plot::new("Bounded slowdowns", Axis::log("bounded slowdown, at most"), Axis::linear("jobs (%)"))
        .with(Series::new("jobs", Style::Step, points))
        .svg()
}
