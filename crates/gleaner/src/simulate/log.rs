//! `gleaner simulate --swf`: the rigid jobs of a log on one machine, under one policy or several.

mod allocation;
mod gantt;
mod tables;
mod users;

use super::choice::{self, choices, shake};
use super::compare::{self, Measure, Measured, Metric};
use super::report::More;
use super::results;
use super::service::ServiceSummary;
use super::steps::{OfMachines, advance, check_places, conclude, finish, start};
use super::summary::Summary;
use super::text::{aligned, makespan};
use crate::cli::SimulateArguments;
use crate::failure::Failure;
use crate::trials::Numbers;
use crate::{Outcome, files};
use gleaner_policy::{AnyPolicy, PolicySpec};
use gleaner_report::numbers::{self, grouped};
use gleaner_sim::Simulation;
use gleaner_workload::swf::{Kept, LeftOut, Log, Services};
use gleaner_workload::{InputError, LogExperiment, PolicySource, Reading, read_policy};
use serde::Serialize;
use std::path::Path;

/// The log with the waits.
const JOBS_SWF: &str = "jobs.swf";

/// A run of a log in a few numbers.
#[derive(Clone, Debug, Serialize)]
struct LogSummary {
    #[serde(flatten)]
    run: Summary,
    /// The policy with all that was said of it.
    rule: String,
    /// The log's file.
    log: String,
    /// The machine's processors.
    cores: u32,
    /// The jobs of the log that no such machine can run.
    left_out: LeftOut,
    /// Jobs that were stopped at their estimates.
    killed: usize,
    /// Each user; what is so of all together stands in the run's own numbers.
    #[serde(flatten)]
    services: Services,
}

impl Measured for LogSummary {
    fn measures(&self) -> Vec<Measure> {
        measures(&self.run.service, self.run.unfinished)
    }

    fn note(&self) -> Option<String> {
        let left_out = self.left_out;
        (left_out.count() > 0).then(|| format!("left out of the log: {left_out}"))
    }
}

fn measures(service: &ServiceSummary, unfinished: usize) -> Vec<Measure> {
    let unfinished = Metric::of("unfinished", "jobs", 1, unfinished as f64);
    service.measures().into_iter().chain([unfinished]).collect()
}

/// The processors of a log's machine: as many as were said, or as its header says.
pub(crate) fn log_processors(log: &Log, said: Option<u32>) -> Result<u32, Failure> {
    said.or(log.processors()).ok_or_else(|| {
        let what = "the log's header does not say how many processors its machine has";
        Failure::Usage(format!("--cores: found nothing, and {what}; expected their number"))
    })
}

pub(super) fn run(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let log = gleaner_workload::logs::load(file, None)?;
    let cores = log_processors(&log, arguments.log.cores)?;
    // That none is named twice.
    choices(arguments)?;
    let policies = policies(arguments)?;
    let of = |policy: &PolicySpec, seed| {
        let reading = Reading { shake: shake(arguments, seed), ..arguments.log.reading.reading() };
        LogExperiment::of(&log, cores, policy, reading, seed)
    };
    let seed = arguments.seed.unwrap_or(1);
    let experiment = of(&policies[0], seed);
    check_some_fit(file, cores, &experiment.kept)?;
    if compare::is_wanted(arguments) {
        let names: Vec<String> = policies.iter().map(|policy| policy.name().to_owned()).collect();
        let seeds = compare::seeds(arguments, seed)?;
        return compare::run(arguments, &names, seeds, |at, seed| {
            let dir = compare::folder(arguments, &names[at], seed);
            let (experiment, dir) = (of(&policies[at], seed), dir.as_deref());
            let mut run = begin(arguments, &experiment, dir)?;
            finish(|| run.step())?;
            finished((&log, cores), (&experiment, dir), &run)
        });
    }
    check_places(arguments)?;
    let (one, dir) = (&experiment.experiment, arguments.out.as_deref());
    let mut run = begin(arguments, &experiment, dir)?;
    let jobs = (one.setup.tasks.len(), "jobs");
    let reached = advance(arguments, &mut OfMachines(&mut run, one.recipe.to_string()), jobs)?;
    let summary = finished((&log, cores), (&experiment, dir), &run)?;
    reached.check_whole(arguments, dir)?;
    conclude(arguments, &summary, describe(&summary, dir), &reached)
}

