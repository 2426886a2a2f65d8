//! What a submission would do, and what it did, for people.

use crate::columns::plural;
use crate::explain::describe_live;
use crate::moments::span;
use crate::status::tally;
use gleaner_wire::api::{JobView, Preview, Submitted};
use gleaner_wire::job::ranges;
use gleaner_workload::submit::JobDescription;

/// A job that was submitted, and which numbers its tasks have in the description where those are not their own.
pub(super) fn submitted(one: &Submitted, job: &JobDescription) -> String {
    let (number, tasks) = (one.job, plural(u64::from(one.tasks), "task"));
    if job.processes.is_empty() {
        return format!("job {number}: {tasks}\n");
    }
    format!(
        "job {number}: {tasks}; in the file these are {}\n",
        ranges(&job.processes, ", … (--json has all)")
    )
}

/// Where the tasks of a job would go.
pub(super) fn preview(preview: &Preview) -> String {
    let mut text: String = preview
        .starts
        .iter()
        .map(|start| format!("{:>8} would start at once on {}\n", start.tasks, start.machine))
        .collect();
    if preview.waiting > 0 {
        text += &format!("{:>8} would wait\n", preview.waiting);
    }
    text + "\n" + &describe_live(&preview.explanation)
}

/// How a job ended, and how its output files are had; none where it was to leave none.
pub(super) fn ended(job: &JobView, has_files: Option<bool>) -> String {
    let (number, took) =
        (job.job, job.ended_s.map(|ended_s| format!(" after {}", span(ended_s - job.submitted_s))));
    let line = format!("job {number}: {}{}\n", tally(&job.tasks), took.unwrap_or_default());
    line + &match has_files {
        Some(true) => format!("`gleaner fetch {number} --to DIR` brings its output files\n"),
        Some(false) => {
            format!("it left no output file: `gleaner history {number}` names those that it was to leave\n")
        }
        None => String::new(),
    }
}
