//! `gleaner submit`: from any description of a job to its number.

mod describe;
mod files;
mod outputs;
mod quota;
mod signing;
mod tell;
mod warnings;

use crate::api::Api;
use crate::cli::SubmitArguments;
use crate::failure::Failure;
use crate::wait::{Patience, all_done, say_that_they_go_on, say_why, until_over};
use crate::{Outcome, failures, stdout};
use describe::Described;
use files::Sending;
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, Submitted};
use gleaner_wire::job::JobSpec;
use gleaner_wire::outputs::ALL_FILES;
use gleaner_workload::submit::JobDescription;
use serde_json::{Value, json};

pub(crate) use signing::Signing;

pub(crate) fn run(arguments: &SubmitArguments) -> Outcome {
    let Described { jobs, requirements_at } = describe::jobs(arguments)?;
    let sending: Vec<(JobDescription, Sending)> = jobs
        .into_iter()
        .map(|job| Sending::of(&job).map(|sending| (job, sending)))
        .collect::<Result<_, _>>()?;
    for (job, _) in &sending {
        warnings::tell(job);
        if arguments.wait {
            outputs::check(job)?;
        }
    }
    let specs: Vec<JobSpec> = sending.iter().map(|(job, sending)| sending.spec(&job.spec)).collect();
    specs.iter().try_for_each(|spec| describe::check(arguments, spec))?;
    // Only now is there something to talk about: a mistake in a file needs no coordinator to be found.
    let grid = Api::open(&arguments.grid)?;
    if let Some((job, _)) = sending.first() {
        warnings::tell_of_machines(&grid, job, requirements_at.as_deref());
        quota::tell(&grid, &job.spec);
    }
    if sending.iter().any(|(job, _)| job.spec.rank.is_some()) {
        warnings::tell_of_rank(&grid);
    }
    let specs = signing::signed(arguments, &grid, specs)?;
    if let Some(spec) = specs.first() {
        warnings::tell_of_quorum(&grid, spec);
    }
    if arguments.dry_run {
        return dry_run(&grid, arguments, &specs);
    }
    let mut submitted = Vec::with_capacity(sending.len());
    for (position, ((_, files), spec)) in sending.iter().zip(&specs).enumerate() {
        let key = arguments.key.as_ref().map(|key| key_of(key, position));
        let came = files.upload(&grid).and_then(|()| grid.submit(spec, key.as_deref()));
        match came {
            Ok(one) => submitted.push(one),
            Err(failure) if submitted.is_empty() => return Err(failure),
            Err(failure) => {
                note(&grid, &submitted);
                let done = submitted.len();
                let left = (position + 1..specs.len()).map(described).collect();
                tell_submitted(arguments, &sending, &submitted)?;
                return Err(Failure::NotAll { done, failed: vec![(described(position), failure)], left });
            }
        }
    }
    note(&grid, &submitted);
    if arguments.wait {
        return finish(&grid, arguments, &sending, &submitted);
    }
    tell_submitted(arguments, &sending, &submitted)
}

/// Keeps in mind what `last` stands for from now on.
fn note(grid: &Api, submitted: &[Submitted]) {
    let numbers: Vec<JobId> = submitted.iter().map(|one| one.job).collect();
    grid.note_submitted(&numbers);
}

/// Which job of a description.
fn described(position: usize) -> String {
    format!("the job at place {}", position + 1)
}

/// One description can make several jobs, each of which needs a key of its own.
fn key_of(key: &str, position: usize) -> String {
    if position == 0 { key.to_owned() } else { format!("{key}.{position}") }
}

fn tell_submitted(
    arguments: &SubmitArguments,
    sending: &[(JobDescription, Sending)],
    submitted: &[Submitted],
) -> Outcome {
    let each = submitted.iter().zip(sending.iter().map(|(job, _)| job));
    if !arguments.grid.json {
        return stdout::print(each.map(|(one, job)| tell::submitted(one, job)).collect::<String>());
    }
    let Some(first) = submitted.first() else { return Ok(()) };
    let mut document = json!(first);
    document["tasks"] = json!(tasks_of(submitted));
    if submitted.len() > 1 {
        document["jobs"] = each.map(|(one, job)| with_processes(json!(one), job)).collect();
    }
    stdout::print_json(&document)
}

