//! What became of a log's jobs, as a log, and in Batsim's columns, which evalys draws.

use super::allocation::{self, Processors};
use gleaner_sim::{History, TaskHistory};
use gleaner_units::Time;
use gleaner_workload::LogExperiment;
use gleaner_workload::swf::{Log, Services, with_field};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The field of a log's line that has the wait.
const WAIT: usize = 3;

/// The log's own lines of the jobs that ran, with their waits filled in.
pub(super) fn swf(
    out: &mut dyn Write,
    log: &Log,
    experiment: &LogExperiment,
    history: &History,
) -> io::Result<()> {
    let mut waits: Vec<Option<f64>> = vec![None; log.jobs().len()];
    for (job, task) in experiment.kept.jobs.iter().zip(history.tasks()) {
        waits[job.place] = (task.started != Time::NEVER).then(|| task.started.since(job.submit).seconds());
    }
    log.write_with(out, |place, line| Some(with_field(line, WAIT, &waits[place]?.to_string())))
}

const JOBS: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
    final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,\
    consumed_energy,metadata";

/// Energy is not counted.
const NO_ENERGY: i32 = -1;

pub(super) fn jobs(
    out: &mut dyn Write,
    log: &Log,
    experiment: &LogExperiment,
    (history, places): (&History, &[Processors]),
) -> io::Result<()> {
    writeln!(out, "{JOBS}")?;
    let name = log.name();
    let file = Path::new(&name).file_name().map_or(name.clone().into(), |name| name.to_string_lossy());
    let workload = file.split('.').next().unwrap_or_default().replace([',', '"'], "_");
    for (index, (job, task)) in experiment.kept.jobs.iter().zip(history.tasks()).enumerate() {
        if task.finished == Time::NEVER {
            continue;
        }
        let id = experiment.experiment.task_names.id(index);
        let killed = experiment.killed[index];
        let state = if killed { "COMPLETED_WALLTIME_REACHED" } else { "COMPLETED_SUCCESSFULLY" };
        let (run, wait) = (run_s(task), task.started.since(job.submit).seconds());
        let turnaround = task.finished.since(job.submit).seconds();
        // What takes no time has no stretch.
        let stretch = if run > 0.0 { (turnaround / run).to_string() } else { String::new() };
        writeln!(
            out,
            "{id},{workload},{id},{},{},{},{},{state},{},{run},{},{wait},{turnaround},{stretch},{},{NO_ENERGY},",
            job.submit.seconds(),
            job.processors,
            job.estimate.seconds(),
            i32::from(!killed),
            task.started.seconds(),
            task.finished.seconds(),
            allocation::text(&places[index]),
        )?;
    }
    Ok(())
}

fn run_s(task: &TaskHistory) -> f64 {
    task.finished.since(task.started).seconds()
}

/// A run in Batsim's numbers.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Schedule {
    version: u32,
    makespan: f64,
    max_slowdown: f64,
    max_turnaround_time: f64,
    max_waiting_time: f64,
    mean_slowdown: f64,
    mean_turnaround_time: f64,
    mean_waiting_time: f64,
    nb_computing_machines: u32,
    nb_jobs: usize,
    nb_jobs_finished: usize,
    nb_jobs_killed: usize,
    nb_jobs_success: usize,
    success_rate: f64,
    time_computing: f64,
    time_idle: f64,
}

impl Schedule {
    pub(super) fn of(experiment: &LogExperiment, history: &History, services: &Services, cores: u32) -> Self {
        let killed = experiment.killed.iter().filter(|killed| **killed).count();
        let finished = history.finished();
        let jobs = experiment.kept.jobs.iter().zip(history.tasks());
        let ended = jobs.clone().filter(|(_, task)| task.finished != Time::NEVER);
        let time_computing = ended.clone().map(|(job, task)| run_s(task) * f64::from(job.processors)).sum();
        let slowdown =
            |(job, task): (_, &TaskHistory)| -> f64 { task.finished.since(job).seconds() / run_s(task) };
        let slowdowns =
            ended.filter(|(_, task)| run_s(task) > 0.0).map(|(job, task)| slowdown((job.submit, task)));
        let slowdowns: Vec<f64> = slowdowns.collect();
        let makespan = history.makespan().seconds();
        let all = &services.all;
        Self {
            version: 1,
            makespan,
            max_slowdown: slowdowns.iter().copied().fold(0.0, f64::max),
            max_turnaround_time: all.flow_s.max,
            max_waiting_time: all.wait_s.max,
            mean_slowdown: slowdowns.iter().sum::<f64>() / slowdowns.len().max(1) as f64,
            mean_turnaround_time: all.flow_s.mean,
            mean_waiting_time: all.wait_s.mean,
            nb_computing_machines: cores,
            nb_jobs: experiment.kept.jobs.len(),
            nb_jobs_finished: finished,
            nb_jobs_killed: killed,
            nb_jobs_success: finished.saturating_sub(killed),
            success_rate: finished.saturating_sub(killed) as f64 / experiment.kept.jobs.len().max(1) as f64,
            time_computing,
            time_idle: makespan * f64::from(cores) - time_computing,
        }
    }
}
