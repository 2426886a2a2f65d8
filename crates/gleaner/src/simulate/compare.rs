//! Policies beside each other: each runs with the same seeds, so that what tells them apart is the policy alone.

mod findings;
mod metric;
mod show;

pub(super) use metric::{Measure, Measured, Metric};

use super::steps::check_places;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::trials::seeds_from;
use crate::{Outcome, files, interrupt, progress, stdout};
use findings::{Findings, OfRun};
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;

/// Whether several runs are asked for.
pub(super) fn is_wanted(arguments: &SimulateArguments) -> bool {
    arguments.seeds.is_some() || arguments.policy.len() > 1
}

/// The seeds that are asked for, from the scenario's on.
pub(super) fn seeds(arguments: &SimulateArguments, first: u64) -> Result<Range<u64>, Failure> {
    seeds_from(first, arguments.seeds.unwrap_or(1))
}

/// The folder of a run, where one was named.
pub(super) fn folder(arguments: &SimulateArguments, policy: &str, seed: u64) -> Option<PathBuf> {
    let dir = arguments.out.as_ref()?;
    let policy = policy.replace(['/', ':'], "-");
    Some(match (arguments.policy.len() > 1, arguments.seeds.is_some()) {
        (true, true) => dir.join(policy).join(format!("seed-{seed}")),
        (true, false) => dir.join(policy),
        (false, true) => dir.join(format!("seed-{seed}")),
        (false, false) => dir.clone(),
    })
}

/// Runs all on all cores and shows them side by side. `policies` are as they are called; `run` is given the place of a
/// policy and a seed.
pub(super) fn run<R: Measured>(
    arguments: &SimulateArguments,
    policies: &[String],
    seeds: Range<u64>,
    run: impl Fn(usize, u64) -> Result<R, Failure> + Sync,
) -> Outcome {
    if arguments.checkpoint.is_some() || arguments.resume.is_some() {
        let found = "--policy: found several where a run is saved or goes on; expected one";
        return Err(Failure::Usage(found.to_owned()));
    }
    check_places(arguments)?;
    let inputs: Vec<(usize, u64)> =
        (0..policies.len()).flat_map(|policy| seeds.clone().map(move |seed| (policy, seed))).collect();
    let bar = progress::bar(inputs.len() as u64, "runs");
    let one = |&(policy, seed): &(usize, u64)| {
        if interrupt::asked() {
            return Ok(None);
        }
        match run(policy, seed) {
            Err(Failure::Interrupted(_)) => Ok(None),
            done => {
                bar.inc(1);
                done.map(Some)
            }
        }
    };
    let runs: Result<Vec<Option<R>>, Failure> = inputs.par_iter().map(one).collect();
    bar.finish_and_clear();
    let runs: Vec<R> = runs?.into_iter().flatten().collect();
    if runs.len() < inputs.len() {
        return Err(Failure::Interrupted(format!("{} of {} runs were done", runs.len(), inputs.len())));
    }
    let metrics: Vec<Metric> = runs[0].measures().into_iter().map(|(metric, _)| metric).collect();
    let values = |run: &R| -> OfRun { run.measures().into_iter().map(|(_, value)| value).collect() };
    let values: Vec<OfRun> = runs.iter().map(values).collect();
    let findings = Findings::of(&metrics, policies, seeds, &values);
    let document = Document { version: 1, compared: &findings, runs };
    if let Some(dir) = &arguments.out {
        let schedules = document.runs.iter().filter_map(Measured::schedule).cloned().collect();
        files::write_text(dir, "report.html", &show::report(&findings, arguments, schedules))?;
        files::write_json(dir, "summary.json", &document)?;
    }
    if arguments.json {
        stdout::print_json(&document)
    } else {
        // What is left out of a log is left out under each policy.
        let note = document.runs.first().and_then(Measured::note);
        let note = note.map_or(String::new(), |note| format!("\n{note}\n"));
        stdout::print(show::table(&findings, arguments) + &note)
    }
}

/// What `--json` prints and `summary.json` holds.
#[derive(Serialize)]
struct Document<'a, R> {
    version: u32,
    #[serde(flatten)]
    compared: &'a Findings,
    /// In order of policy, then of seed.
    runs: Vec<R>,
}
