//! `gleaner cancel`, `hold`, `release` and `rerun`.

use crate::api::Api;
use crate::cli::{JobOrTask, OrderArguments, RerunArguments};
use crate::columns::plural;
use crate::{Outcome, stdout, which};
use gleaner_wire::JobId;
use gleaner_wire::api::Choice;
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn cancel(arguments: &OrderArguments) -> Outcome {
    carry_out(arguments, ("cancel", "all of them are over, or about to be"), &Choice::default())
}

pub(crate) fn hold(arguments: &OrderArguments) -> Outcome {
    carry_out(arguments, ("hold", "all of them are held or over"), &Choice::default())
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
    let mut tasks = 0;
    for (job, chosen) in by_job(&which::all(&grid, &arguments.of)?) {
        tasks += grid.order(job, order, &Choice { tasks: chosen, ..choice.clone() })?.tasks;
    }
    if arguments.grid.json {
        return stdout::print_json(&json!({ "version": 1, "tasks": tasks }));
    }
    let why = if tasks == 0 { format!(": {why}") } else { String::new() };
    stdout::print(format!("{order}: {}{why}\n", plural(u64::from(tasks), "task")))
}

/// The tasks named of each job; none where the whole job was named.
fn by_job(named: &[JobOrTask]) -> BTreeMap<JobId, Vec<u32>> {
    let mut jobs: BTreeMap<JobId, Option<Vec<u32>>> = BTreeMap::new();
    for &JobOrTask { job, task } in named {
        let tasks = jobs.entry(job).or_insert_with(|| Some(Vec::new()));
        match (tasks.as_mut(), task) {
            (Some(tasks), Some(task)) => tasks.push(task),
            (Some(_), None) => *tasks = None,
            (None, _) => {}
        }
    }
    jobs.into_iter().map(|(job, tasks)| (job, tasks.unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_named_as_a_whole_is_meant_as_a_whole() {
        for (named, expected) in [
            ("7", "{7: []}"),
            ("7/1 7/3 2", "{2: [], 7: [1, 3]}"),
            ("7/1 7", "{7: []}"),
            ("7 7/1", "{7: []}"),
        ] {
            let parsed: Vec<JobOrTask> = named.split(' ').map(|text| text.parse().expect("a name")).collect();
            let jobs: BTreeMap<u32, Vec<u32>> =
                by_job(&parsed).into_iter().map(|(job, tasks)| (job.0, tasks)).collect();
            assert_eq!(format!("{jobs:?}"), expected);
        }
    }
}
