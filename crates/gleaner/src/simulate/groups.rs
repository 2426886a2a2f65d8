//! `gleaner simulate` of a scenario in which each group of machines has a scheduler of its own.

use super::summary::Summary;
use super::{finish, report, results};
use crate::failure::Failure;
use gleaner_sim::neighbours::{neighbours, with_timeline};
use gleaner_workload::Experiment;
use std::path::Path;

/// One run, which leaves its tables in a folder where one is named. The seed says where tasks are handed in, who knows whom
/// where that is drawn, and which letters are lost.
pub(super) fn run_seed(experiment: &Experiment, seed: u64, dir: Option<&Path>) -> Result<Summary, Failure> {
    let groups = experiment.groups.as_ref().expect("a scenario of groups");
    let setup = groups.setup(&experiment.setup, seed);
    let mut run = neighbours(&setup, |_| experiment.recipe.build());
    if dir.is_some() {
        run = with_timeline(run);
    }
    finish(|| run.step())?;
    let mut summary = Summary::of(experiment, seed, &run);
    if let Some(dir) = dir {
        results::write_run(dir, experiment, &run, &summary)?;
        summary.schedule = (seed == experiment.seed).then(|| report::schedule(experiment, &run));
    }
    Ok(summary)
}
