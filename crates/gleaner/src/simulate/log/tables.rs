//! What became of a log's jobs, as a log, and in Batsim's columns, which evalys draws.

use super::allocation::{self, Processors};
use gleaner_sim::{History, TaskHistory};
use gleaner_units::{Span, Time};
use gleaner_workload::LogExperiment;
use gleaner_workload::swf::{Log, Services, with_field};
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
    let mut waits: Vec<Option<String>> = vec![None; log.jobs().len()];
    for (job, task) in experiment.kept.jobs.iter().zip(history.tasks()) {
        waits[job.place] = (task.started != Time::NEVER).then(|| exact(task.started.since(job.submit)));
    }
    log.write_with(out, |place, line| Some(with_field(line, WAIT, waits[place].as_ref()?)))
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
        let (run, turnaround) = (run_s(task), task.finished.since(job.submit));
        // What takes no time has no stretch.
        let stretch = if run > 0.0 { (turnaround.seconds() / run).to_string() } else { String::new() };
        writeln!(
            out,
            "{id},{workload},{id},{},{},{},{},{state},{},{},{},{},{},{stretch},{},{NO_ENERGY},",
            exact(job.submit.since(Time::ZERO)),
            job.processors,
            exact(job.estimate),
            i32::from(!killed),
            exact(task.started.since(Time::ZERO)),
            exact(task.finished.since(task.started)),
            exact(task.finished.since(Time::ZERO)),
            exact(task.started.since(job.submit)),
            exact(turnaround),
            allocation::text(&places[index]),
        )?;
    }
    Ok(())
}

/// Every nanosecond, and no more digits than it takes.
fn exact(span: Span) -> String {
    let text = span.to_string();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn run_s(task: &TaskHistory) -> f64 {
    task.finished.since(task.started).seconds()
}

/// A run in Batsim's numbers; nothing where a scheduler's own time or joules would stand.
pub(super) struct Schedule([(&'static str, Option<f64>); 21]);

impl Schedule {
    /// As Batsim writes it, in one row.
    pub(super) fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let names = self.0.map(|(name, _)| name.to_owned());
        let values = self.0.map(|(_, value)| value.map_or(String::new(), |value| value.to_string()));
        writeln!(out, "{}\n{}", names.join(","), values.join(","))
    }

    /// The same as an object; null for nothing.
    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns: serde_json::Map<String, serde_json::Value> =
            self.0.iter().map(|&(name, value)| (name.to_owned(), value.into())).collect();
        serde_json::to_writer_pretty(&mut *out, &columns)?;
        writeln!(out)
    }
}

pub(super) fn schedule(
    (experiment, history): (&LogExperiment, &History),
    services: &Services,
    cores: u32,
) -> Schedule {
    let killed = experiment.killed.iter().filter(|killed| **killed).count();
    let all_jobs = experiment.kept.jobs.len();
    let success = history.finished().saturating_sub(killed);
    let jobs = experiment.kept.jobs.iter().zip(history.tasks());
    let ended = jobs.filter(|(_, task)| task.finished != Time::NEVER);
    let computing_s: f64 = ended.clone().map(|(job, task)| run_s(task) * f64::from(job.processors)).sum();
    let slowdowns = ended.filter(|(_, task)| run_s(task) > 0.0);
    let slowdowns: Vec<f64> =
        slowdowns.map(|(job, task)| task.finished.since(job.submit).seconds() / run_s(task)).collect();
    let mean_slowdown =
        (!slowdowns.is_empty()).then(|| slowdowns.iter().sum::<f64>() / slowdowns.len() as f64);
    let makespan_s = history.makespan().seconds();
    let all = &services.all;
    Schedule([
        ("consumed_joules", None),
        ("makespan", Some(makespan_s)),
        ("max_slowdown", Some(slowdowns.iter().copied().fold(0.0, f64::max))),
        ("max_turnaround_time", Some(all.flow_s.max)),
        ("max_waiting_time", Some(all.wait_s.max)),
        ("mean_slowdown", mean_slowdown),
        ("mean_turnaround_time", Some(all.flow_s.mean)),
        ("mean_waiting_time", Some(all.wait_s.mean)),
        ("nb_computing_machines", Some(cores.into())),
        ("nb_jobs", Some(all_jobs as f64)),
        ("nb_jobs_finished", Some(history.finished() as f64)),
        ("nb_jobs_killed", Some(killed as f64)),
        ("nb_jobs_success", Some(success as f64)),
        ("scheduling_time", None),
        ("simulation_time", None),
        ("success_rate", Some(success as f64 / all_jobs.max(1) as f64)),
        ("time_computing", Some(computing_s)),
        ("time_idle", Some(makespan_s * f64::from(cores) - computing_s)),
        ("time_sleeping", Some(0.0)),
        ("time_switching_off", Some(0.0)),
        ("time_switching_on", Some(0.0)),
    ])
}
