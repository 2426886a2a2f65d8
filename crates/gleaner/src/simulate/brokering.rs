//! `gleaner simulate` of a scenario of brokers and sites.

use super::{EVENTS_BETWEEN_LOOKS, aligned};
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::{Outcome, files, interrupt, progress, stdout};
use gleaner_report::numbers::grouped;
use gleaner_sim::brokering::Brokerage;
use gleaner_units::Time;
use gleaner_workload::BrokeringScenario;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What came of a run.
#[derive(Serialize)]
struct Summary {
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
}

/// The same for several seeds.
#[derive(Serialize)]
struct Summaries {
    version: u32,
    policy: String,
    lifetime_mean_s: Option<f64>,
    seeds: Vec<Summary>,
}

pub(super) fn run(arguments: &SimulateArguments, path: &Path, overrides: &[String]) -> Outcome {
    if arguments.checkpoint.is_some() || arguments.resume.is_some() {
        let found = "--checkpoint, --resume: a run of brokers and sites is not saved";
        return Err(Failure::Usage(found.to_owned()));
    }
    let scenario = BrokeringScenario::load(path, overrides)?;
    super::check_places(arguments)?;
    match arguments.seeds {
        None => {
            let summary = run_seed(&scenario, scenario.seed, arguments.out.as_deref())?;
            if arguments.json { stdout::print_json(&summary) } else { stdout::print(describe(&summary)) }
        }
        Some(count) => run_seeds(arguments, &scenario, count),
    }
}

fn run_seeds(arguments: &SimulateArguments, scenario: &BrokeringScenario, count: u64) -> Outcome {
    let bar = progress::bar(count, "runs");
    let seeds: Result<Vec<Summary>, Failure> = (0..count)
        .into_par_iter()
        .map(|offset| {
            let seed = scenario.seed.saturating_add(offset);
            let dir = arguments.out.as_ref().map(|dir| dir.join(format!("seed-{seed}")));
            let summary = run_seed(scenario, seed, dir.as_deref())?;
            bar.inc(1);
            Ok(summary)
        })
        .collect();
    bar.finish_and_clear();
    let seeds = seeds?;
    let lives: Vec<f64> = seeds.iter().filter_map(|summary| summary.lifetime_mean_s).collect();
    let lifetime_mean_s = mean(&lives);
    let policy = scenario.policy.clone();
    let summaries = Summaries { version: 1, policy, lifetime_mean_s, seeds };
    if let Some(dir) = &arguments.out {
        files::write_json(dir, "summary.json", &summaries)?;
    }
    if arguments.json {
        return stdout::print_json(&summaries);
    }
    stdout::print(aligned(vec![
        ("policy", summaries.policy.clone()),
        ("runs", grouped(summaries.seeds.len() as u64)),
        ("lifetime", seconds(lifetime_mean_s) + " on average over jobs and seeds"),
    ]))
}

fn run_seed(scenario: &BrokeringScenario, seed: u64, out: Option<&Path>) -> Result<Summary, Failure> {
    let refused = |error| Failure::Usage(format!("the scenario: {error}"));
    let mut run = Brokerage::new(&scenario.setup, scenario.recipe, seed).map_err(refused)?;
    while (0..EVENTS_BETWEEN_LOOKS).all(|_| run.step()) {
        if interrupt::asked() {
            let done = format!("{} of {} jobs had ended", run.finished(), scenario.setup.jobs.len());
            return Err(Failure::Interrupted(format!("{done}; nothing was written")));
        }
    }
    let jobs = scenario.setup.jobs.iter().zip(run.records());
    let ends: Vec<(Time, Time)> =
        jobs.filter_map(|(job, record)| Some((job.arrival, record.finished?))).collect();
    let lives: Vec<f64> = ends.iter().map(|(arrival, end)| end.since(*arrival).seconds()).collect();
    let summary = Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed,
        jobs: scenario.setup.jobs.len(),
        unfinished: scenario.setup.jobs.len() - ends.len(),
        lifetime_mean_s: mean(&lives),
        lifetime_max_s: lives.iter().copied().reduce(f64::max),
        makespan_s: ends.iter().map(|(_, end)| end.seconds()).fold(0.0, f64::max),
    };
    if let Some(dir) = out {
        files::write_text(dir, "jobs.csv", &table(scenario, &run))?;
        files::write_json(dir, "summary.json", &summary)?;
    }
    Ok(summary)
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
    let Summary { policy, rule, jobs, unfinished, .. } = summary;
    aligned(vec![
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
    ])
}
