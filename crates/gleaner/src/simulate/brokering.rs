//! `gleaner simulate` of a scenario of brokers and sites.

use super::choice::shake;
use super::compare::{self, Measure, Measured, Metric};
use super::service::{self, ServiceSummary};
use super::steps::{Steps, advance, check_places, check_seed, conclude, finish, not_resumed, read_saved};
use super::tables::field;
use super::text::{aligned, makespan};
use crate::cli::SimulateArguments;
use crate::columns::plural;
use crate::failure::Failure;
use crate::{Outcome, files};
use gleaner_papers::cavalieri::gantt;
use gleaner_report::Gantt;
use gleaner_report::numbers::grouped;
use gleaner_sim::brokering::{Brokerage, BrokeringSetup, Held, Job, JobRecord};
use gleaner_units::{MachineId, TaskClassId, Time};
use gleaner_workload::BrokeringScenario;
use gleaner_workload::swf::{Served, Services};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What came of a run.
#[derive(Serialize)]
pub(super) struct Summary {
    version: u32,
    policy: String,
    rule: String,
    seed: u64,
    jobs: usize,
    /// Jobs that found no element.
    unfinished: usize,
    /// What keeps those that came.
    held: Vec<Held>,
    #[serde(flatten)]
    service: ServiceSummary,
    makespan_s: Option<f64>,
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    schedule: Option<Gantt>,
}

impl Measured for Summary {
    fn measures(&self) -> Vec<Measure> {
        let own = [
            Metric::of("makespan_s", "s", 3, self.makespan_s),
            Metric::of("unfinished", "jobs", 1, self.unfinished as f64),
        ];
        self.service.measures().into_iter().chain(own).collect()
    }

    fn schedule(&self) -> Option<&Gantt> {
        self.schedule.as_ref()
    }
}

impl Steps for Brokerage<'_> {
    fn step(&mut self) -> bool {
        Brokerage::step(self)
    }

    fn done(&self) -> (usize, Time) {
        (self.finished(), self.now())
    }

    fn saved(&self) -> Vec<u8> {
        self.save()
    }
}

/// The scenario under each policy.
pub(super) fn run(arguments: &SimulateArguments, scenarios: &[BrokeringScenario]) -> Outcome {
    if !compare::is_wanted(arguments) {
        check_places(arguments)?;
        return run_once(arguments, &scenarios[0]);
    }
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.policy.clone()).collect();
    let seeds = compare::seeds(arguments, scenarios[0].seed)?;
    compare::run(arguments, &names, seeds, |at, seed| {
        let shaken = shake(arguments, seed).map(|shake| scenarios[at].shaken(shake));
        let scenario = shaken.as_ref().unwrap_or(&scenarios[at]);
        run_seed(scenario, seed, compare::folder(arguments, &scenario.policy, seed).as_deref())
    })
}

fn run_once(arguments: &SimulateArguments, scenario: &BrokeringScenario) -> Outcome {
    let mut run = match &arguments.resume {
        None => begin(scenario, scenario.seed)?,
        Some(file) => go_on(scenario, file)?,
    };
    let reached = advance(arguments, &mut run, (scenario.setup.jobs.len(), "jobs"))?;
    let summary = summary(scenario, &run);
    if let Some(dir) = &arguments.out {
        write(dir, scenario, &run, &summary)?;
    }
    conclude(arguments, &summary, describe(&summary, arguments.out.as_deref()), &reached)
}

fn begin(scenario: &BrokeringScenario, seed: u64) -> Result<Brokerage<'_>, Failure> {
    Brokerage::new(&scenario.setup, scenario.recipe, seed)
        .map_err(|error| Failure::Usage(format!("the scenario: {error}")))
}

/// Where a checkpoint left off.
fn go_on<'a>(scenario: &'a BrokeringScenario, file: &Path) -> Result<Brokerage<'a>, Failure> {
    let run = Brokerage::restore(&scenario.setup, scenario.recipe, &read_saved(file)?)
        .map_err(|error| not_resumed(file, error))?;
    check_seed(file, run.seed(), scenario.seed)?;
    Ok(run)
}

/// One run; its results go to a folder, if one is named.
pub(super) fn run_seed(
    scenario: &BrokeringScenario,
    seed: u64,
    out: Option<&Path>,
) -> Result<Summary, Failure> {
    let mut run = begin(scenario, seed)?;
    finish(|| run.step())?;
    let mut summary = summary(scenario, &run);
    if let Some(dir) = out {
        write(dir, scenario, &run, &summary)?;
        // Of several seeds the first stands for all.
        summary.schedule = (seed == scenario.seed).then(|| schedule(scenario, &run));
    }
    Ok(summary)
}

fn write(dir: &Path, scenario: &BrokeringScenario, run: &Brokerage<'_>, summary: &Summary) -> Outcome {
    files::write_text(dir, "jobs.csv", &table(scenario, run))?;
    let flows_s: Vec<f64> = served(scenario, run).map(|job| job.flow_s()).collect();
    let title = format!("A simulated run of brokers under {}", scenario.policy);
    let page = service::report(title, rows(summary), &flows_s, schedule(scenario, run));
    files::write_text(dir, "report.html", &page)?;
    files::write_json(dir, "summary.json", summary)?;
    Ok(())
}

