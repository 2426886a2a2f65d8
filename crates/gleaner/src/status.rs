//! `gleaner status`: jobs, a job, its tasks.

use crate::api::Api;
use crate::cli::StatusArguments;
use crate::columns::{Side, marked, shown};
use crate::failure::Failure;
use crate::keep::standing;
use crate::moments::{clock, span};
use crate::{Outcome, failures, notes, stdout, which};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, OpenRunView, RunStage, Tally, TaskPhase, TaskView};
use serde_json::{Value, json};

/// A command's first words tell jobs apart; the rest is in `status JOB`.
const NAME_WIDTH: usize = 32;

pub(crate) fn run(arguments: &StatusArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    let Some(which) = &arguments.job else { return jobs(&grid, arguments) };
    let ids = which::jobs(&grid, which)?;
    let phase = match (arguments.failed, arguments.phase) {
        (true, _) => Some(TaskPhase::Failed),
        (false, phase) => phase,
    };
    if arguments.jsonl {
        let print = |task: &TaskView| stdout::print_more(stdout::json_line(task));
        return ids
            .iter()
            .try_for_each(|&id| grid.each_task(id, arguments.from, u32::MAX, phase, print).map(drop));
    }
    let told = ids.iter().map(|&id| one(&grid, id, arguments, phase));
    let told: Vec<(Value, String)> = told.collect::<Result<_, _>>()?;
    let (documents, texts): (Vec<Value>, Vec<String>) = told.into_iter().unzip();
    if arguments.grid.json {
        return stdout::print_json(&stdout::one_or_jobs(documents));
    }
    stdout::print(texts.join("\n"))
}

/// A job, and its tasks if they are asked for, for programs and for people.
fn one(
    grid: &Api,
    id: JobId,
    arguments: &StatusArguments,
    phase: Option<TaskPhase>,
) -> Result<(Value, String), Failure> {
    let job = grid.job(id)?;
    // Who says where to begin wants to see them.
    if !arguments.tasks && phase.is_none() && arguments.from == 0 {
        if arguments.grid.json {
            return Ok((failures::with_reasons(grid, &job), String::new()));
        }
        let (failures, noted) = (failures::of(grid, &job)?, notes::of(grid, &job)?);
        let failures = failures::told(&failures, job.tasks.failed);
        return Ok((Value::Null, describe(&job) + &failures + &notes::told(&job, &noted)));
    }
    let mut tasks = Vec::new();
    let next = grid.each_task(id, arguments.from, arguments.limit, phase, |task| {
        tasks.push(task.clone());
        Ok(false)
    })?;
    let mut document = json!(job);
    document["list"] = json!(tasks);
    document["next"] = json!(next);
    let more =
        next.map(|next| format!("… and more: --from {next}, or a larger --limit\n")).unwrap_or_default();
    let text = format!("{}\n{}{more}{}", describe(&job), list_tasks(&tasks), stays(&tasks));
    Ok((document, text))
}

fn jobs(grid: &Api, arguments: &StatusArguments) -> Outcome {
    let limit = if arguments.jsonl { u32::MAX } else { arguments.limit };
    let jobs = grid.jobs(limit, arguments.state.map(TaskPhase::name), arguments.user.as_deref())?;
    match (arguments.jsonl, arguments.grid.json) {
        (true, _) => stdout::print(jobs.jobs.iter().map(stdout::json_line).collect::<String>()),
        (false, true) => stdout::print_json(&jobs),
        (false, false) => stdout::print(list(&jobs.jobs) + &older(jobs.jobs.len(), limit)),
    }
}

/// A job in a few lines, each number with its name.
pub(crate) fn describe(job: &JobView) -> String {
    let mut lines = vec![
        ("job", format!("{} {}", job.job, shown(&job.name, NAME_WIDTH)).trim_end().to_owned()),
        ("state", job.state.name().to_owned()),
        ("tasks", tally(&job.tasks)),
        ("command", shown(&job.command.join(" "), 80)),
        ("user", job.user.clone()),
        ("submitted", clock(job.submitted_s)),
    ];
    if let Some(ended_s) = job.ended_s {
        lines.push(("ended", format!("{}, after {}", clock(ended_s), span(ended_s - job.submitted_s))));
    }
    lines.extend(job.label.as_ref().map(|label| ("label", shown(label, NAME_WIDTH))));
    if job.wasted_s > 0.0 {
        lines.push(("wasted", format!("{} in runs beside faster ones", span(job.wasted_s))));
    }
    if job.lost_s > 0.0 {
        let what = "in runs that ended without a result and without a checkpoint; `gleaner history` says why";
        lines.push(("lost", format!("{} {what}", span(job.lost_s))));
    }
    if job.results_kept || job.results_until_s.is_some() || job.results_removed.is_some() {
        lines.push(("results", standing(job)));
    }
    lines.extend(job.waits_for.as_ref().map(|why| ("waits for", shown(why, 200))));
    lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect()
}

/// As many as were asked for may not be all.
fn older(listed: usize, limit: u32) -> String {
    if listed < limit as usize {
        return String::new();
    }
    format!("the newest {limit} jobs: a larger --limit lists older ones\n")
}

