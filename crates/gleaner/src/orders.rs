//! `gleaner cancel`, `hold`, `release` and `rerun`.

use crate::api::Api;
use crate::cli::{JobOrTask, OrderArguments, RerunArguments};
use crate::columns::plural;
use crate::several::each;
use crate::{Outcome, stdout, which};
use gleaner_wire::JobId;
use gleaner_wire::api::Choice;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt;

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
    let (tasks, outcome) = each(by_job(&which::all(&grid, &arguments.of)?), |Chosen { job, tasks }| {
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

/// What was named of one job.
struct Chosen {
    job: JobId,
    /// None for the whole job.
    tasks: Vec<u32>,
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tasks[..] {
            [task] => write!(f, "{}/{task}", self.job),
            _ => write!(f, "{}", self.job),
        }
    }
}

/// The jobs named, in that order, each once.
fn by_job(named: &[JobOrTask]) -> Vec<Chosen> {
    let mut jobs: Vec<(JobId, Option<Vec<u32>>)> = Vec::new();
    let mut places: BTreeMap<JobId, usize> = BTreeMap::new();
    for &JobOrTask { job, task } in named {
        let place = *places.entry(job).or_insert_with(|| {
            jobs.push((job, Some(Vec::new())));
            jobs.len() - 1
        });
        let tasks = &mut jobs[place].1;
        match (tasks.as_mut(), task) {
            (Some(tasks), Some(task)) => tasks.push(task),
            (Some(_), None) => *tasks = None,
            (None, _) => {}
        }
    }
    jobs.into_iter().map(|(job, tasks)| Chosen { job, tasks: tasks.unwrap_or_default() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_named_as_a_whole_is_meant_as_a_whole() {
        for (named, expected) in [
            ("7", "{7: []}"),
            ("7/1 2 7/3", "{7: [1, 3], 2: []}"),
            ("7/1 7", "{7: []}"),
            ("7 7/1", "{7: []}"),
        ] {
            let parsed: Vec<JobOrTask> = named.split(' ').map(|text| text.parse().expect("a name")).collect();
            let jobs = by_job(&parsed).into_iter().map(|Chosen { job, tasks }| format!("{job}: {tasks:?}"));
            assert_eq!(format!("{{{}}}", jobs.collect::<Vec<_>>().join(", ")), expected);
        }
    }
}
