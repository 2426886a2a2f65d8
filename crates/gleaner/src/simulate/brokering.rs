//! `gleaner simulate` of a scenario of brokers and sites.

use super::compare::{self, Measured, Metric};
use super::{Ended, Steps, advance, aligned, check_seed, finish, page, read_saved, what_is_kept};
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, progress, stdout};
use gleaner_papers::cavalieri::gantt;
use gleaner_report::Gantt;
use gleaner_report::numbers::grouped;
use gleaner_sim::brokering::Brokerage;
use gleaner_units::Time;
use gleaner_workload::BrokeringScenario;
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
    /// From a job's arrival at its broker to its end; null where none ended.
    lifetime_mean_s: Option<f64>,
    lifetime_max_s: Option<f64>,
    makespan_s: f64,
    /// What ran where, for the report of several runs.
    #[serde(skip)]
    schedule: Option<Gantt>,
}

impl Measured for Summary {
    const METRICS: &'static [Metric] = &[
        Metric { name: "lifetime_mean_s", unit: "s", decimals: 3 },
        Metric { name: "lifetime_max_s", unit: "s", decimals: 3 },
        Metric { name: "makespan_s", unit: "s", decimals: 3 },
        Metric { name: "unfinished", unit: "jobs", decimals: 1 },
    ];

    fn values(&self) -> Vec<Option<f64>> {
        let Self { lifetime_mean_s, lifetime_max_s, makespan_s, unfinished, .. } = *self;
        vec![lifetime_mean_s, lifetime_max_s, Some(makespan_s), Some(unfinished as f64)]
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
        super::check_places(arguments)?;
        return run_once(arguments, &scenarios[0]);
    }
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.policy.clone()).collect();
    let seeds = compare::seeds(arguments, scenarios[0].seed);
    compare::run(arguments, &names, seeds, |at, seed| {
        let shaken = super::shake(arguments, seed).map(|shake| scenarios[at].shaken(shake));
        let scenario = shaken.as_ref().unwrap_or(&scenarios[at]);
        run_seed(scenario, seed, compare::folder(arguments, &scenario.policy, seed).as_deref())
    })
}

fn run_once(arguments: &SimulateArguments, scenario: &BrokeringScenario) -> Outcome {
    let jobs = scenario.setup.jobs.len();
    let mut run = match &arguments.resume {
        None => begin(scenario, scenario.seed)?,
        Some(file) => go_on(scenario, file)?,
    };
    let bar = progress::bar(jobs as u64, "jobs");
    let ended = advance(arguments, &mut run, &bar)?;
    bar.finish_and_clear();
    let summary = summary(scenario, &run);
    if let Some(dir) = &arguments.out {
        write(dir, scenario, &run, &summary)?;
    }
    if arguments.json {
        stdout::print_json(&summary)?;
    } else {
        stdout::print(describe(&summary))?;
    }
    match ended {
        Ended::Whole => Ok(()),
        Ended::Interrupted => {
            let kept = what_is_kept(arguments, (run.finished(), jobs), "jobs", run.now());
            Err(Failure::Interrupted(kept))
        }
    }
}

fn begin(scenario: &BrokeringScenario, seed: u64) -> Result<Brokerage<'_>, Failure> {
    Brokerage::new(&scenario.setup, scenario.recipe, seed)
        .map_err(|error| Failure::Usage(format!("the scenario: {error}")))
}

/// Where a checkpoint left off.
fn go_on<'a>(scenario: &'a BrokeringScenario, file: &Path) -> Result<Brokerage<'a>, Failure> {
    let run = Brokerage::restore(&scenario.setup, scenario.recipe, &read_saved(file)?)
        .map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))?;
    check_seed(file, run.seed(), scenario.seed)?;
    Ok(run)
}

/// One run; what came of it goes to a folder, if one is named.
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
    let page = page::of_run(&scenario.policy, &said(summary), schedule(scenario, run));
    files::write_text(dir, "report.html", &page)?;
    files::write_json(dir, "summary.json", summary)?;
    Ok(())
}

fn schedule(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> Gantt {
    let name = |job: usize| scenario.job_names[job].clone();
    gantt(&scenario.policy, scenario.element_names.iter().cloned(), name, run.records())
}

fn summary(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> Summary {
    let jobs = scenario.setup.jobs.iter().zip(run.records());
    let ends: Vec<(Time, Time)> =
        jobs.filter_map(|(job, record)| Some((job.arrival, record.finished?))).collect();
    let lives: Vec<f64> = ends.iter().map(|(arrival, end)| end.since(*arrival).seconds()).collect();
    Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed: run.seed(),
        jobs: scenario.setup.jobs.len(),
        unfinished: scenario.setup.jobs.len() - ends.len(),
        lifetime_mean_s: mean(&lives),
        lifetime_max_s: lives.iter().copied().reduce(f64::max),
        makespan_s: ends.iter().map(|(_, end)| end.seconds()).fold(0.0, f64::max),
        schedule: None,
    }
}

/// A line each, in order of arrival; what never came is empty.
fn table(scenario: &BrokeringScenario, run: &Brokerage<'_>) -> String {
    let mut text = "job,broker,element,arrived_s,queued_s,started_s,finished_s\n".to_owned();
    for (at, record) in run.records().iter().enumerate() {
        let job = &scenario.setup.jobs[at];
        let element = record.element.map_or("", |element| &scenario.element_names[element as usize]);
        let moment = |moment: Option<Time>| moment.map_or(String::new(), |moment| moment.to_string());
        let [queued, started, finished] = [record.queued, record.started, record.finished].map(moment);
        let (name, broker, arrived) = (&scenario.job_names[at], job.broker, job.arrival);
        writeln!(text, "{name},{broker},{element},{arrived},{queued},{started},{finished}")
            .expect("a string takes all");
    }
    text
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn seconds(value: Option<f64>) -> String {
    value.map_or("no job ended".to_owned(), |value| format!("{value:.3} s"))
}

fn describe(summary: &Summary) -> String {
    aligned(said(summary))
}

fn said(summary: &Summary) -> Vec<(&'static str, String)> {
    let Summary { policy, rule, jobs, unfinished, .. } = summary;
    vec![
        ("policy", format!("{policy}: {rule}")),
        ("jobs", format!("{}, of which {} unfinished", grouped(*jobs as u64), grouped(*unfinished as u64))),
        (
            "lifetime",
            format!(
                "{} on average, {} at most",
                seconds(summary.lifetime_mean_s),
                seconds(summary.lifetime_max_s)
            ),
        ),
        ("makespan", format!("{:.3} s", summary.makespan_s)),
    ]
}
