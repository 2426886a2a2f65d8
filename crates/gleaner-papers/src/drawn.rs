//! One run of a paper's experiments under each of its rules, drawn side by side: what ran where, and when. All others are
//! counted only.

use gleaner_policy::Recipe;
use gleaner_report::{Bar, Block, Gantt, Report};
use gleaner_sim::{Setup, Simulation};
use gleaner_units::{MachineId, Time};

/// A section of a report with these schedules, all of one run's inputs.
pub(crate) fn section(report: Report, what: &str, schedules: Vec<Gantt>) -> Report {
    let text = format!(
        "{what} A bar is told of under the pointer; the arrow keys go from bar to bar, + and - zoom. It is one run of many: \
         what holds on average is in the claims."
    );
    report.with(Block::heading("One run, drawn")).with(Block::text(text)).with(Block::Gantts(schedules))
}

/// Each task on the machine where it ended, from its first start on. `row` says in which row a machine stands.
pub(crate) fn of_run(
    rule: &str,
    (setup, recipe): (&Setup, Recipe),
    rows: impl Iterator<Item = String>,
    row: impl Fn(MachineId) -> usize,
) -> Gantt {
    let mut simulation = Simulation::new(setup, recipe.build());
    simulation.run();
    let history = simulation.history();
    let tasks = history.tasks().iter().zip(&setup.tasks.classes).zip(1..);
    let bars = tasks.filter_map(|((task, class), number)| {
        let on = task.machine.filter(|_| task.finished != Time::NEVER)?;
        let moved = if task.moves > 0 { format!(", moved {} times", task.moves) } else { String::new() };
        Some(Bar {
            row: row(on),
            rows: None,
            from_s: task.started.seconds(),
            to_s: task.finished.seconds(),
            group: class.index(),
            name: format!("task {number}{moved}"),
        })
    });
    let caption = format!(
        "{rule}: the last task ends after {} s.",
        gleaner_report::numbers::decimals(history.makespan().seconds(), 0)
    );
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