/// A log of which no job can run is a mistake.
pub(crate) fn check_some_fit(file: &Path, cores: u32, kept: &Kept) -> Outcome {
    if kept.jobs.is_empty() {
        let (file, left_out) = (file.display(), kept.left_out);
        return Err(Failure::Usage(format!(
            "{file}: found no job that can run on {cores} processors: {left_out}; expected one, or more --cores"
        )));
    }
    Ok(())
}

/// A run of a log in the numbers that policies are held against each other by.
pub(crate) fn log_numbers(experiment: &LogExperiment, cores: u32) -> Result<Numbers, Failure> {
    let one = &experiment.experiment;
    let mut run = Simulation::new(&one.setup, one.recipe.build()).with_seed(one.seed);
    finish(|| run.step())?;
    let services = Services::of(&experiment.served(run.history()), cores.into());
    let service = ServiceSummary::of(&services, experiment.lost_share(run.history()), "users");
    let measures = measures(&service, run.history().unfinished()).into_iter();
    Ok(Numbers::named(measures.map(|(metric, number)| (metric.name, number))))
}

/// Each policy with what was said of all. Of several, one that cannot use one of the options goes without it.
fn policies(arguments: &SimulateArguments) -> Result<Vec<PolicySpec>, Failure> {
    let said = &arguments.log;
    let lengths = said.lengths.as_deref().map(|name| if name == "estimate" { "declared" } else { name });
    let options =
        [("fill", said.fill.as_deref()), ("lengths", lengths), ("correction", said.correction.as_deref())];
    let options: Vec<(&str, &str)> =
        options.into_iter().filter_map(|(option, value)| Some((option, value?))).collect();
    let set = arguments.overrides.iter().map(|set| set.strip_prefix("policy.").unwrap_or(set).to_owned());
    let set: Vec<String> = set.collect();
    let sets =
        |key: &str| set.iter().any(|set| set.split_once('=').is_some_and(|(set, _)| set.trim() == key));
    if let Some((option, _)) = options.iter().find(|(option, _)| sets(option)) {
        let found = format!("--{option}: found policy.{option} in --set too; expected it once");
        return Err(Failure::Usage(found));
    }
    let mut policies = Vec::new();
    // Of each option the policies that cannot use it, by why.
    let mut refused: Vec<Vec<InputError>> = vec![Vec::new(); options.len()];
    for name in &arguments.policy {
        policies.push(with_options(name, &options, &set, &mut refused)?);
    }
    match refused.into_iter().find(|refused| refused.len() == policies.len()) {
        Some(mut refused) => Err(refused.swap_remove(0).into()),
        None => Ok(policies),
    }
}

/// A policy with the options that it can use; why it cannot use another is added to what is `refused` of that.
fn with_options(
    name: &str,
    options: &[(&str, &str)],
    set: &[String],
    refused: &mut [Vec<InputError>],
) -> Result<PolicySpec, InputError> {
    let (preset, own) = choice::parts(name);
    let own: Vec<&str> = own.collect();
    let mut left: Vec<usize> = (0..options.len()).collect();
    loop {
        let key = |(option, value): (&str, &str)| format!("{option}=\"{value}\"");
        let keys = left.iter().map(|at| key(options[*at]));
        let settings = own.iter().map(|&setting| setting.to_owned());
        let overrides: Vec<String> = keys.chain(set.iter().cloned()).chain(settings).collect();
        let error = match read_policy(PolicySource::Preset(preset), &overrides, PolicySpec::read) {
            Ok(policy) => return Ok(policy.called(name)),
            Err(error) => error,
        };
        if own.iter().any(|setting| error.file == format!("--set {setting}")) {
            return Err(InputError { file: format!("--policy {name}"), ..error });
        }
        let is_said = |at: &usize| error.file == format!("--set {}", key(options[*at]));
        let Some(place) = left.iter().position(is_said) else { return Err(error) };
        let at = left.remove(place);
        let (option, value) = options[at];
        refused[at].push(in_words_of_the_line((option, value), error));
    }
}

/// An error of an option in the option's words: users' estimates are `estimate` here, and `declared` as a policy's key.
fn in_words_of_the_line((option, value): (&str, &str), error: InputError) -> InputError {
    let estimate =
        |text: String| if option == "lengths" { text.replace("declared", "estimate") } else { text };
    InputError {
        file: format!("--{option} {}", estimate(value.to_owned())),
        expected: estimate(error.expected),
        ..error
    }
}

