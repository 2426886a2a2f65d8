//! One run of a paper's experiments under each of its rules, drawn side by side: what ran where, and when. All others are
//! counted only.

use gleaner_policy::Recipe;
use gleaner_report::{Bar, Block, Gantt, Report, numbers};
use gleaner_sim::{Setup, Simulation, Stay};
use gleaner_units::MachineId;

/// A section of a report with these schedules, all of one run's inputs.
pub(crate) fn section(report: Report, what: &str, schedules: Vec<Gantt>) -> Report {
    let text = format!(
        "{what} A bar is told of under the pointer; the arrow keys go from bar to bar, + and - zoom. It is one run of many: \
         what holds on average is in the claims."
    );
    report.with(Block::heading("One run, drawn")).with(Block::text(text)).with(Block::Gantts(schedules))
}

/// Each run on its machine. `row` says in which row a machine stands.
pub(crate) fn of_run(
    rule: &str,
    (setup, recipe): (&Setup, Recipe),
    rows: impl Iterator<Item = String>,
    row: impl Fn(MachineId) -> usize,
) -> Gantt {
    let mut simulation = Simulation::new(setup, recipe.build()).with_timeline();
    simulation.run();
    let history = simulation.history();
    let end = history.makespan();
    let bars = history.stays().iter().map(|&Stay { run, on, from, until }| {
        let again = if run.number > 1 { format!(", run {}", run.number) } else { String::new() };
        Bar {
            row: row(on),
            rows: None,
            from_s: from.seconds(),
            to_s: until.min(end).max(from).seconds(),
            group: setup.tasks.classes[run.task.index()].index(),
            name: format!("task {}{again}", run.task.index() + 1),
        }
    });
    let caption = format!("{rule}: the last task ends after {} s.", numbers::decimals(end.seconds(), 0));
    Gantt::new(caption, rule, rows, bars)
}

/// How many schedules a report has, each with something in it.
#[cfg(test)]
pub(crate) fn schedules(report: &Report) -> usize {
    let html = report.html();
    let count = html.matches("class=\"gantt-place\"").count();
    assert_eq!(html.matches("\"bars\":[[").count(), count, "a schedule is empty");
    count
}