fn list(jobs: &[JobView]) -> String {
    if jobs.is_empty() {
        return "no jobs: submit one with `gleaner submit -- CMD ARGS…`\n".to_owned();
    }
    let headings = [
        ("JOB", Side::Right),
        ("STATE", Side::Left),
        ("DONE", Side::Right),
        ("FAILED", Side::Right),
        ("RUNNING", Side::Right),
        ("TASKS", Side::Right),
        ("SUBMITTED", Side::Left),
        ("USER", Side::Left),
        ("NAME", Side::Left),
    ];
    let rows = jobs.iter().map(|job| {
        let name = if job.name.is_empty() { job.command.join(" ") } else { job.name.clone() };
        vec![
            job.job.to_string(),
            job.state.name().to_owned(),
            job.tasks.done.to_string(),
            job.tasks.failed.to_string(),
            job.tasks.running.to_string(),
            job.tasks.total().to_string(),
            clock(job.submitted_s),
            job.user.clone(),
            shown(&name, NAME_WIDTH),
        ]
    });
    marked(&headings, &rows.collect::<Vec<_>>(), |row| jobs[row].tasks.failed > 0)
}

fn list_tasks(tasks: &[TaskView]) -> String {
    let headings = [
        ("TASK", Side::Right),
        ("PHASE", Side::Left),
        ("RUNS", Side::Right),
        ("MACHINE", Side::Left),
        ("TOOK", Side::Right),
        ("ENDED BY", Side::Left),
    ];
    let rows = tasks.iter().map(|task| {
        // What ended the run before is nothing of the one that runs.
        let ended = !matches!(task.phase, TaskPhase::Running | TaskPhase::Suspended);
        let (usage, outcome) = (task.usage.as_ref(), task.outcome.as_ref());
        vec![
            task.task.to_string(),
            phase(task),
            task.runs.to_string(),
            task.machine.clone().unwrap_or_default(),
            usage.filter(|_| ended).map(|usage| span(usage.elapsed_s)).unwrap_or_default(),
            outcome
                .filter(|_| ended)
                .map(|why| failures::ending(why) + &notes::behind(task))
                .unwrap_or_default(),
        ]
    });
    marked(&headings, &rows.collect::<Vec<_>>(), |row| tasks[row].phase == TaskPhase::Failed)
}

/// Why runs stay where they are, below the table.
fn stays(tasks: &[TaskView]) -> String {
    let told = tasks.iter().flat_map(|task| {
        task.open_runs
            .iter()
            .filter_map(|run| Some(format!("{}: {}\n", task.task, shown(run.why.as_ref()?, 200))))
    });
    let told: String = told.collect();
    if told.is_empty() { told } else { format!("\n{told}") }
}

/// With where its files are on their way, if they are, or that it is next on a machine.
fn phase(task: &TaskView) -> String {
    let staging =
        |run: &&OpenRunView| matches!(run.stage, RunStage::StagingIn | RunStage::StagingOut | RunStage::Next);
    let staging = task.open_runs.iter().find(staging);
    staging.map_or(task.phase.name().to_owned(), |run| format!("{}, {}", task.phase.name(), run.stage.name()))
}

/// The phases that there are tasks in.
pub(crate) fn tally(tasks: &Tally) -> String {
    let counts = TaskPhase::ALL.map(|phase| (tasks.of(phase), phase.name()));
    let shown = counts.iter().filter(|(count, _)| *count > 0);
    shown.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> JobView {
        JobView {
            version: 1,
            job: JobId(7),
            name: "render".into(),
            user: "ada".into(),
            state: TaskPhase::Running,
            tasks: Tally { running: 2, done: 40, failed: 1, ..Tally::default() },
            command: vec!["./render".into(), "{scene}".into()],
            submitted_s: 0.0,
            ended_s: None,
            label: Some("render".into()),
            wasted_s: 0.0,
            lost_s: 0.0,
            waits_for: None,
            bytes: 0,
            results_kept: false,
            results_until_s: None,
            results_removed: None,
        }
    }

    #[test]
    fn a_job_is_told_in_a_few_lines() {
        let text = describe(&job());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "job        7 render");
        assert_eq!(lines[2], "tasks      2 running, 40 done, 1 failed");
        assert_eq!(lines[3], "command    ./render {scene}");
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn of_a_task_that_runs_again_nothing_is_told_of_the_run_before() {
        let task = |phase: &str| -> TaskView {
            serde_json::from_value(serde_json::json!({
                "job": 7, "task": 1, "phase": phase, "runs": 2, "machine": "lab",
                "outcome": "stopped", "usage": { "elapsed_s": 6.1 },
            }))
            .expect("a task")
        };
        for (phase, expected) in [
            ("running", "   1  running     2  lab"),
            ("suspended", "   1  suspended     2  lab"),
            ("waiting", "   1  waiting     2  lab      6.1s  being stopped"),
        ] {
            let text = anstream::adapter::strip_str(&list_tasks(&[task(phase)])).to_string();
            assert_eq!(text.lines().nth(1).map(str::trim_end), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_noted_of_a_task_stands_behind_what_ended_it() {
        let task: TaskView = serde_json::from_value(serde_json::json!({
            "job": 7, "task": 1, "phase": "done", "runs": 1, "outcome": { "exited": { "code": 0 } },
            "notes": ["it left no output file x"],
        }))
        .expect("a task");
        let text = anstream::adapter::strip_str(&list_tasks(&[task])).to_string();
        assert!(text.contains("exit code 0; it left no output file x"), "{text}");
    }

    #[test]
    fn jobs_are_listed_a_line_each() {
        let text = anstream::adapter::strip_str(&list(&[job()])).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "JOB  STATE    DONE  FAILED  RUNNING  TASKS  SUBMITTED            USER  NAME");
        assert!(lines[1].starts_with("  7  running    40       1        2     43  "), "{}", lines[1]);
        assert!(lines[1].ends_with("  ada   render"), "{}", lines[1]);
    }
}