/// A run of a log, whose results may go to a folder.
fn begin<'a>(
    arguments: &SimulateArguments,
    experiment: &'a LogExperiment,
    dir: Option<&Path>,
) -> Result<Simulation<'a, AnyPolicy>, Failure> {
    if let (Some(dir), Some(read)) = (dir, &arguments.log.swf) {
        files::check_is_not_read("--out", &dir.join(JOBS_SWF), read)?;
    }
    start(arguments, &experiment.experiment)
}

/// What came of it so far.
fn finished(
    (log, cores): (&Log, u32),
    (experiment, dir): (&LogExperiment, Option<&Path>),
    run: &Simulation<'_, AnyPolicy>,
) -> Result<LogSummary, Failure> {
    let LogExperiment { experiment: one, kept, killed } = experiment;
    let served = experiment.served(run.history());
    let services = Services::of(&served, cores.into());
    let service = ServiceSummary::of(&services, experiment.lost_share(run.history()), "users");
    let summary = LogSummary {
        run: Summary { service, ..Summary::of(one, one.seed, run).since_the_first_submission(one) },
        rule: one.recipe.to_string(),
        log: log.name(),
        cores,
        left_out: kept.left_out,
        killed: killed.iter().filter(|killed| **killed).count(),
        services,
    };
    if let Some(dir) = dir {
        write(dir, (log, cores), experiment, run, &summary)?;
    }
    Ok(summary)
}

fn write(
    dir: &Path,
    (log, cores): (&Log, u32),
    experiment: &LogExperiment,
    run: &Simulation<'_, AnyPolicy>,
    summary: &LogSummary,
) -> Outcome {
    let history = run.history();
    let places = allocation::of(experiment, history, cores);
    files::write_file(dir, JOBS_SWF, |out| tables::swf(out, log, experiment, history))?;
    files::write_file(dir, "jobs.csv", |out| tables::jobs(out, log, experiment, (history, &places)))?;
    let numbers = tables::schedule((experiment, history), &summary.services, cores);
    files::write_file(dir, "schedule.csv", |out| numbers.write_csv(out))?;
    files::write_file(dir, "schedule.json", |out| numbers.write_json(out))?;
    files::write_file(dir, "users.csv", |out| users::table(out, &summary.services))?;
    let mut figures = gantt::figures(experiment, history, (&places, cores));
    figures.push(users::figure(&summary.services));
    let tables = vec![users::listed(&summary.services)];
    let schedule = gantt::schedule(experiment, history, (&places, cores), &summary.run.policy);
    let more = More { lead: Some(lead(summary)), rows: rows(summary), schedule, figures, tables };
    Ok(results::write_with(dir, &experiment.experiment, run, (&summary.run, summary), more)?)
}

/// What the page begins with.
fn lead(summary: &LogSummary) -> String {
    let LogSummary { run, log, cores, left_out, .. } = summary;
    let count = left_out.count();
    let without = if count > 0 { format!(" Left out of the log: {left_out}.") } else { String::new() };
    let ended = run.makespan_s.map_or("none ended".to_owned(), |seconds| {
        format!("the last one ended {} after the first submission", numbers::seconds(seconds))
    });
    let (jobs, cores) = (grouped(run.tasks as u64), grouped(u64::from(*cores)));
    format!("{jobs} jobs of {log} on a machine of {cores} processors; {ended}.{without}")
}

/// What its table says besides.
fn rows(summary: &LogSummary) -> Vec<(&'static str, String)> {
    vec![
        ("log", summary.log.clone()),
        ("processors", grouped(u64::from(summary.cores))),
        ("left out of the log", summary.left_out.to_string()),
    ]
}

fn describe(summary: &LogSummary, out: Option<&Path>) -> String {
    let LogSummary { run, rule, cores, left_out, killed, .. } = summary;
    let mut lines = vec![
        ("policy", format!("{}: {rule}", run.policy)),
        ("machine", format!("{cores} processors")),
        ("jobs", format!("{}, of which {} unfinished", grouped(run.tasks as u64), run.unfinished)),
        ("left out", left_out.to_string()),
        ("makespan", makespan(run.makespan_s)),
    ];
    lines.extend(run.service.lines());
    if *killed > 0 {
        lines.push(("stopped", format!("{} jobs at their estimates", grouped(*killed as u64))));
    }
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}
