//! `gleaner keep`: how long results of jobs that are over are kept.

use crate::api::Api;
use crate::cli::KeepArguments;
use crate::columns::{Side, aligned, plural, rough_size, shown};
use crate::moments::{clock, now_s, span};
use crate::several::each;
use crate::{Outcome, stdout, which};
use gleaner_wire::api::{AmountView, JobView, KeepingView};
use serde_json::json;

const NAME_WIDTH: usize = 32;

pub(crate) fn run(arguments: &KeepArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    if arguments.jobs.is_empty() {
        let keeping = grid.keeping(arguments.limit)?;
        return if arguments.grid.json {
            stdout::print_json(&keeping)
        } else {
            stdout::print(table(&keeping))
        };
    }
    let named = which::jobs(&grid, &arguments.jobs)?;
    let (jobs, outcome) = each(named, |job| grid.keep(*job, !arguments.undo));
    if outcome.is_err() && jobs.is_empty() {
        return outcome;
    }
    if arguments.grid.json {
        stdout::print_json(&json!({ "version": 1, "jobs": jobs }))?;
    } else {
        let said = jobs.iter().map(|job| format!("job {}: results {}\n", job.job, standing(job)));
        stdout::print(said.collect::<String>())?;
    }
    outcome
}

/// What becomes of a job's results, for people.
pub(crate) fn standing(job: &JobView) -> String {
    match (job.results_kept, job.results_until_s, job.results_removed) {
        (true, ..) => format!("are kept until `gleaner keep {} --undo`", job.job),
        (false, Some(until_s), _) if until_s < now_s() => {
            format!("were kept until {}, and are to be removed now", clock(until_s))
        }
        (false, Some(until_s), _) => format!("are kept until {}", clock(until_s)),
        (false, None, Some(removed)) if job.tasks.open() == 0 => {
            let kept_for = span(removed.kept_for_s);
            format!("were removed on {}, kept for {kept_for} after the job was over", clock(removed.at_s))
        }
        (false, None, _) if job.tasks.open() > 0 => "are kept while it runs".to_owned(),
        (false, None, _) => "are kept".to_owned(),
    }
}

fn table(keeping: &KeepingView) -> String {
    let long =
        |kept: Option<f64>| kept.map_or("for ever".to_owned(), |kept_s| format!("for {}", span(kept_s)));
    let AmountView { jobs, bytes } = keeping.due;
    let mut text = format!(
        "results are kept {} after their job is over, what is known of a job {}\n{} due to be removed: {}, {}\n",
        long(keeping.results_for_s),
        long(keeping.records_for_s),
        if jobs == 1 { "result" } else { "results" },
        plural(jobs, "job"),
        rough_size(bytes)
    );
    text += &list("removed on", &keeping.next);
    if keeping.kept.jobs > 0 {
        let kept = plural(keeping.kept.jobs, "job");
        text +=
            &format!("kept until `gleaner keep JOB --undo`: {kept}, {}\n", rough_size(keeping.kept.bytes));
        text += &list("", &keeping.kept_jobs);
    }
    text
}

fn list(until: &str, jobs: &[JobView]) -> String {
    if jobs.is_empty() {
        return String::new();
    }
    let until = until.to_uppercase();
    let headings = [
        ("JOB", Side::Right),
        ("OVER SINCE", Side::Left),
        (until.as_str(), Side::Left),
        ("STORED", Side::Right),
        ("USER", Side::Left),
        ("NAME", Side::Left),
    ];
    let moment = |at_s: Option<f64>| at_s.map(clock).unwrap_or_default();
    let rows = jobs.iter().map(|job| {
        let name = if job.name.is_empty() { job.command.join(" ") } else { job.name.clone() };
        vec![
            job.job.to_string(),
            moment(job.ended_s),
            moment(job.results_until_s),
            rough_size(job.bytes),
            job.user.clone(),
            shown(&name, NAME_WIDTH),
        ]
    });
    aligned(&headings, &rows.collect::<Vec<_>>())
}
