//! The plots of a run.

use super::summary::{BudgetUse, Summary};
use gleaner_report::{Axis, Plot, Series, Style, Svg, histogram, numbers};
use gleaner_sim::History;
use gleaner_units::{MachineId, Time};
use gleaner_workload::Experiment;

/// More machines than this in one plot cannot be told apart.
const MACHINES_SHOWN: usize = 12;
const HISTOGRAM_BINS: usize = 40;

/// Of a run: the name of its file, what it shows, and the plot.
pub(super) type Figures = Vec<(&'static str, &'static str, Svg)>;

pub(super) fn of_run(experiment: &Experiment, history: &History, summary: &Summary) -> Figures {
    let mut figures = vec![
        ("machines_over_time", "Tasks running on each machine.", machines_over_time(experiment, history)),
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
    let recharge = [(0.0, budget.recharge.amount()), (end, budget.recharge.amount())];
    Plot::new("Spent in each period", Axis::linear("start of the period (s)"), Axis::linear("credits"))
        .with(Series::new("spent", Style::Step, spent))
        .with(Series::new("recharge", Style::Line, recharge))
        .svg()
}

fn machines_over_time(experiment: &Experiment, history: &History) -> Svg {
    let mut busiest: Vec<MachineId> = (0..experiment.machine_names.len()).map(MachineId::new).collect();
    busiest.sort_by_key(|machine| std::cmp::Reverse(history.finished_on()[machine.index()]));
    busiest.truncate(MACHINES_SHOWN);
    let mut shown: Vec<Vec<(f64, f64)>> = vec![Vec::new(); busiest.len()];
    let mut place = vec![None; experiment.machine_names.len()];
    for (index, machine) in busiest.iter().enumerate() {
        place[machine.index()] = Some(index);
    }
    for row in history.timeline() {
        if let Some(index) = place[row.machine.index()] {
            shown[index].push((row.time.seconds(), f64::from(row.tasks)));
        }
    }
    let mut plot =
        Plot::new("Tasks on each machine", Axis::linear("time (s)"), Axis::linear("tasks running"));
    for (machine, points) in busiest.iter().zip(shown) {
        let name = &experiment.machine_names[machine.index()];
        plot = plot.with(Series::new(name, Style::Step, points));
    }
    let hidden = experiment.machine_names.len() - busiest.len();
    if hidden > 0 {
        let all = numbers::grouped(experiment.machine_names.len() as u64);
        plot = plot.note(format!("The {} machines that ended most tasks, of {all}.", busiest.len()));
    }
    plot.svg()
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
