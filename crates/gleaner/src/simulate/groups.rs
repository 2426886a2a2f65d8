//! `gleaner simulate` of a scenario in which each group of machines has a scheduler of its own.

use super::steps::{OfParties, advance, conclude, finish, not_resumed, read_saved};
use super::summary::Summary;
use super::text::describe;
use super::{report, results};
use crate::Outcome;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use gleaner_policy::AnyPolicy;
use gleaner_sim::neighbours::{GroupsSetup, Neighbourhood, neighbours, with_timeline};
use gleaner_sim::{Parties, restore};
use gleaner_workload::Experiment;
use std::path::Path;

/// One run that can be saved.
pub(super) fn run_once(arguments: &SimulateArguments, experiment: &Experiment) -> Outcome {
    let setup = setup(experiment, experiment.seed);
    let keeps = arguments.out.is_some() || arguments.checkpoint.is_some();
    let rule = experiment.recipe.to_string();
    let parties = match &arguments.resume {
        None => begin(experiment, &setup, keeps),
        Some(file) => restore(&setup, (&rule, |_| experiment.recipe.build()), &read_saved(file)?)
            .map_err(|error| not_resumed(file, error))?,
    };
    let mut run = OfParties { parties, rule, done: |groups| groups.history().finished() };
    let reached = advance(arguments, &mut run, (setup.grid.tasks.len(), "tasks"))?;
    let summary = summary(experiment, experiment.seed, &run.parties, arguments.out.as_deref())?;
    conclude(arguments, &summary, describe(&summary, arguments.out.as_deref()), &reached)
}

/// One run of several, which leaves its tables in a folder where one is named, and its schedule in the summary if it is to be
/// drawn.
pub(super) fn run_seed(
    experiment: &Experiment,
    seed: u64,
    (dir, is_drawn): (Option<&Path>, bool),
) -> Result<Summary, Failure> {
    let setup = setup(experiment, seed);
    let mut run = begin(experiment, &setup, dir.is_some());
    finish(|| run.step())?;
    let mut summary = summary(experiment, seed, &run, dir)?;
    summary.schedule = is_drawn.then(|| report::schedule(experiment, &run));
    Ok(summary)
}

/// The seed says where tasks are handed in, who knows whom where that is drawn, and which letters are lost.
fn setup(experiment: &Experiment, seed: u64) -> GroupsSetup {
    experiment.groups.as_ref().expect("a scenario of groups").setup(&experiment.setup, seed)
}

fn begin<'a>(
    experiment: &Experiment,
    setup: &'a GroupsSetup,
    keeps: bool,
) -> Parties<'a, AnyPolicy, Neighbourhood<'a>> {
    let run = neighbours(setup, |_| experiment.recipe.build());
    if keeps { with_timeline(run) } else { run }
}

fn summary(
    experiment: &Experiment,
    seed: u64,
    run: &Parties<'_, AnyPolicy, Neighbourhood<'_>>,
    dir: Option<&Path>,
) -> Result<Summary, Failure> {
    let summary = Summary::of(experiment, seed, run);
    if let Some(dir) = dir {
        results::write_run(dir, experiment, run, &summary)?;
    }
    Ok(summary)
}
