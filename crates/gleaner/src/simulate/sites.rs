//! `gleaner simulate` with a scenario of jobs over sites.

use super::compare::{self, Measure, Measured, Metric};
use super::service::{self, ServiceSummary};
use super::steps::{OfParties, advance, check_places, conclude, not_resumed, read_saved};
use super::tables::{Moment, field};
use super::text::aligned;
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files};
use gleaner_core::Part;
use gleaner_papers::khoo::gantt;
use gleaner_policy::PolicySpec;
use gleaner_report::Gantt;
use gleaner_report::numbers::{decimals, grouped};
use gleaner_sim::restore;
use gleaner_sim::sites::{SitesOutcome, SitesSetup, SitesWorld, parties, simulate};
use gleaner_units::{Span, Time};
use gleaner_workload::sites::SitesScenario;
use gleaner_workload::swf::{Served, Services};
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
    /// The work of the jobs as they are, divided by what all sites could do while jobs came.
    offered_load: Option<f64>,
    /// Of jobs: each begins when the first of its copies is dispatched.
    #[serde(flatten)]
    service: ServiceSummary,
    /// Queue completion time.
    completion_s: f64,
    /// As utilisation, computing only.
    compute_share: f64,
    sites_a_job: f64,
    refused: u64,
    /// Between meta-schedulers and sites.
    letters: u64,
    /// Requirements of jobs that sites were told of as they were asked what they have.
    requirements_told: u64,
    /// And those that they knew already then.
    requirements_known: u64,
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    schedule: Option<Gantt>,
}

impl Measured for SitesSummary {
    fn measures(&self) -> Vec<Measure> {
        let own = [
            Metric::of("completion_s", "s", 0, self.completion_s),
            Metric::of("compute_share", "", 3, self.compute_share),
            Metric::of("sites_a_job", "", 2, self.sites_a_job),
            Metric::of("unfinished", "jobs", 1, self.unfinished as f64),
            Metric::of("letters", "", 0, self.letters as f64),
        ];
        self.service.measures().into_iter().chain(own).collect()
    }

    fn schedule(&self) -> Option<&Gantt> {
        self.schedule.as_ref()
    }
}

/// Arrivals are moved by nothing.
pub(super) fn check_shake(shake: Option<Span>) -> Outcome {
    match shake {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(
            "--shake: jobs over sites come when they are drawn to, or when their table says; expected none"
                .to_owned(),
        )),
    }
}

/// The scenario under each policy.
pub(super) fn run(arguments: &SimulateArguments, scenarios: &[SitesScenario]) -> Outcome {
    check_shake(arguments.shake)?;
    let policies: Vec<&PolicySpec> = scenarios.iter().map(policy).collect::<Result<_, _>>()?;
    let one = |at: usize, seed: u64| run_one(arguments, &scenarios[at], policies[at], seed);
    if compare::is_wanted(arguments) {
        let names: Vec<String> = policies.iter().map(|policy| policy.name().to_owned()).collect();
        let seeds = compare::seeds(arguments, scenarios[0].seed)?;
        return compare::run(arguments, &names, seeds, one);
    }
    check_places(arguments)?;
    run_once(arguments, &scenarios[0], policies[0])
}

