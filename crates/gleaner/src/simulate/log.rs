//! `gleaner simulate --swf`: the rigid jobs of a log on one machine, under one policy or several.

mod allocation;
mod gantt;
mod tables;

use super::results;
use super::summary::Summary;
use super::{Ended, OfMachines, advance, aligned, start, what_is_kept_of};
use crate::cli::{OverrunArgument, SimulateArguments, SizeArgument};
use crate::failure::Failure;
use crate::{Outcome, files, progress, stdout};
use gleaner_policy::{AnyPolicy, PolicySpec};
use gleaner_report::numbers::{decimals, grouped};
use gleaner_sim::{History, Simulation};
use gleaner_units::Time;
use gleaner_workload::swf::{LeftOut, Log, Served, Services};
use gleaner_workload::{LogExperiment, Overrun, PolicySource, Reading, Size, read_policy};
use serde::Serialize;
use std::path::Path;

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
    #[serde(flatten)]
    services: Services,
}

/// Several runs of one log.
#[derive(Clone, Debug, Serialize)]
struct Comparison {
    version: u32,
    runs: Vec<LogSummary>,
}

pub(super) fn run(arguments: &SimulateArguments, file: &Path) -> Outcome {
    let log = Log::load(file)?;
    let unknown = || {
        let what = "the log's header does not say how many processors its machine has";
        Failure::Usage(format!("--cores: found nothing, and {what}; expected their number"))
    };
    let cores = arguments.log.cores.or(log.processors()).ok_or_else(unknown)?;
    let policies = policies(arguments)?;
    let one = policies.len() == 1;
    if !one && (arguments.checkpoint.is_some() || arguments.resume.is_some()) {
        let found = "--policy: found several where a run is saved or goes on; expected one";
        return Err(Failure::Usage(found.to_owned()));
    }
    super::check_places(arguments)?;
    let mut runs = Vec::new();
    for policy in &policies {
        let experiment = LogExperiment::of(&log, cores, policy, reading(arguments));
        let dir = arguments
            .out
            .as_ref()
            .map(|dir| if one { dir.clone() } else { dir.join(policy.name().replace('/', "-")) });
        runs.push(run_one(arguments, (&log, cores), &experiment, dir.as_deref())?);
    }
    match &runs[..] {
        [only] if arguments.json => stdout::print_json(only),
        [only] => stdout::print(describe(only, arguments.out.as_deref())),
        _ => {
            let comparison = Comparison { version: 1, runs };
            if let Some(dir) = &arguments.out {
                files::write_json(dir, "summary.json", &comparison)?;
            }
            if arguments.json {
                stdout::print_json(&comparison)
            } else {
                stdout::print(compare(&comparison.runs))
            }
        }
    }
}

fn reading(arguments: &SimulateArguments) -> Reading {
    let overrun = match arguments.log.overrun {
        OverrunArgument::Lengthen => Overrun::Lengthen,
        OverrunArgument::Kill => Overrun::Kill,
    };
    let size = match arguments.log.size {
        SizeArgument::Allocated => Size::Allocated,
        SizeArgument::Requested => Size::Requested,
    };
    Reading { overrun, size }
}

fn policies(arguments: &SimulateArguments) -> Result<Vec<PolicySpec>, Failure> {
    let said = &arguments.log;
    let lengths = said.lengths.as_deref().map(|name| if name == "estimate" { "declared" } else { name });
    let keys =
        [("fill", said.fill.as_deref()), ("lengths", lengths), ("correction", said.correction.as_deref())];
    let keys = keys.into_iter().filter_map(|(key, value)| Some(format!("{key}=\"{}\"", value?)));
    let set = arguments.overrides.iter().map(|set| set.strip_prefix("policy.").unwrap_or(set).to_owned());
    let overrides: Vec<String> = keys.chain(set).collect();
    let read = |name: &String| read_policy(PolicySource::Preset(name), &overrides, PolicySpec::read);
    Ok(arguments.policy.iter().map(read).collect::<Result<_, _>>()?)
}

