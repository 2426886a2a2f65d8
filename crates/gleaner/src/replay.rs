//! `gleaner replay`: what a live grid's history would have been under another policy.

use crate::cli::ReplayArguments;
use crate::columns::{Side, aligned};
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_policy::Recipe;
use gleaner_replay::{LeftOut, Outcome as Went, Past, SourceError, read};
use gleaner_server::policy::recipe;
use gleaner_wire::api::PolicySpec;
use serde_json::json;

pub(crate) fn run(arguments: &ReplayArguments) -> Outcome {
    let spec = arguments.relocate.with(&arguments.policy);
    Recipe::preset(&spec.preset).map_err(|unknown| Failure::Usage(unknown.to_string()))?;
    let past = read(&arguments.journal)?;
    let asked = built(&spec, &past)?;
    if past.setup.tasks.is_empty() {
        let why = format!("{}: no task of this journal ran to its end", arguments.journal.display());
        return Err(Failure::Usage(why));
    }
    let then = built(&past.policy, &past)?;
    let [again, other] = [then, asked].map(|recipe| past.under(recipe));
    if arguments.json {
        return stdout::print_json(&json!({
            "version": 1,
            "tasks": past.setup.tasks.len(),
            "left_out": past.left_out,
            "was": past.was,
            "simulated": { "policy": then.to_string(), "outcome": again },
            "asked": { "policy": asked.to_string(), "outcome": other },
        }));
    }
    stdout::print(told(&past, [then, asked], [again, other]))
}

/// A policy on the grid as it was, with the budget of its end.
fn built(spec: &PolicySpec, past: &Past) -> Result<Recipe, Failure> {
    recipe(spec, past.budget.as_ref()).map_err(|error| Failure::Usage(error.to_string()))
}

fn told(past: &Past, [then, asked]: [Recipe; 2], [again, other]: [Went; 2]) -> String {
    let headings = [
        ("", Side::Left),
        ("MAKESPAN", Side::Right),
        ("WAIT", Side::Right),
        ("LONGEST", Side::Right),
        ("MOVES", Side::Right),
        ("MACHINE TIME", Side::Right),
        ("UNFINISHED", Side::Right),
    ];
    let row = |name: &str, went: &Went| {
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
    let rows = [row("as it was", &past.was), row("simulated", &again), row("as asked", &other)];
    format!(
        "{} tasks{}\n\n{}\nsimulated  {then}\nas asked   {asked}\n",
        past.setup.tasks.len(),
        without(&past.left_out),
        aligned(&headings, &rows),
    )
}

fn without(left_out: &LeftOut) -> String {
    let LeftOut { cancelled, unfinished, without_work } = *left_out;
    let parts = [(cancelled, "cancelled"), (unfinished, "not ended"), (without_work, "without work")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { String::new() } else { format!("; left out: {}", parts.join(", ")) }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match error {
            SourceError::Io { .. } | SourceError::Line { .. } | SourceError::Open(_) => {
                Self::Usage(error.to_string())
            }
            SourceError::Journal(_) | SourceError::Replay(_) => Self::Coordinator(error.to_string()),
        }
    }
}
