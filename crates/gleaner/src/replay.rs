//! `gleaner replay`: what a live grid's history would have been under another policy.

use crate::cli::{ReplayArguments, WordsArguments};
use crate::columns::{Side, aligned};
use crate::failure::Failure;
use crate::files::write_text;
use crate::policy::source;
use crate::simulate::preset_and_set;
use crate::{Outcome, stdout};
use gleaner_policy::PolicySpec;
use gleaner_replay::{Figures, LeftOut, Past, Placed, SourceError, read};
use gleaner_report::{Bar, Block, Cell, Gantt, Report, Table};
use gleaner_workload::read_policy;
use serde_json::json;

pub(crate) fn run(arguments: &ReplayArguments) -> Outcome {
    let WordsArguments { from, overrides } = &arguments.words;
    let (preset, set) = match arguments.policy.as_deref().map(preset_and_set).transpose()? {
        Some((preset, set)) => (Some(preset), set),
        None => (None, Vec::new()),
    };
    let source = source(preset, from.as_deref()).expect("one of them is required");
    // As in the simulator, what is set behind the name comes last.
    let overrides = &[overrides.as_slice(), &set].concat();
    // A mistyped key should not take reading a journal to be found.
    read_policy(source, overrides, |tree| PolicySpec::check_anywhere(&tree))?;
    let past = read(&arguments.journal)?;
    let then = &past.policy;
    let asked = &read_policy(source, overrides, |tree| PolicySpec::read_beside(tree, then))?;
    if past.setup.tasks.is_empty() {
        let why = format!("{}: no task of this journal ran to its end", arguments.journal.display());
        return Err(Failure::Usage(why));
    }
    let [(again, again_placed), (other, other_placed)] =
        [then, asked].map(|policy| past.schedule_under(policy));
    if let Some(dir) = &arguments.out {
        let rows = rows(&past, [again, other]);
        let schedules =
            [("As it was", &past.placed), ("Simulated", &again_placed), ("As asked", &other_placed)];
        write_text(dir, "report.html", &report(&past, [then, asked], &rows, schedules))?;
    }
    if arguments.json {
        return stdout::print_json(&json!({
            "version": 1,
            "tasks": past.setup.tasks.len(),
            "left_out": past.left_out,
            "was": past.was,
            "simulated": { "policy": then.recipe().to_string(), "outcome": again },
            "asked": { "policy": asked.recipe().to_string(), "outcome": other },
        }));
    }
    stdout::print(told(&past, [then, asked], [again, other]))
}

fn told(past: &Past, [then, asked]: [&PolicySpec; 2], [again, other]: [Figures; 2]) -> String {
    let headings = [
        ("", Side::Left),
        ("MAKESPAN", Side::Right),
        ("WAIT", Side::Right),
        ("LONGEST", Side::Right),
        ("MOVES", Side::Right),
        ("MACHINE TIME", Side::Right),
        ("UNFINISHED", Side::Right),
    ];
    let rows = rows(past, [again, other]);
    format!(
        "{} tasks{}\n\n{}\nsimulated  {}\nas asked   {}\n",
        past.setup.tasks.len(),
        without(&past.left_out),
        aligned(&headings, &rows),
        then.recipe(),
        asked.recipe(),
    )
}

fn rows(past: &Past, [again, other]: [Figures; 2]) -> Vec<Vec<String>> {
    let row = |name: &str, went: &Figures| {
        let seconds = |seconds: f64| format!("{seconds:.3} s");
        vec![
            name.to_owned(),
            seconds(went.makespan_s),
            seconds(went.wait_mean_s),
            seconds(went.wait_max_s),
            went.moves.to_string(),
            seconds(went.machine_s),
            went.unfinished.to_string(),
        ]
    };
    vec![row("as it was", &past.was), row("simulated", &again), row("as asked", &other)]
}

/// All three schedules on the same clock, each task on the machine where it ended.
fn report(
    past: &Past,
    [then, asked]: [&PolicySpec; 2],
    rows: &[Vec<String>],
    schedules: [(&str, &Vec<Option<Placed>>); 3],
) -> String {
    let header = ["", "makespan", "mean wait", "longest", "moves", "machine time", "unfinished"];
    let table = rows.iter().fold(Table::new("How it went", header), |table, row| {
        let (name, numbers) = row.split_first().expect("a row has a name");
        table.row(std::iter::once(Cell::text(name)).chain(numbers.iter().map(Cell::number)))
    });
    let caption =
        "Each task on the machine where it ended, from its first start on; tasks of one job have one colour.";
    let gantts = schedules.map(|(name, placed)| {
        let bars = past.tasks.iter().zip(placed).filter_map(|(&(job, task), placed)| {
            let Placed { on, from, to } = (*placed)?;
            let (from_s, to_s) = (from.seconds(), to.seconds());
            let name = format!("{job}/{task}");
            Some(Bar { row: on.index(), rows: None, from_s, to_s, group: job.0 as usize, name })
        });
        Gantt::new(format!("{name}. {caption}"), name, past.machines.iter().cloned(), bars)
    });
    Report::new("What would have been")
        .lead(format!("{} tasks{}.", past.setup.tasks.len(), without(&past.left_out)))
        .with(Block::text(format!("Simulated: {}\n\nAs asked: {}", then.recipe(), asked.recipe())))
        .with(Block::note(
            "Compare what was asked with what was simulated of the policy that was: how far that lies from what was says how \
             good the model is.",
        ))
        .with(Block::heading("Summary"))
        .with(table)
        .with(Block::heading("Schedules"))
        .with(Block::Gantts(gantts.into()))
        .html()
}

/// What is said of tasks that are no part of it, behind how many are.
pub(crate) fn without(left_out: &LeftOut) -> String {
    let LeftOut { cancelled, unfinished, without_work } = *left_out;
    let parts = [(cancelled, "cancelled"), (unfinished, "not ended"), (without_work, "without work")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { String::new() } else { format!("; left out: {}", parts.join(", ")) }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Open(error) => error.into(),
            SourceError::None(_) | SourceError::Io { .. } | SourceError::Line { .. } => {
                Self::Usage(error.to_string())
            }
            SourceError::Journal(_) | SourceError::Replay(_) => Self::Coordinator(error.to_string()),
        }
    }
}
