//! What a submission would do, and what it did, for people.

use crate::explain::describe_live;
use crate::moments::span;
use crate::status::tally;
use gleaner_wire::api::{JobView, Preview};
use gleaner_wire::job::JobSpec;

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

/// How a job ended, and how its files are had.
pub(super) fn ended(job: &JobView, spec: &JobSpec) -> String {
    let took = job.ended_s.map(|ended_s| format!(" after {}", span(ended_s - job.submitted_s)));
    let line = format!("job {}: {}{}\n", job.job, tally(&job.tasks), took.unwrap_or_default());
    let has_files = !spec.outputs.is_empty() && job.tasks.done > 0;
    let fetch = has_files.then(|| format!("`gleaner fetch {} --to DIR` brings its output files\n", job.job));
    line + &fetch.unwrap_or_default()
}
