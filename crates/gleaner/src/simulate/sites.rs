//! `gleaner simulate` with a scenario of jobs over sites.

use super::compare::{self, Measured, Metric};
use super::page;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, stdout};
use gleaner_papers::khoo::gantt;
use gleaner_policy::PolicySpec;
use gleaner_report::Gantt;
use gleaner_report::numbers::{decimals, grouped};
use gleaner_sim::sites::{JobOutcome, SitesOutcome, SitesSetup, simulate};
use gleaner_workload::sites::SitesScenario;
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
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    schedule: Option<Gantt>,
}

impl Measured for SitesSummary {
    const METRICS: &'static [Metric] = &[
        Metric { name: "wait_s", unit: "s", decimals: 0 },
        Metric { name: "completion_s", unit: "s", decimals: 0 },
        Metric { name: "use_share", unit: "", decimals: 3 },
        Metric { name: "compute_share", unit: "", decimals: 3 },
        Metric { name: "response_s", unit: "s", decimals: 0 },
        Metric { name: "sites_a_job", unit: "", decimals: 2 },
        Metric { name: "wasted_share", unit: "", decimals: 3 },
        Metric { name: "unfinished", unit: "jobs", decimals: 1 },
    ];

    fn values(&self) -> Vec<Option<f64>> {
        let Self { wait_s, completion_s, use_share, compute_share, response_s, sites_a_job, .. } = *self;
        let (wasted, unfinished) = (self.wasted_share, self.unfinished as f64);
        let all =
            [wait_s, completion_s, use_share, compute_share, response_s, sites_a_job, wasted, unfinished];
        all.map(Some).into()
    }

    fn schedule(&self) -> Option<&Gantt> {
        self.schedule.as_ref()
    }
}

/// The scenario under each policy.
pub(super) fn run(arguments: &SimulateArguments, scenarios: &[SitesScenario]) -> Outcome {
    if arguments.shake.is_some() {
        let found = "--shake: jobs over sites are drawn for each seed; expected none";
        return Err(Failure::Usage(found.to_owned()));
    }
    super::refuse_saving(arguments, "runs over sites that are drawn")?;
    let policies: Vec<&PolicySpec> = scenarios.iter().map(policy).collect::<Result<_, _>>()?;
    let one = |at: usize, seed: u64| run_one(arguments, &scenarios[at], policies[at], seed);
    if compare::is_wanted(arguments) {
        let names: Vec<String> = policies.iter().map(|policy| policy.name().to_owned()).collect();
        let seeds = compare::seeds(arguments, scenarios[0].seed);
        return compare::run(arguments, &names, seeds, one);
    }
    super::check_places(arguments)?;
    let summary = one(0, scenarios[0].seed)?;
    if arguments.json { stdout::print_json(&summary) } else { stdout::print(describe(&summary)) }
}

fn run_one(
    arguments: &SimulateArguments,
    scenario: &SitesScenario,
    policy: &PolicySpec,
    seed: u64,
) -> Result<SitesSummary, Failure> {
    let dir = compare::folder(arguments, policy.name(), seed);
    run_seed(scenario, policy, seed, dir.as_deref())
}

/// One run; what came of it goes to a folder, if one is named.
pub(super) fn run_seed(
    scenario: &SitesScenario,
    policy: &PolicySpec,
    seed: u64,
    out: Option<&Path>,
) -> Result<SitesSummary, Failure> {
    let setup = scenario.setup(seed);
    let recipe = policy.recipe();
    let outcome = simulate(&setup, || recipe.build());
    let mut summary = summary(policy, seed, &setup, &outcome);
    if let Some(dir) = out {
        let schedule = gantt(&setup, policy.name(), &outcome);
        files::write_text(
            dir,
            "report.html",
            &page::of_run(policy.name(), &said(&summary), schedule.clone()),
        )?;
        // Of several seeds the first stands for all.
        summary.schedule = (seed == scenario.seed).then_some(schedule);
        files::write_text(dir, "jobs.csv", &jobs(&setup, &outcome))?;
        files::write_json(dir, "summary.json", &summary)?;
    }
    Ok(summary)
}

pub(super) fn policy(scenario: &SitesScenario) -> Result<&PolicySpec, Failure> {
    let none =
        || Failure::Usage("policy: found nothing; expected [policy] preset, or --policy khoo/mrs".to_owned());
    let policy = scenario.policy.as_ref().ok_or_else(none)?;
    if policy.recipe().site_rule().is_none() {
        let found = format!("policy.preset: found {}; expected one for sites, as khoo/mrs", policy.name());
        return Err(Failure::Usage(found));
    }
    Ok(policy)
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
        schedule: None,
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

fn describe(run: &SitesSummary) -> String {
    super::aligned(said(run))
}

fn said(run: &SitesSummary) -> Vec<(&'static str, String)> {
    let seconds = |value: f64| grouped(value.round() as u64) + " s";
    let share = |value: f64| decimals(100.0 * value, 1) + " %";
    vec![
        ("policy", run.policy.clone()),
        ("jobs", format!("{}, of which {} unfinished", run.jobs, run.unfinished)),
        ("sites", format!("{} with {} processors", run.sites, grouped(run.processors))),
        ("wait", seconds(run.wait_s)),
        ("completion", seconds(run.completion_s)),
        ("in use", format!("{}, computing {}", share(run.use_share), share(run.compute_share))),
        ("response", seconds(run.response_s)),
        ("sites a job", decimals(run.sites_a_job, 2)),
        ("waste", share(run.wasted_share)),
    ]
}
