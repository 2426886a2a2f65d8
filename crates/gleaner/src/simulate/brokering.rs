//! `gleaner simulate` of a scenario of brokers and sites.

use super::{EVENTS_BETWEEN_LOOKS, Ended, Steps, advance, aligned, read_saved, what_is_kept};
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
    let scenario = BrokeringScenario::load(path, overrides)?;
    super::check_places(arguments)?;
    match arguments.seeds {
        None => run_once(arguments, &scenario),
        Some(count) => run_seeds(arguments, &scenario, count),
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

fn run_once(arguments: &SimulateArguments, scenario: &BrokeringScenario) -> Outcome {
    let (setup, rule, seed) = (&scenario.setup, scenario.recipe, scenario.seed);
    let mut run = match &arguments.resume {
        None => begin(scenario, seed)?,
        Some(file) => Brokerage::restore(setup, rule, seed, &read_saved(file)?)
            .map_err(|error| Failure::Usage(format!("--resume {}: {error}", file.display())))?,
    };
    let bar = progress::bar(setup.jobs.len() as u64, "jobs");
    let ended = advance(arguments, &mut run, &bar)?;
    bar.finish_and_clear();
    let summary = summary(scenario, seed, &run);
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
            let done = (run.finished(), setup.jobs.len());
            Err(Failure::Interrupted(what_is_kept(arguments, done, "jobs", run.now())))
        }
    }
}

fn begin(scenario: &BrokeringScenario, seed: u64) -> Result<Brokerage<'_>, Failure> {
    Brokerage::new(&scenario.setup, scenario.recipe, seed)
        .map_err(|error| Failure::Usage(format!("the scenario: {error}")))
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

/// One run; what came of it goes to a folder, if one is named.
pub(super) fn run_seed(
    scenario: &BrokeringScenario,
    seed: u64,
    out: Option<&Path>,
) -> Result<Summary, Failure> {
    let mut run = begin(scenario, seed)?;
    while (0..EVENTS_BETWEEN_LOOKS).all(|_| run.step()) {
        if interrupt::asked() {
            let done = format!("{} of {} jobs had ended", run.finished(), scenario.setup.jobs.len());
            return Err(Failure::Interrupted(format!("{done}; nothing was written")));
        }
    }
    let summary = summary(scenario, seed, &run);
    if let Some(dir) = out {
        write(dir, scenario, &run, &summary)?;
    }
    Ok(summary)
}

fn write(dir: &Path, scenario: &BrokeringScenario, run: &Brokerage<'_>, summary: &Summary) -> Outcome {
    files::write_text(dir, "jobs.csv", &table(scenario, run))?;
    files::write_json(dir, "summary.json", summary)?;
    Ok(())
}

fn summary(scenario: &BrokeringScenario, seed: u64, run: &Brokerage<'_>) -> Summary {
    let jobs = scenario.setup.jobs.iter().zip(run.records());
    let ends: Vec<(Time, Time)> =
        jobs.filter_map(|(job, record)| Some((job.arrival, record.finished?))).collect();
    let lives: Vec<f64> = ends.iter().map(|(arrival, end)| end.since(*arrival).seconds()).collect();
    Summary {
        version: 1,
        policy: scenario.policy.clone(),
        rule: scenario.recipe.to_string(),
        seed,
        jobs: scenario.setup.jobs.len(),
        unfinished: scenario.setup.jobs.len() - ends.len(),
        lifetime_mean_s: mean(&lives),
        lifetime_max_s: lives.iter().copied().reduce(f64::max),
        makespan_s: ends.iter().map(|(_, end)| end.seconds()).fold(0.0, f64::max),
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