/// One run that can be saved.
fn run_once(arguments: &SimulateArguments, scenario: &SitesScenario, policy: &PolicySpec) -> Outcome {
    let (setup, recipe) = (scenario.setup(scenario.seed)?, policy.recipe());
    let rule = recipe.to_string();
    let parties = match &arguments.resume {
        None => parties(&setup, &mut || recipe.build()),
        Some(file) => restore(&setup, (&rule, |_| recipe.build()), &read_saved(file)?)
            .map_err(|error| not_resumed(file, error))?,
    };
    let mut run = OfParties { parties, rule, done: SitesWorld::ended };
    let reached = advance(arguments, &mut run, (setup.jobs.len(), "jobs"))?;
    // Tables and summaries are of whole runs.
    reached.check_whole(arguments, None)?;
    let outcome = run.parties.outside().outcome();
    let summary = finished(scenario, policy, (scenario.seed, &setup, &outcome), arguments.out.as_deref())?;
    conclude(arguments, &summary, describe(&summary, arguments.out.as_deref()), &reached)
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

/// One run; its results go to a folder, if one is named.
pub(super) fn run_seed(
    scenario: &SitesScenario,
    policy: &PolicySpec,
    seed: u64,
    out: Option<&Path>,
) -> Result<SitesSummary, Failure> {
    let setup = scenario.setup(seed)?;
    let recipe = policy.recipe();
    let outcome = simulate(&setup, || recipe.build());
    finished(scenario, policy, (seed, &setup, &outcome), out)
}

/// What came of a run; its tables go to a folder, if one is named.
fn finished(
    scenario: &SitesScenario,
    policy: &PolicySpec,
    (seed, setup, outcome): (u64, &SitesSetup, &SitesOutcome),
    out: Option<&Path>,
) -> Result<SitesSummary, Failure> {
    let mut summary = summary(policy, seed, setup, outcome);
    if let Some(dir) = out {
        let schedule = gantt((scenario, setup), policy.name(), outcome);
        // Of several seeds the first stands for all.
        summary.schedule = (seed == scenario.seed).then(|| schedule.clone());
        files::write_text(dir, "jobs.csv", &jobs(scenario, setup, outcome))?;
        let flows_s: Vec<f64> = served(setup, outcome).iter().map(Served::flow_s).collect();
        let title = format!("A simulated run of jobs over sites under {}", policy.name());
        files::write_text(dir, "report.html", &service::report(title, rows(&summary), &flows_s, schedule))?;
        files::write_json(dir, "summary.json", &summary)?;
    }
    Ok(summary)
}

pub(super) fn policy(scenario: &SitesScenario) -> Result<&PolicySpec, Failure> {
    let none =
        || Failure::Usage("policy: found nothing; expected [policy] preset, or --policy khoo/mrs".to_owned());
    let policy = scenario.policy.as_ref().ok_or_else(none)?;
    let Some(rule) = policy.recipe().site_rule() else {
        let found = format!("policy.preset: found {}; expected one for sites, as khoo/mrs", policy.name());
        return Err(Failure::Usage(found));
    };
    // Whoever waits for less hears no answer, and asks for ever.
    let there_and_back = 2.0 * scenario.protocol.delay.seconds();
    if there_and_back > 0.0 && rule.patience_s <= there_and_back {
        let found = rule.patience_s;
        let found = format!(
            "policy.sites.patience_s: found {found}; expected more than {there_and_back} s, the time to a site and back"
        );
        return Err(Failure::Usage(found));
    }
    Ok(policy)
}

fn summary(policy: &PolicySpec, seed: u64, setup: &SitesSetup, outcome: &SitesOutcome) -> SitesSummary {
    let held = outcome.used.held;
    let lost_share = if held > 0.0 { outcome.wasted / held } else { 0.0 };
    SitesSummary {
        version: 1,
        policy: policy.name().to_owned(),
        seed,
        jobs: outcome.jobs.len(),
        unfinished: outcome.unfinished(),
        sites: setup.sites.len(),
        processors: setup.processors(),
        offered_load: setup.offered_load(),
        service: ServiceSummary::of(&Services::of(&served(setup, outcome), 1), lost_share, "sites")
            .with_utilisation(outcome.use_share()),
        completion_s: outcome.completion_s(),
        compute_share: outcome.compute_share(),
        sites_a_job: outcome.parts_mean(),
        refused: outcome.refused,
        letters: outcome.letters,
        requirements_told: outcome.requirements.0,
        requirements_known: outcome.requirements.1,
        schedule: None,
    }
}

/// The jobs that ended. Whose one is says the site that handed it in.
fn served(setup: &SitesSetup, outcome: &SitesOutcome) -> Vec<Served> {
    let ended = setup.jobs.iter().zip(&outcome.jobs).filter(|(_, of)| of.ended != Time::NEVER);
    let served = ended.map(|(job, of)| Served {
        submit: of.submitted,
        start: of.dispatched,
        run: of.ended.since(of.dispatched),
        alone_s: setup.alone_s(job),
        processors: job.processors,
        user: Some(job.source as u64),
    });
    served.collect()
}

/// A line a job; its parts as `site:processors`. What did not come is empty.
fn jobs(scenario: &SitesScenario, setup: &SitesSetup, outcome: &SitesOutcome) -> String {
    let mut lines =
        "job,submitted_s,processors,run_s,source,data_bytes,dispatched_s,ended_s,wait_s,response_s,parts\n"
            .to_owned();
    for (index, (job, of)) in setup.jobs.iter().zip(&outcome.jobs).enumerate() {
        let part = |part: &Part| format!("{}:{}", scenario.site_name(part.on.index()), part.cores);
        let since = |at: Time| Some(at.since(of.submitted).seconds()).filter(|_| at < Time::NEVER);
        let seconds = |at| since(at).map_or(String::new(), |seconds| format!("{seconds:.9}"));
        let (name, source) = (scenario.job_name(index), scenario.site_name(job.source));
        writeln!(
            lines,
            "{},{:.9},{},{:.9},{},{},{},{},{},{},{}",
            field(&name),
            of.submitted.seconds(),
            job.processors,
            job.run_s,
            field(&source),
            job.data,
            Moment(of.dispatched),
            Moment(of.ended),
            seconds(of.dispatched),
            seconds(of.ended),
            field(&of.parts.iter().map(part).collect::<Vec<_>>().join(" "))
        )
        .expect("a string takes all");
    }
    lines
}

fn rows(run: &SitesSummary) -> Vec<(&'static str, String)> {
    let first = [
        ("policy", run.policy.clone()),
        ("jobs", format!("{}, of which {} unfinished", run.jobs, run.unfinished)),
        ("sites", format!("{} with {} processors", run.sites, grouped(run.processors))),
        ("completion", grouped(run.completion_s.round() as u64) + " s"),
        ("computing", decimals(100.0 * run.compute_share, 2) + " %"),
        ("sites a job", decimals(run.sites_a_job, 2)),
        ("letters", format!("{}; {} reservations refused", grouped(run.letters), grouped(run.refused))),
    ];
    let (told, known) = (run.requirements_told, run.requirements_known);
    let told = (told > 0)
        .then(|| ("requirements", format!("{} told, {} known already", grouped(told), grouped(known))));
    let load = run.offered_load.map(|load| {
        ("offered load", decimals(100.0 * load, 1) + " % of what the sites could do while jobs came")
    });
    first.into_iter().chain(load).chain(told).chain(run.service.lines()).collect()
}

fn describe(run: &SitesSummary, out: Option<&Path>) -> String {
    let report = out.map(|dir| ("report", dir.join("report.html").display().to_string()));
    aligned(rows(run).into_iter().chain(report).collect())
}
