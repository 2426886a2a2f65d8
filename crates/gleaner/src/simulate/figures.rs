//! The plots of a run.

use super::summary::{BudgetUse, Summary};
use gleaner_core::Scope;
use gleaner_report::{Axis, Bands, Plot, Series, Style, Svg, histogram};
use gleaner_sim::History;
use gleaner_units::Time;
use gleaner_workload::Experiment;

const HISTOGRAM_BINS: usize = 40;

/// Of a run: the name of its file, what it shows, and the plot.
pub(super) type Figures = Vec<(&'static str, &'static str, Svg)>;

pub(super) fn of_run(experiment: &Experiment, history: &History, summary: &Summary) -> Figures {
    let mut figures = vec![
        (
            "machines_over_time",
            "Tasks running on each machine: the darker, the more.",
            machines_over_time(experiment, history),
        ),
        (
            "grid_over_time",
            "Tasks that wait and run, from their first start on, and machines that have something to do.",
            grid_over_time(experiment, history),
        ),
        ("completions", "Tasks that ended, over time.", completions(history)),
        ("times", "How long tasks took from arrival to end.", times(experiment, history)),
    ];
    let spent = summary.budget.as_ref().map(spending);
    figures.extend(spent.map(|plot| ("spending", "What was spent of the budget in each period.", plot)));
    figures
}

fn spending(budget: &BudgetUse) -> Svg {
    let spent = budget.periods.iter().map(|period| (period.start_s, period.spent.amount()));
    let end = budget.periods.last().map_or(0.0, |period| period.start_s) + budget.period_s;
    let name = match budget.scope {
        Scope::Shared => "recharge",
        Scope::PerUser => "recharge of each user",
    };
    let recharge = [(0.0, budget.recharge.amount()), (end, budget.recharge.amount())];
    Plot::new("Spent in each period", Axis::linear("start of the period (s)"), Axis::linear("credits"))
        .with(Series::new("spent", Style::Step, spent))
        .with(Series::new(name, Style::Line, recharge))
        .svg()
}

fn machines_over_time(experiment: &Experiment, history: &History) -> Svg {
    let steps = history.timeline().iter();
    let steps = steps.map(|row| (row.machine.index(), row.time.seconds(), f64::from(row.tasks)));
    let (names, end) = (experiment.machine_names.clone(), history.makespan().seconds());
    Bands::new("Tasks on each machine", "tasks", names, end, steps).svg()
}

/// Tasks that wait and that run, and machines that have something to do.
fn grid_over_time(experiment: &Experiment, history: &History) -> Svg {
    let tasks = || history.tasks().iter().zip(&experiment.setup.tasks.arrivals);
    let came = tasks().map(|(_, arrival)| (*arrival, 1.0));
    let began = tasks().map(|(task, _)| task.started);
    let waiting = came.chain(began.clone().map(|started| (started, -1.0)));
    let ended = tasks().map(|(task, _)| (task.finished, -1.0));
    let running = began.map(|started| (started, 1.0)).chain(ended);
    let mut has_tasks = vec![false; experiment.machine_names.len()];
    let at_work = history.timeline().iter().map(|row| {
        let before = std::mem::replace(&mut has_tasks[row.machine.index()], row.tasks > 0);
        (row.time, f64::from(u8::from(row.tasks > 0)) - f64::from(u8::from(before)))
    });
    Plot::new("Tasks and machines at work", Axis::linear("time (s)"), Axis::linear("number"))
        .with(Series::new("tasks waiting", Style::Step, sums(waiting)))
        .with(Series::new("tasks running", Style::Step, sums(running)))
        .with(Series::new("machines at work", Style::Step, sums(at_work)))
        .svg()
}

/// How much there is after each change; what never happens is no change.
fn sums(changes: impl Iterator<Item = (Time, f64)>) -> Vec<(f64, f64)> {
    let mut changes: Vec<(Time, f64)> = changes.filter(|(at, _)| *at != Time::NEVER).collect();
    changes.sort_by_key(|(at, _)| *at);
    let mut sums = vec![(0.0, 0.0)];
    for (at, by) in changes {
        let at = at.seconds();
        let (last, sum) = *sums.last().expect("there is the first");
        if last < at {
            sums.push((at, sum + by));
        } else if let Some(last) = sums.last_mut() {
            last.1 += by;
        }
    }
    sums
}

fn completions(history: &History) -> Svg {
    let mut ends: Vec<Time> = history.tasks().iter().map(|task| task.finished).collect();
    ends.retain(|&end| end != Time::NEVER);
    ends.sort_unstable();
    let points = ends.iter().enumerate().map(|(index, end)| (end.seconds(), (index + 1) as f64));
    let start = std::iter::once((0.0, 0.0));
    Plot::new("Tasks that ended", Axis::linear("time (s)"), Axis::linear("tasks"))
        .with(Series::new("ended", Style::Step, start.chain(points)))
        .svg()
}

fn times(experiment: &Experiment, history: &History) -> Svg {
    let arrivals = &experiment.setup.tasks.arrivals;
    let ended = history.tasks().iter().zip(arrivals).filter(|(task, _)| task.finished != Time::NEVER);
    let seconds: Vec<f64> = ended.map(|(task, arrival)| task.finished.since(*arrival).seconds()).collect();
    Plot::new("From arrival to end", Axis::linear("time (s)"), Axis::linear("tasks"))
        .with(Series::new("tasks", Style::Bars, histogram(&seconds, HISTOGRAM_BINS)))
        .svg()
}
