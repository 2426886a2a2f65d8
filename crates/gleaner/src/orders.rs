//! `gleaner cancel`, `hold`, `release` and `rerun`.

use crate::api::Api;
use crate::cli::{OrderArguments, RerunArguments};
use crate::columns::plural;
use crate::several::each;
use crate::which::{self, Chosen};
use crate::{Outcome, stdout};
use gleaner_wire::api::Choice;
use serde_json::json;

/// An order names each task by its number, and may not be longer than the coordinator reads: of more tasks it becomes several.
const TASKS_NAMED_MAX: usize = 50_000;

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
    let parts = which::chosen(&grid, &arguments.of)?.into_iter().flat_map(in_parts);
    let (tasks, outcome) = each(parts, |Chosen { job, tasks }| {
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

/// What one order may name, each.
fn in_parts(chosen: Chosen) -> Vec<Chosen> {
    if chosen.tasks.len() <= TASKS_NAMED_MAX {
        return vec![chosen];
    }
    let Chosen { job, tasks } = chosen;
    tasks.chunks(TASKS_NAMED_MAX).map(|tasks| Chosen { job, tasks: tasks.to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::JobId;

    #[test]
    fn an_order_about_very_many_tasks_becomes_several() {
        let order = Choice { tasks: vec![u32::MAX; TASKS_NAMED_MAX], failed: false };
        let bytes = serde_json::to_vec(&order).expect("plain data").len() as u64;
        assert!(bytes < gleaner_wire::limits::BODY_BYTES_MAX as u64, "{bytes}");
        for (count, expected) in
            [(0, "7"), (50_000, "7/0…49999"), (100_001, "7/0…49999 7/50000…99999 7/100000")]
        {
            let chosen = Chosen { job: JobId(7), tasks: (0..count).collect() };
            let parts: Vec<String> = in_parts(chosen).iter().map(ToString::to_string).collect();
            assert_eq!(parts.join(" "), expected);
        }
    }
}