fn schedule(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> Gantt {
    let name = |job: usize| scenario.job_names[job].clone();
    gantt(&scenario.policy, scenario.element_names.iter().cloned(), name, run.records())
}

fn summary(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> Summary {
    let served: Vec<Served> = served(scenario, run).collect();
    let unfinished = scenario.setup.jobs.len() - served.len();
    Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed: run.seed(),
        jobs: scenario.setup.jobs.len(),
        unfinished,
        held: run.held(),
        // What an element begins it ends.
        service: ServiceSummary::of(&Services::of(&served, 1), 0.0, "brokers").with_utilisation(utilisation(
            &scenario.setup,
            run,
            unfinished,
        )),
        makespan_s: served.iter().map(Served::end).max().map(Time::seconds),
        schedule: None,
    }
}

/// The part of the processors' time in which they were in use, from the first arrival of any job to the last end. What never
/// ended went on to the end of the run.
fn utilisation(setup: &BrokeringSetup, run: &Brokerage<'_>, unfinished: usize) -> f64 {
    let first = setup.jobs.iter().map(|job| job.arrival).min().unwrap_or_default();
    let last_end = run.records().iter().filter_map(|record| record.finished).max().unwrap_or_default();
    let last = if unfinished == 0 { last_end } else { run.now() };
    let cpus: u64 = setup.elements.iter().map(|element| u64::from(element.cpus)).sum();
    let capacity_s = last.since(first).seconds() * cpus as f64;
    let busy_s = |(job, record): (&Job, &JobRecord)| {
        let cores = setup.classes[job.class.index()].task.needs.cores;
        let seconds = |start: Time| record.finished.unwrap_or(last).since(start).seconds();
        record.started.map_or(0.0, |start| seconds(start) * f64::from(cores))
    };
    let area_s: f64 = setup.jobs.iter().zip(run.records()).map(busy_s).sum();
    if capacity_s > 0.0 { area_s / capacity_s } else { 0.0 }
}

/// The jobs that ended. Alone, one takes as long as the fastest element that it may go to needs for its operations.
fn served<'a>(scenario: &'a BrokeringScenario, run: &'a Brokerage<'_>) -> impl Iterator<Item = Served> + 'a {
    let setup = &scenario.setup;
    let grid = run.broker(0).grid();
    let elements = || (0..setup.elements.len()).map(MachineId::new);
    let fastest =
        |class| elements().map(|element| grid.seconds_per_op(class, element)).fold(f64::INFINITY, f64::min);
    let fastest: Vec<f64> = (0..setup.classes.len()).map(|class| fastest(TaskClassId::new(class))).collect();
    setup.jobs.iter().zip(run.records()).filter_map(move |(job, record)| {
        let (start, end) = (record.started?, record.finished?);
        Some(Served {
            submit: job.arrival,
            start,
            run: end.since(start),
            alone_s: job.length.amount() * fastest[job.class.index()],
            processors: setup.classes[job.class.index()].task.needs.cores,
            user: Some(job.broker as u64),
        })
    })
}

/// A line each, in order of arrival; what never came is empty.
fn table(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> String {
    let mut text = "job,broker,element,arrived_s,queued_s,started_s,finished_s\n".to_owned();
    for (at, record) in run.records().iter().enumerate() {
        let job = &scenario.setup.jobs[at];
        let element = record.element.map_or("", |element| &scenario.element_names[element as usize]);
        let element = field(element);
        let moment = |moment: Option<Time>| moment.map_or(String::new(), |moment| moment.to_string());
        let [queued, started, finished] = [record.queued, record.started, record.finished].map(moment);
        let (name, broker, arrived) = (field(&scenario.job_names[at]), job.broker, job.arrival);
        writeln!(text, "{name},{broker},{element},{arrived},{queued},{started},{finished}")
            .expect("a string takes all");
    }
    text
}

fn describe(summary: &Summary, out: Option<&Path>) -> String {
    let report = out.map(|dir| ("report", dir.join("report.html").display().to_string()));
    aligned(rows(summary).into_iter().chain(report).collect())
}

fn rows(summary: &Summary) -> Vec<(&'static str, String)> {
    let Summary { policy, rule, jobs, unfinished, .. } = summary;
    let held = summary.held.iter();
    let held = held.map(|Held { jobs, why, .. }| ("held", format!("{}: {why}", plural(*jobs as u64, "job"))));
    let first = [
        ("policy", format!("{policy}: {rule}")),
        ("jobs", format!("{}, of which {} unfinished", grouped(*jobs as u64), grouped(*unfinished as u64))),
        ("makespan", makespan(summary.makespan_s)),
    ];
    first.into_iter().chain(held).chain(summary.service.lines()).collect()
}
