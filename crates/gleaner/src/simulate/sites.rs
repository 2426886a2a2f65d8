//! `gleaner simulate` with a scenario of jobs over sites.

use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use gleaner_policy::PolicySpec;
use gleaner_report::numbers::{decimals, grouped};
use gleaner_sim::sites::{JobOutcome, SitesOutcome, SitesSetup, simulate};
use gleaner_workload::sites::SitesScenario;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// A run in a few numbers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SitesSummary {
    version: u32,
    policy: String,
    seed: u64,
    jobs: usize,
    unfinished: usize,
    sites: usize,
    processors: u64,
    /// Average wait time.
    wait_s: f64,
    /// Queue completion time.
    completion_s: f64,
    /// Average grid utilisation: held.
    use_share: f64,
    /// The same, computing only.
    compute_share: f64,
    response_s: f64,
    sites_a_job: f64,
    wasted_share: f64,
    refused: u64,
}

/// Several, in order of policy, then of seed.
#[derive(Clone, Debug, Serialize)]
struct Runs {
    version: u32,
    runs: Vec<SitesSummary>,
}

pub(super) fn run(arguments: &SimulateArguments) -> Outcome {
    if arguments.checkpoint.is_some() || arguments.resume.is_some() {
        return Err(Failure::Usage(
            "--checkpoint, --resume: runs over sites take seconds; expected none".to_owned(),
        ));
    }
    let scenario = arguments.scenario.as_ref().expect("a scenario where there is no log");
    let scenario = SitesScenario::load(scenario, &arguments.overrides)?;
    let policies = policies(&arguments.policy, &scenario)?;
    super::check_places(arguments)?;
    let first = arguments.seed.unwrap_or(scenario.seed);
    let seeds = first..first.saturating_add(arguments.seeds.unwrap_or(1));
    let inputs: Vec<(&PolicySpec, u64)> =
        policies.iter().flat_map(|policy| seeds.clone().map(move |seed| (policy, seed))).collect();
    let bar = progress::bar(inputs.len() as u64, "runs");
    let is_one = inputs.len() == 1;
    let runs: Result<Vec<SitesSummary>, Failure> = inputs
        .into_par_iter()
        .map(|(policy, seed)| {
            let dir = arguments.out.as_ref().map(|dir| {
                if is_one {
                    dir.clone()
                } else {
                    dir.join(policy.name().replace('/', "-")).join(format!("seed-{seed}"))
                }
            });
            let summary = run_seed(&scenario, policy, seed, dir.as_deref())?;
            bar.inc(1);
            Ok(summary)
        })
        .collect();
    bar.finish_and_clear();
    let runs = runs?;
    match (&runs[..], arguments.json) {
        ([only], true) => stdout::print_json(only),
        (_, true) => stdout::print_json(&Runs { version: 1, runs }),
        (_, false) => stdout::print(describe(&runs)),
    }
}

/// One run; what came of it goes to a folder, if one is named.
pub(super) fn run_seed(
    scenario: &SitesScenario,
    policy: &PolicySpec,
    seed: u64,
    out: Option<&Path>,
) -> Result<SitesSummary, Failure> {
    if interrupt::asked() {
        return Err(Failure::Interrupted("the runs were not all done".to_owned()));
    }
    let setup = scenario.setup(seed);
    let recipe = policy.recipe();
    let outcome = simulate(&setup, || recipe.build());
    let summary = summary(policy, seed, &setup, &outcome);
    if let Some(dir) = out {
        files::write_text(dir, "jobs.csv", &jobs(&setup, &outcome))?;
        files::write_json(dir, "summary.json", &summary)?;
    }
    Ok(summary)
}

/// Those that are named, or else the scenario's own.
pub(super) fn policies(names: &[String], scenario: &SitesScenario) -> Result<Vec<PolicySpec>, Failure> {
    let named = names.iter().map(|name| PolicySpec::preset(name));
    let named: Result<Vec<PolicySpec>, _> = named.collect();
    let mut policies = named.map_err(|error| Failure::Usage(format!("--policy: {error}")))?;
    if policies.is_empty() {
        let none = || {
            Failure::Usage("policy: found nothing; expected [policy] preset, or --policy khoo/mrs".to_owned())
        };
        policies.push(scenario.policy.clone().ok_or_else(none)?);
    }
    if let Some(other) = policies.iter().find(|policy| policy.recipe().site_rule().is_none()) {
        let found = format!("policy.preset: found {}; expected one for sites, as khoo/mrs", other.name());
        return Err(Failure::Usage(found));
    }
    Ok(policies)
}

fn summary(policy: &PolicySpec, seed: u64, setup: &SitesSetup, outcome: &SitesOutcome) -> SitesSummary {
    SitesSummary {
        version: 1,
        policy: policy.name().to_owned(),
        seed,
        jobs: outcome.jobs.len(),
        unfinished: outcome.unfinished(),
        sites: setup.sites.len(),
        processors: setup.processors(),
        wait_s: outcome.wait_s(),
        completion_s: outcome.completion_s(),
        use_share: outcome.use_share(),
        compute_share: outcome.compute_share(),
        response_s: outcome.response_s(),
        sites_a_job: outcome.parts_mean(),
        wasted_share: if outcome.held > 0.0 { outcome.wasted / outcome.held } else { 0.0 },
        refused: outcome.refused,
    }
}

/// A line a job; its parts as `site:processors`, with sites from 1.
fn jobs(setup: &SitesSetup, outcome: &SitesOutcome) -> String {
    let mut lines =
        "job,submitted_s,processors,run_s,source,data_bytes,dispatched_s,ended_s,wait_s,response_s,parts\n"
            .to_owned();
    for (number, (job, of)) in (1..).zip(setup.jobs.iter().zip(&outcome.jobs)) {
        let JobOutcome { submitted, dispatched, ended, parts, .. } = of;
        let parts: Vec<String> =
            parts.iter().map(|part| format!("{}:{}", part.on.index() + 1, part.cores)).collect();
        writeln!(
            lines,
            "{number},{:.9},{},{:.9},{},{},{:.9},{:.9},{:.9},{:.9},{}",
            submitted.seconds(),
            job.processors,
            job.run_s,
            job.source + 1,
            job.data,
            dispatched.seconds(),
            ended.seconds(),
            of.wait_s(),
            of.response_s(),
            parts.join(" ")
        )
        .expect("a string takes all");
    }
    lines
}

fn describe(runs: &[SitesSummary]) -> String {
    let mut text =
        "policy         seed  jobs  wait (s)   completion (s)  in use  response (s)  sites a job  waste\n"
            .to_owned();
    for run in runs {
        writeln!(
            text,
            "{:13}  {:4}  {:4}  {:>9}  {:>14}  {:>4} %  {:>12}  {:>11}  {:>3} %",
            run.policy,
            run.seed,
            run.jobs,
            grouped(run.wait_s.round() as u64),
            grouped(run.completion_s.round() as u64),
            decimals(100.0 * run.use_share, 1),
            grouped(run.response_s.round() as u64),
            decimals(run.sites_a_job, 2),
            decimals(100.0 * run.wasted_share, 1),
        )
        .expect("a string takes all");
    }
    text
}
