//! `gleaner cancel`, `hold`, `release` and `rerun`.

use crate::api::Api;
use crate::cli::{OrderArguments, RerunArguments};
use crate::columns::plural;
use crate::several::each;
use crate::which::{self, Chosen};
use crate::{Outcome, stdout};
use gleaner_wire::api::Choice;
use serde_json::json;

pub(crate) fn cancel(arguments: &OrderArguments) -> Outcome {
    carry_out(arguments, ("cancel", "all of them are over, or about to be"), &Choice::default())
}

pub(crate) fn hold(arguments: &OrderArguments) -> Outcome {
    carry_out(arguments, ("hold", "all of them are held or over, or about to be"), &Choice::default())
}

pub(crate) fn release(arguments: &OrderArguments) -> Outcome {
    carry_out(arguments, ("release", "none of them is held"), &Choice::default())
}

pub(crate) fn rerun(arguments: &RerunArguments) -> Outcome {
    let why = if arguments.failed { "none of them failed" } else { "none of them is over" };
    carry_out(&arguments.order, ("rerun", why), &Choice { failed: arguments.failed, ..Choice::default() })
}

/// `why` says why an order applied to no task, if it did.
fn carry_out(arguments: &OrderArguments, (order, why): (&str, &str), choice: &Choice) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let (tasks, outcome) = each(which::chosen(&grid, &arguments.of)?, |Chosen { job, tasks }| {
        Ok(grid.order(*job, order, &Choice { tasks: tasks.clone(), ..choice.clone() })?.tasks)
    });
    // Of one that was refused there is nothing to say but that.
    if outcome.is_err() && tasks.is_empty() {
        return outcome;
    }
    let tasks: u32 = tasks.into_iter().sum();
    if arguments.grid.json {
        stdout::print_json(&json!({ "version": 1, "tasks": tasks }))?;
    } else {
        let why = if tasks == 0 { format!(": {why}") } else { String::new() };
        stdout::print(format!("{order}: {}{why}\n", plural(u64::from(tasks), "task")))?;
    }
    outcome
}
