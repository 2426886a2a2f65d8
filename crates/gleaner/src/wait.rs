//! `gleaner wait`: until jobs are over.

use crate::cli::WaitArguments;
use crate::failure::Failure;
use crate::grid::Grid;
use crate::status::tally;
use crate::{Outcome, progress, stdout};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobState, JobView};
use serde_json::json;
use std::io::IsTerminal;

/// The coordinator answers as soon as a job is over; until then it is asked again this often.
const PATIENCE_S: u32 = 30;
/// Somebody who looks wants to see the count go up.
const LOOK_S: u32 = 1;

pub(crate) fn run(arguments: &WaitArguments) -> Outcome {
    let grid = Grid::open(&arguments.grid)?;
    let jobs = arguments.jobs.iter().map(|&job| until_over(&grid, job)).collect::<Result<Vec<_>, _>>()?;
    if arguments.grid.json {
        stdout::print_json(&json!({ "version": 1, "jobs": jobs }))?;
    } else {
        let lines = jobs.iter().map(|job| format!("job {}: {}\n", job.job, tally(&job.tasks)));
        stdout::print(lines.collect::<String>())?;
    }
    all_done(&jobs)
}

/// Waits until no task of the job can go on.
pub(crate) fn until_over(grid: &Grid, id: JobId) -> Result<JobView, Failure> {
    let wait_s = if std::io::stderr().is_terminal() { LOOK_S } else { PATIENCE_S };
    let mut job = grid.job_when_over(id, wait_s)?;
    if job.tasks.open() == 0 {
        return Ok(job);
    }
    let bar = progress::bar(u64::from(job.tasks.total()), "tasks");
    while job.tasks.open() > 0 {
        bar.set_position(u64::from(job.tasks.total() - job.tasks.open()));
        job = grid.job_when_over(id, wait_s)?;
    }
    bar.finish_and_clear();
    Ok(job)
}

/// A difference unless all tasks of all jobs are done.
pub(crate) fn all_done(jobs: &[JobView]) -> Outcome {
    let bad: Vec<String> = jobs
        .iter()
        .filter(|job| job.state != JobState::Done)
        .map(|job| {
            format!("{} failed and {} cancelled in job {}", job.tasks.failed, job.tasks.cancelled, job.job)
        })
        .collect();
    if bad.is_empty() { Ok(()) } else { Err(Failure::Difference(bad.join("; "))) }
}
