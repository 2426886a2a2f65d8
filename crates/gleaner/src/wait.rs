//! `gleaner wait`: until jobs are over.

use crate::api::Api;
use crate::cli::WaitArguments;
use crate::failure::Failure;
use crate::moments::span;
use crate::status::tally;
use crate::{Outcome, failures, lasting, progress, stdout, which};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, TaskPhase};
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// The coordinator answers as soon as a job is over; until then it is asked again this often.
const PATIENCE_S: u32 = 30;
/// A job of which nothing has started by then says why.
const FIRST_LOOK_S: u32 = 3;
/// Somebody who looks wants to see the count go up.
const LOOK_S: u32 = 1;

/// How long somebody waits who does not wait for ever.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    at_most_s: f64,
    until: Instant,
}

impl Patience {
    /// From now on.
    pub(crate) fn of(at_most_s: Option<f64>) -> Option<Self> {
        let at_most_s = at_most_s?;
        let until = Instant::now().checked_add(Duration::from_secs_f64(at_most_s))?;
        Some(Self { at_most_s, until })
    }

    /// In whole seconds, as the coordinator takes them; 0 only where it is over.
    fn left_s(self) -> u32 {
        self.until.saturating_duration_since(Instant::now()).as_secs_f64().ceil() as u32
    }

    fn ended(self, job: &JobView) -> Failure {
        let (number, tasks, at_most) = (job.job, tally(&job.tasks), span(self.at_most_s));
        let what_comes = if is_held(job) { releases(job) } else { "it goes on".to_owned() };
        Failure::Difference(format!("job {number} is not over after {at_most}: {tasks}; {what_comes}"))
    }
}

pub(crate) fn run(arguments: &WaitArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let numbers = which::jobs(&grid, &arguments.jobs)?;
    if !arguments.grid.json {
        anstream::eprint!("{}", which::passed_over(&arguments.jobs, &numbers));
    }
    // A wrong address or number shows at once.
    numbers.iter().try_for_each(|&job| grid.job(job).map(drop))?;
    say_that_they_go_on(&numbers);
    let patience = Patience::of(arguments.wait_at_most);
    let jobs = numbers.iter().map(|&job| until_over(&grid, job, patience)).collect::<Result<Vec<_>, _>>()?;
    if arguments.grid.json {
        let jobs: Vec<Value> = jobs.iter().map(|job| failures::with_reasons(&grid, job)).collect();
        stdout::print_json(&json!({ "version": 1, "jobs": jobs }))?;
    } else {
        let lines = jobs.iter().map(|job| format!("job {}: {}\n", job.job, tally(&job.tasks)));
        stdout::print(lines.collect::<String>())?;
        say_why(&grid, &jobs)?;
    }
    all_done(&jobs)
}

/// From now on Ctrl-C ends the waiting only, and says so.
pub(crate) fn say_that_they_go_on(jobs: &[JobId]) {
    let numbers: Vec<String> = jobs.iter().map(ToString::to_string).collect();
    let (jobs, go) = (numbers.join(" "), if numbers.len() == 1 { "goes" } else { "go" });
    // Where there is no way to listen, the signal ends the process as it always did.
    let _ = ctrlc::set_handler(move || {
        anstream::eprintln!(
            "\njob {jobs} {go} on: `gleaner wait {jobs}` waits again, `gleaner cancel {jobs}` ends it"
        );
        std::process::exit(130);
    });
}

/// Says of what failed how much, why, and the last words of one.
pub(crate) fn say_why(grid: &Api, jobs: &[JobView]) -> Outcome {
    jobs.iter().try_for_each(|job| {
        anstream::eprint!("{}", failures::told(&failures::of(grid, job)?, job.tasks.failed));
        Ok(())
    })
}

/// Whether nothing more comes of the job by itself.
fn is_held(job: &JobView) -> bool {
    job.tasks.held > 0 && job.tasks.held == job.tasks.open()
}