fn run_one(
    arguments: &SimulateArguments,
    (log, cores): (&Log, u32),
    experiment: &LogExperiment,
    dir: Option<&Path>,
) -> Result<LogSummary, Failure> {
    let LogExperiment { experiment: one, kept, killed } = experiment;
    let mut run = start(arguments, one)?;
    let bar = progress::bar(one.setup.tasks.len() as u64, "jobs");
    let ended = advance(arguments, &mut OfMachines(&mut run, one.recipe.to_string()), &bar)?;
    bar.finish_and_clear();
    let served = served(experiment, run.history());
    let summary = LogSummary {
        run: Summary::of(one, one.seed, &run),
        rule: one.recipe.to_string(),
        log: log.name(),
        cores,
        left_out: kept.left_out,
        killed: killed.iter().filter(|killed| **killed).count(),
        services: Services::of(&served, cores),
    };
    if let Some(dir) = dir {
        write(dir, (log, cores), experiment, &run, &summary)?;
    }
    match ended {
        Ended::Whole => Ok(summary),
        Ended::Interrupted => Err(Failure::Interrupted(what_is_kept_of(arguments, &run))),
    }
}

/// The jobs that ended, in the order of the kept ones.
fn served(experiment: &LogExperiment, history: &History) -> Vec<Served> {
    let jobs = experiment.kept.jobs.iter().zip(history.tasks());
    let ended = jobs.filter(|(_, task)| task.finished != Time::NEVER);
    ended
        .map(|(job, task)| Served {
            submit: job.submit,
            start: task.started,
            run: task.finished - task.started,
            processors: job.processors,
            user: job.user,
        })
        .collect()
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
    files::write_file(dir, "jobs.swf", |out| tables::swf(out, log, experiment, history))?;
    files::write_file(dir, "jobs.csv", |out| tables::jobs(out, log, experiment, (history, &places)))?;
    let schedule = tables::Schedule::of(experiment, history, &summary.services, cores);
    files::write_json(dir, "schedule.json", &schedule)?;
    let figures = gantt::figures(experiment, history, (&places, cores));
    results::write_with(dir, &experiment.experiment, run, (&summary.run, summary, figures))?;
    Ok(())
}

fn describe(summary: &LogSummary, out: Option<&Path>) -> String {
    let LogSummary { run, rule, cores, left_out, killed, services, .. } = summary;
    let all = &services.all;
    let spread =
        |mean: f64, max: f64, unit: &str| format!("{mean:.3}{unit} on average, {max:.3}{unit} at most");
    let mut lines = vec![
        ("policy", format!("{}: {rule}", run.policy)),
        ("machine", format!("{cores} processors")),
        ("jobs", format!("{}, of which {} unfinished", grouped(run.tasks as u64), run.unfinished)),
        ("left out", left_out.to_string()),
        ("makespan", format!("{:.3} s", run.makespan_s)),
        ("wait", spread(all.wait_s.mean, all.wait_s.max, " s")),
        ("flow time", spread(all.flow_s.mean, all.flow_s.max, " s")),
        ("slowdown", spread(all.bounded_slowdown.mean, all.bounded_slowdown.max, "") + ", bounded at 10 s"),
        ("utilisation", format!("{:.2} %", 100.0 * all.utilisation)),
    ];
    if *killed > 0 {
        lines.push(("stopped", format!("{} jobs at their estimates", grouped(*killed as u64))));
    }
    lines.extend(out.map(|dir| ("report", dir.join("report.html").display().to_string())));
    aligned(lines)
}

fn compare(runs: &[LogSummary]) -> String {
    let header = ["policy", "mean wait", "mean flow", "mean bounded slowdown", "largest", "utilisation"];
    let rows = runs.iter().map(|run| {
        let all = &run.services.all;
        [
            run.run.policy.clone(),
            decimals(all.wait_s.mean, 1) + " s",
            decimals(all.flow_s.mean, 1) + " s",
            decimals(all.bounded_slowdown.mean, 3),
            decimals(all.bounded_slowdown.max, 1),
            decimals(100.0 * all.utilisation, 2) + " %",
        ]
    });
    let rows: Vec<[String; 6]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}