/// How many tasks all of them have.
fn tasks_of(submitted: &[Submitted]) -> u64 {
    submitted.iter().map(|one| u64::from(one.tasks)).sum()
}

/// Says of a job which numbers its tasks have in the description, where those are not their own.
fn with_processes(mut document: Value, job: &JobDescription) -> Value {
    if !job.processes.is_empty() {
        document["processes"] = json!(job.processes);
    }
    document
}

fn dry_run(grid: &Api, arguments: &SubmitArguments, specs: &[JobSpec]) -> Outcome {
    let previews = specs.iter().map(|spec| grid.preview(spec)).collect::<Result<Vec<_>, Failure>>()?;
    if arguments.grid.json {
        return stdout::print_json(&json!({ "version": 1, "jobs": previews }));
    }
    stdout::print(previews.iter().map(tell::preview).collect::<Vec<_>>().join("\n"))
}

/// So many tasks are looked at for files that they left.
const LOOKED_AT: u32 = 1_000;

/// Whether a job that was to leave files left some; where the first tasks left none, it is believed of the others. Nothing is
/// to be said of one that was to leave whatever files there are, and left none.
fn has_files(grid: &Api, job: &JobView, spec: &JobSpec) -> Result<Option<bool>, Failure> {
    if spec.outputs.is_empty() || job.tasks.done == 0 {
        return Ok(None);
    }
    let mut has_some = false;
    let others = grid.each_task(job.job, 0, LOOKED_AT, None, |task| {
        has_some |= task.files.is_some();
        Ok(has_some)
    })?;
    let is_believed = has_some || others.is_some();
    // Of who named no file, none is missing.
    let names_some = spec.outputs.iter().any(|output| output != ALL_FILES);
    Ok((is_believed || names_some).then_some(is_believed))
}

/// Waits for all, tells how they ended, and puts where it belongs what they wrote.
fn finish(
    grid: &Api,
    arguments: &SubmitArguments,
    sending: &[(JobDescription, Sending)],
    submitted: &[Submitted],
) -> Outcome {
    if !arguments.grid.json {
        tell_submitted(arguments, sending, submitted)?;
    }
    let numbers: Vec<JobId> = submitted.iter().map(|job| job.job).collect();
    say_that_they_go_on(&numbers);
    let patience = Patience::of(arguments.wait_at_most);
    let mut over = Vec::with_capacity(numbers.len());
    let mut ended = Ok(());
    for &job in &numbers {
        match until_over(grid, job, patience) {
            Ok(job) => over.push(job),
            Err(why) => {
                ended = Err(Failure::Submitted { jobs: numbers.clone(), why: Box::new(why) });
                break;
            }
        }
    }
    let ended = ended.and_then(|()| tell_ended(grid, arguments, sending, submitted, &over));
    // What failed wrote something too. Of a job that may go on, what was there before stays.
    let mut written = Ok(());
    for ((job, _), over) in sending.iter().zip(&over) {
        written = written.and(outputs::write(grid, over.job, job));
    }
    ended.and(written)
}

fn tell_ended(
    grid: &Api,
    arguments: &SubmitArguments,
    sending: &[(JobDescription, Sending)],
    submitted: &[Submitted],
    jobs: &[JobView],
) -> Outcome {
    if arguments.grid.json {
        let job = submitted.first().map(|job| job.job).expect("each description makes a job");
        let tasks = tasks_of(submitted);
        let ended = jobs.iter().map(|job| failures::with_reasons(grid, job));
        let jobs: Vec<_> = ended.zip(sending).map(|(ended, (job, _))| with_processes(ended, job)).collect();
        stdout::print_json(&json!({ "version": 1, "job": job, "tasks": tasks, "jobs": jobs }))?;
    } else {
        for (ended, (job, _)) in jobs.iter().zip(sending) {
            stdout::print(tell::ended(ended, has_files(grid, ended, &job.spec)?))?;
        }
        say_why(grid, jobs)?;
    }
    all_done(jobs)
}
