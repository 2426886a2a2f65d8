//! A job of a log: whether it starts when it comes, and if it does not, what was kept for whom then.

use super::kept::{Back, Called};
use super::length::Believed;
use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::simulate::Choice;
use crate::{Outcome, stdout};
use gleaner_policy::PolicySpec;
use gleaner_sim::Simulation;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_workload::swf::Statistics;
use gleaner_workload::{InputError, LogExperiment, PolicySource, logs, read_policy};
use serde::Serialize;
use std::path::Path;

/// What is taken where nobody says a policy.
const PRESET: &str = "queue/easy";

#[derive(Serialize)]
struct Explained<'a> {
    version: u32,
    job: &'a str,
    policy: String,
    processors: u32,
    of: u32,
    /// What all others leave free when it came, with all that happened at the same instant.
    free: u32,
    /// How many jobs have its number; it is the first of them.
    namesakes: usize,
    estimate_s: f64,
    run_s: f64,
    submitted_s: f64,
    /// None if it never starts.
    started_s: Option<f64>,
    /// None if it starts as it comes.
    held_back_by: Option<Back>,
    /// What the policy believes of its length, where that is not what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    believed: Option<Believed>,
}

/// What is set, over the usual preset.
fn policy(set: &[String]) -> Result<PolicySpec, InputError> {
    let set = set.iter().map(|set| set.strip_prefix("policy.").unwrap_or(set));
    let (presets, keys): (Vec<&str>, Vec<&str>) = set.partition(|set| set.starts_with("preset="));
    let preset = presets.last().map_or(PRESET, |set| set["preset=".len()..].trim_matches('"'));
    let keys: Vec<String> = keys.into_iter().map(str::to_owned).collect();
    read_policy(PolicySource::Preset(preset), &keys, PolicySpec::read)
}

pub(super) fn run(arguments: &ExplainArguments, job: &str) -> Outcome {
    let log = logs::load(Path::new(&arguments.subject), None)?;
    let cores = arguments.cores.unwrap_or_else(|| Statistics::cores_of(&log));
    let choice = Choice::named(&arguments.overrides, arguments.policy.as_ref())?;
    let policy = choice.load(policy)?;
    let LogExperiment { experiment, kept, .. } =
        LogExperiment::of(&log, cores, &policy, arguments.reading.reading(), 1);
    let place = experiment.task_names.iter().position(|name| name == job);
    let place = place.ok_or_else(|| {
        let log = &arguments.subject;
        Failure::Usage(format!(
            "{log} has no job {job} that {cores} processors can run; expected a job's number"
        ))
    })?;
    let (of_job, task) = (&kept.jobs[place], TaskId::new(place));
    let mut run = Simulation::new(&experiment.setup, experiment.recipe.build());
    run.run_until_submission(task);
    run.run_through_instant();
    let grid = run.scheduler().grid();
    let called = Called {
        task: &|task| experiment.task_names.id(task.index()).to_owned(),
        machine: &|_| String::new(),
    };
    let waits = grid.placed_on(task).is_none() && run.history().tasks()[place].started == Time::NEVER;
    // One that takes no time has given them back.
    let own = if grid.placed_on(task).is_some() { kept.jobs[place].processors } else { 0 };
    let free = grid.machine(MachineId::FIRST).free().slots.unwrap_or(0) + own;
    let namesakes = experiment.task_names.iter().filter(|name| *name == job).count();
    let held_back_by = if waits { Back::of(&run, task, &called) } else { None };
    let believed = Believed::of(&run, task);
    run.run();
    let started = run.history().tasks()[place].started;
    let explained = Explained {
        version: 1,
        job,
        policy: policy.name().to_owned(),
        processors: of_job.processors,
        of: cores,
        free,
        namesakes,
        estimate_s: of_job.estimate.seconds(),
        run_s: of_job.run.seconds(),
        submitted_s: of_job.submit.seconds(),
        started_s: (started != Time::NEVER).then(|| started.seconds()),
        held_back_by,
        believed,
    };
    if arguments.grid.json { stdout::print_json(&explained) } else { stdout::print(describe(&explained)) }
}

fn describe(explained: &Explained<'_>) -> String {
    let Explained { job, policy, processors, of, free, estimate_s, run_s, submitted_s, started_s, .. } =
        explained;
    let mut text = format!(
        "job {job} comes at {submitted_s} s and wants {processors} of {of} processors for {estimate_s} s, of which it takes {run_s} s\n"
    );
    if explained.namesakes > 1 {
        text += &format!("{} jobs have the number {job}; this is the first to come\n", explained.namesakes);
    }
    if let Some(believed) = &explained.believed {
        text += &format!("{}\n", believed.words());
    }
    let room = format!("{free} processors are free then");
    match (&explained.held_back_by, started_s) {
        (Some(back), _) => text += &format!("under {policy} it waits; {room}\n{}\n", back.words()),
        (None, Some(at)) if at > submitted_s => text += &format!("under {policy} it waits; {room}\n"),
        (None, _) => text += &format!("under {policy} it starts at once; {room}\n"),
    }
    match started_s {
        Some(at) if at > submitted_s => {
            text += &format!("it started at {at} s, after {} s\n", at - submitted_s);
        }
        Some(_) => {}
        None => text += "it never starts\n",
    }
    text
}