fn releases(job: &JobView) -> String {
    format!("`gleaner release {}` lets it go on", job.job)
}

/// Why nothing of the job has started, or goes on, where that is so: somebody who waits would not know.
fn what_it_waits_for(job: &JobView) -> Option<String> {
    let number = job.job;
    if is_held(job) {
        return Some(format!("job {number} is held: {}", releases(job)));
    }
    let has_begun = job.tasks.waiting + job.tasks.held < job.tasks.total();
    let why = job.waits_for.as_ref().filter(|_| !has_begun)?;
    Some(format!("job {number} waits for {why}\n`gleaner explain {number}` says more"))
}

/// Waits until no task of the job can go on, or patience ends.
pub(crate) fn until_over(grid: &Api, id: JobId, patience: Option<Patience>) -> Result<JobView, Failure> {
    let wait_s = if std::io::stderr().is_terminal() { LOOK_S } else { PATIENCE_S };
    let look = |most_s: u32| {
        let wait_s = patience.map_or(most_s, |patience| patience.left_s().min(most_s));
        lasting::ask_until(patience.map(|patience| patience.until), || grid.job_when_over(id, wait_s))
    };
    let mut job = look(FIRST_LOOK_S)?;
    if job.tasks.open() == 0 {
        return Ok(job);
    }
    if let Some(why) = what_it_waits_for(&job) {
        anstream::eprintln!("{why}");
    }
    let bar = progress::bar(u64::from(job.tasks.total()), "tasks");
    while job.tasks.open() > 0 {
        if let Some(patience) = patience.filter(|patience| patience.left_s() == 0) {
            bar.finish_and_clear();
            return Err(patience.ended(&job));
        }
        bar.set_position(u64::from(job.tasks.total() - job.tasks.open()));
        job = look(wait_s)?;
    }
    bar.finish_and_clear();
    Ok(job)
}

/// A difference unless all tasks of all jobs are done.
pub(crate) fn all_done(jobs: &[JobView]) -> Outcome {
    let bad: Vec<String> = jobs
        .iter()
        .filter(|job| job.state != TaskPhase::Done)
        .map(|job| {
            format!("{} failed and {} cancelled in job {}", job.tasks.failed, job.tasks.cancelled, job.job)
        })
        .collect();
    if bad.is_empty() { Ok(()) } else { Err(Failure::Difference(bad.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::api::Tally;

    #[test]
    fn who_waits_is_told_what_does_not_go_on_by_itself() {
        let job = |tasks: Tally| -> JobView {
            let waits_for = (tasks.waiting > 0).then_some("a machine");
            let view = json!({"version": 1, "job": 7, "name": "", "user": "ada", "state": tasks.state(), "tasks": tasks,
                "command": [], "submitted_s": 0.0, "waits_for": waits_for});
            serde_json::from_value(view).expect("a job")
        };
        let held = "job 7 is held: `gleaner release 7` lets it go on";
        let (waits, releases) =
            ("job 7 waits for a machine\n`gleaner explain 7` says more", "`gleaner release 7` lets it go on");
        for (tasks, expected, comes) in [
            (Tally { held: 3, ..Tally::default() }, Some(held), releases),
            (Tally { held: 3, done: 1, ..Tally::default() }, Some(held), releases),
            (Tally { held: 3, waiting: 1, ..Tally::default() }, Some(waits), "it goes on"),
            (Tally { waiting: 1, done: 1, ..Tally::default() }, None, "it goes on"),
            (Tally { held: 1, running: 1, ..Tally::default() }, None, "it goes on"),
        ] {
            assert_eq!(what_it_waits_for(&job(tasks)).as_deref(), expected, "{tasks:?}");
            let patience = Patience::of(Some(5.0)).expect("some");
            let said = patience.ended(&job(tasks)).to_string();
            let (beginning, end) = ("job 7 is not over after 5.0s: ", format!("; {comes}"));
            assert!(said.starts_with(beginning) && said.ends_with(&end), "{said}");
        }
    }
}
