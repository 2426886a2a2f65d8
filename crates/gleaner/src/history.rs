//! `gleaner history`: a task's life, a line for each step.

use crate::api::Api;
use crate::cli::{HistoryArguments, TaskName};
use crate::columns::{Side, shown, with_sentences};
use crate::moments::clock;
use crate::status::COMMAND_WIDTH;
use crate::{Outcome, stdout, which};
use gleaner_wire::api::Transition;

pub(crate) fn run(arguments: &HistoryArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let meant = which::one(&grid, &arguments.task)?;
    let TaskName { job, task } = grid.named(meant)?;
    let history = grid.history(job, task)?;
    if arguments.grid.json {
        return stdout::print_json(&history);
    }
    let tasks = if meant.task.is_none() { grid.job(job)?.tasks.total() } else { 1 };
    let mut whose = if tasks > 1 { format!("task {job}/{task}, one of {tasks}:\n") } else { String::new() };
    // A job's only task has the job's command.
    if tasks > 1 || meant.task.is_some() {
        let command = grid.task(job, task)?.command.join(" ");
        whose += &format!("command: {}\n", shown(&command, COMMAND_WIDTH));
    }
    let earlier = match history.left_out {
        0 => String::new(),
        count => format!("{count} earlier steps are in the journal: `gleaner journal export`\n"),
    };
    stdout::print(whose + &earlier + &table(&history.transitions))
}

fn table(transitions: &[Transition]) -> String {
    let headings = [
        ("WHEN", Side::Left),
        ("PHASE", Side::Left),
        ("RUN", Side::Right),
        ("MACHINE", Side::Left),
        ("BY", Side::Left),
        ("CAUSE", Side::Left),
    ];
    let rows = transitions.iter().map(|step| {
        vec![
            clock(step.at_s),
            step.phase.name().to_owned(),
            step.run.map(|run| run.to_string()).unwrap_or_default(),
            step.machine.clone().unwrap_or_default(),
            shown(&step.actor.to_string(), 32),
            shown(&step.cause, usize::MAX),
        ]
    });
    with_sentences(&headings, &rows.collect::<Vec<_>>())
}
