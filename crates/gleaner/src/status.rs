//! `gleaner status`: jobs, a job, its tasks.

mod answer;

use self::answer::{Told, leave_out, together};
use crate::api::Api;
use crate::cli::{JobOrTask, StatusArguments};
use crate::columns::{Side, marked, plural, shown};
use crate::failure::Failure;
use crate::keep::standing;
use crate::moments::{clock, span};
use crate::several::each;
use crate::{Outcome, failures, notes, stdout, which};
use gleaner_wire::JobId;
use gleaner_wire::api::{Asked, JobView, OpenRunView, RunStage, Tally, TaskPhase, TaskView};
use gleaner_wire::job::Needs;
use gleaner_wire::session::Usage;
use gleaner_wire::text::{amount, amount_beside};
use serde_json::{Value, json};

/// A command's first words tell jobs apart; the rest is in `status JOB`.
const NAME_WIDTH: usize = 32;
/// Of a task's command so much is told: what tells it from others may stand at its end.
pub(crate) const COMMAND_WIDTH: usize = 400;
const WHY_WIDTH: usize = 200;
/// The columns that a narrow terminal does not show, those first that tell jobs apart the least.
const SPARE: [&str; 5] = ["USER", "SUBMITTED", "RUNNING", "DONE", "FAILED"];
/// Likewise of tasks.
const SPARE_OF_TASKS: [&str; 4] = ["CPU", "RUNS", "MEMORY", "TOOK"];

pub(crate) fn run(arguments: &StatusArguments) -> Outcome {
    let grid = Api::open(&arguments.grid)?;
    if arguments.of.is_empty() {
        return jobs(&grid, arguments);
    }
    let phase = match (arguments.failed, arguments.phase) {
        (true, _) => Some(TaskPhase::Failed),
        (false, phase) => phase,
    };
    // Who says where to begin wants to see them.
    let lists_tasks = arguments.tasks || phase.is_some() || arguments.from > 0;
    if lists_tasks && arguments.of.iter().any(|which| which.tasks.is_some()) {
        let why = "--tasks, --failed, --phase and --from are for whole jobs: name jobs without tasks, as 7";
        return Err(Failure::Usage(why.to_owned()));
    }
    let mut named = which::all(&grid, &arguments.of)?;
    if arguments.jsonl {
        return lines(&grid, &named, arguments.from, phase);
    }
    let is_one = named.len() == 1;
    let left_out = leave_out(&mut named, arguments.limit);
    let (told, outcome) = each(named, |one| {
        let JobOrTask { job, task } = *one;
        if let Some(number) = task {
            return Ok(one_task(&grid.task(job, number)?));
        }
        let job = grid.job(job)?;
        if lists_tasks {
            with_tasks(&grid, &job, arguments, phase)
        } else {
            summary(&grid, &job, arguments.grid.json)
        }
    });
    // Of one that was refused there is nothing to say but that.
    if told.is_empty() {
        return outcome;
    }
    if arguments.grid.json {
        stdout::print_json(&together(told, is_one, left_out))?;
    } else {
        let texts: Vec<String> = told.into_iter().map(|told| told.text).collect();
        let more = plural(left_out, "more task");
        let more = if left_out > 0 {
            format!("… and {more}: a larger --limit shows them\n")
        } else {
            String::new()
        };
        stdout::print(texts.join("\n") + &more)?;
    }
    outcome
}

/// A document a line: tasks, and of jobs all of theirs.
fn lines(grid: &Api, named: &[JobOrTask], from: u32, phase: Option<TaskPhase>) -> Outcome {
    for &JobOrTask { job, task } in named {
        let mut is_unread = false;
        let mut print = |task: &TaskView| -> Result<bool, Failure> {
            is_unread = stdout::print_more(stdout::json_line(task))?;
            Ok(is_unread)
        };
        if let Some(number) = task {
            print(&grid.task(job, number)?)?;
        } else {
            grid.each_task(job, from, u32::MAX, phase, print)?;
        }
        if is_unread {
            return Ok(());
        }
    }
    Ok(())
}

/// Only what is asked for, since the reasons of failures are read again for each.
fn summary(grid: &Api, job: &JobView, for_programs: bool) -> Result<Told, Failure> {
    let first = first_task(grid, job.job)?;
    if for_programs {
        let mut document = failures::with_reasons(grid, job);
        document["needs"] = json!(first.as_ref().and_then(|task| task.needs.as_ref()));
        document["asked"] = json!(first.as_ref().and_then(|task| task.asked.as_ref()));
        return Ok(Told { is_task: false, document, text: String::new() });
    }
    let (failures, noted) = (failures::of(grid, job)?, notes::of(grid, job)?);
    let failures = failures::told(&failures, job.tasks.failed);
    let wishes = first.as_ref().map(describe_wishes).unwrap_or_default();
    let text = describe(job) + &wishes + &failures + &notes::told(job, &noted);
    Ok(Told { is_task: false, document: Value::Null, text })
}

/// Likewise, and tasks of it.
fn with_tasks(
    grid: &Api,
    job: &JobView,
    arguments: &StatusArguments,
    phase: Option<TaskPhase>,
) -> Result<Told, Failure> {
    let mut told = summary(grid, job, arguments.grid.json)?;
    let mut tasks = Vec::new();
    let next = grid.each_task(job.job, arguments.from, arguments.limit, phase, |task| {
        tasks.push(task.clone());
        Ok(false)
    })?;
    if arguments.grid.json {
        told.document["list"] = json!(tasks);
        told.document["next"] = json!(next);
        return Ok(told);
    }
    let more =
        next.map(|next| format!("… and more: --from {next}, or a larger --limit\n")).unwrap_or_default();
    told.text += &format!("\n{}{more}{}", list_tasks(&tasks), stays(&tasks));
    Ok(told)
}

/// What a job asks for is in the view of each of its tasks.
fn first_task(grid: &Api, job: JobId) -> Result<Option<TaskView>, Failure> {
    grid.first(job, None)?.map(|number| grid.task(job, number)).transpose()
}

fn describe_wishes(task: &TaskView) -> String {
    let needs = task.needs.as_ref().map(describe_needs).unwrap_or_default();
    needs + &task.asked.as_ref().map(describe_asked).unwrap_or_default()
}

fn describe_needs(needs: &Needs) -> String {
    let Needs { cores, memory, disk, time_limit_s } = *needs;
    let named = |bytes: u64, of: &str| (bytes > 0).then(|| format!("{} of {of}", amount(bytes)));
    let time = (time_limit_s > 0.0).then(|| format!("{} at most", span(time_limit_s)));
    let rest = [named(memory, "memory"), named(disk, "disk"), time].into_iter().flatten();
    let all: Vec<String> = std::iter::once(plural(u64::from(cores), "core")).chain(rest).collect();
    told(&[("needs", all.join(", "))])
}

/// What is as it is where nobody says anything is not told.
fn describe_asked(asked: &Asked) -> String {
    let Asked { priority, retries, quorum, checkpoint, requirements, rank } = asked;
    let parts = [
        (*priority != 0).then(|| format!("priority {priority}")),
        (*retries > 0).then(|| format!("up to {} of a failed task", plural(u64::from(*retries), "more run"))),
        (*quorum > 1).then(|| format!("the same answer of {quorum} machines")),
        checkpoint.then(|| "to go on from its checkpoints".to_owned()),
    ];
    let all: Vec<String> = parts.into_iter().flatten().collect();
    let mut lines = Vec::new();
    if !all.is_empty() {
        lines.push(("asks for", all.join(", ")));
    }
    lines.extend(requirements.as_ref().map(|text| ("requires", shown(text, WHY_WIDTH))));
    lines.extend(rank.as_ref().map(|text| ("rank", shown(text, WHY_WIDTH))));
    told(&lines)
}

fn one_task(task: &TaskView) -> Told {
    let mut document = json!(task);
    document["version"] = json!(1);
    Told { is_task: true, document, text: describe_task(task) }
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
        lines.push(("wasted", format!("{} in runs beside faster ones, or outvoted", span(job.wasted_s))));
    }
    if job.lost_s > 0.0 {
        let what = "in runs that ended without a result and without a checkpoint; `gleaner history` says why";
        lines.push(("lost", format!("{} {what}", span(job.lost_s))));
    }
    if job.results_kept || job.results_until_s.is_some() || job.results_removed.is_some() {
        lines.push(("results", standing(job)));
    }
    lines.extend(job.waits_for.as_ref().map(|why| ("waits for", shown(why, WHY_WIDTH))));
    told(&lines)
}

/// Likewise a task.
fn describe_task(task: &TaskView) -> String {
    let mut lines = vec![
        ("task", format!("{}/{}", task.job, task.task)),
        ("phase", phase(task)),
        ("command", shown(&task.command.join(" "), COMMAND_WIDTH)),
        ("runs", task.runs.to_string()),
    ];
    lines.extend(task.machine.as_ref().map(|machine| ("machine", shown(machine, NAME_WIDTH))));
    lines.extend(task.started_s.map(|at_s| ("started", clock(at_s))));
    if has_ended(task) {
        lines.extend(task.ended_s.map(|at_s| ("ended", clock(at_s))));
        let memory_asked = task.needs.as_ref().map_or(0, |needs| needs.memory);
        lines.extend(task.usage.as_ref().map(|usage| ("took", describe_usage(usage, memory_asked))));
        lines.extend(task.outcome.as_ref().map(|why| ("ended by", failures::ending(why))));
        lines.extend(failures::taken(task).map(|taken| ("too much", taken)));
        lines.extend(task.notes.iter().map(|note| ("note", shown(note, WHY_WIDTH))));
    }
    told(&lines) + &describe_wishes(task) + &stays(std::slice::from_ref(task))
}

fn describe_usage(usage: &Usage, memory_asked: u64) -> String {
    let Usage { elapsed_s, cpu_s, memory_bytes, .. } = *usage;
    let memory =
        (memory_bytes > 0).then(|| format!(", {} of memory", amount_beside(memory_bytes, memory_asked)));
    format!("{}, {} of CPU{}", span(elapsed_s), span(cpu_s), memory.unwrap_or_default())
}

fn told(lines: &[(&str, String)]) -> String {
    lines.iter().map(|(name, value)| format!("{name:<10} {value}\n")).collect()
}

/// What ended the run before is nothing of the one that runs.
fn has_ended(task: &TaskView) -> bool {
    !matches!(task.phase, TaskPhase::Running | TaskPhase::Suspended)
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
    marked(&headings, &rows.collect::<Vec<_>>(), &SPARE, |row| jobs[row].tasks.failed > 0)
}

fn list_tasks(tasks: &[TaskView]) -> String {
    let headings = [
        ("TASK", Side::Right),
        ("PHASE", Side::Left),
        ("RUNS", Side::Right),
        ("MACHINE", Side::Left),
        ("TOOK", Side::Right),
        ("CPU", Side::Right),
        ("MEMORY", Side::Right),
        ("ENDED BY", Side::Left),
    ];
    let rows = tasks.iter().map(|task| {
        let ended = has_ended(task);
        let (usage, outcome) = (task.usage.as_ref().filter(|_| ended), task.outcome.as_ref());
        let used = |cell: &dyn Fn(&Usage) -> Option<String>| usage.and_then(cell).unwrap_or_default();
        vec![
            task.task.to_string(),
            phase(task),
            task.runs.to_string(),
            task.machine.clone().unwrap_or_default(),
            used(&|usage| Some(span(usage.elapsed_s))),
            used(&|usage| Some(span(usage.cpu_s))),
            used(&|usage| (usage.memory_bytes > 0).then(|| amount(usage.memory_bytes))),
            outcome
                .filter(|_| ended)
                .map(|why| failures::ending(why) + &notes::behind(task))
                .unwrap_or_default(),
        ]
    });
    marked(&headings, &rows.collect::<Vec<_>>(), &SPARE_OF_TASKS, |row| tasks[row].phase == TaskPhase::Failed)
}

/// Why runs stay where they are, below the table.
fn stays(tasks: &[TaskView]) -> String {
    let told = tasks.iter().flat_map(|task| {
        task.open_runs
            .iter()
            .filter_map(|run| Some(format!("{}: {}\n", task.task, shown(run.why.as_ref()?, WHY_WIDTH))))
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
            ("waiting", "   1  waiting     2  lab      6.1s  0.0s          being stopped"),
        ] {
            let text = anstream::adapter::strip_str(&list_tasks(&[task(phase)])).to_string();
            assert_eq!(text.lines().nth(1).map(str::trim_end), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_task_is_told_with_its_own_command() {
        let task: TaskView = serde_json::from_value(serde_json::json!({
            "job": 7, "task": 1, "phase": "failed", "runs": 2, "machine": "lab", "outcome": { "exited": { "code": 3 } },
            "command": ["./render", "b\u{1b}[2J"], "usage": { "elapsed_s": 6.1 }, "notes": ["it left no output file x"],
        }))
        .expect("a task");
        let expected = "task       7/1\nphase      failed\ncommand    ./render b [2J\nruns       2\nmachine    lab\n\
                        took       6.1s, 0.0s of CPU\nended by   exit code 3\nnote       it left no output file x\n";
        assert_eq!(describe_task(&task), expected);
        let limited = TaskView {
            outcome: Some(gleaner_wire::session::Outcome::TimedOut),
            needs: Some(Needs { memory: 64_000_000, time_limit_s: 6.0, ..Needs::default() }),
            ..task.clone()
        };
        let told = describe_task(&limited);
        let expected = "ended by   its time limit\ntoo much   its job lets it take 6 s (--time-limit), and it took 6.1 s\n";
        assert!(told.contains(expected), "{told}");
        assert!(told.ends_with("needs      1 core, 64 MB of memory, 6.0s at most\n"), "{told}");
        let mut used = limited.clone();
        used.usage.as_mut().expect("it took some").memory_bytes = 63_995_904;
        let told_of = describe_task(&used);
        assert!(
            told_of.contains("took       6.1s, 0.0s of CPU, 64.0 MB of memory\n"),
            "as it was asked for: {told_of}"
        );
        let asked =
            |json| TaskView { asked: Some(serde_json::from_value(json).expect("it")), ..limited.clone() };
        let usual = serde_json::json!({"priority": 0, "retries": 0, "quorum": 1, "checkpoint": false});
        assert_eq!(describe_task(&asked(usual)), told);
        let unusual = serde_json::json!({"priority": -5, "retries": 2, "quorum": 3, "checkpoint": true,
            "requirements": "TARGET.Cpus > 2"});
        let expected = "asks for   priority -5, up to 2 more runs of a failed task, the same answer of 3 machines, to go on from \
                        its checkpoints\nrequires   TARGET.Cpus > 2\n";
        assert_eq!(describe_task(&asked(unusual)), told + expected);
        let again = TaskView { phase: TaskPhase::Running, ..task };
        assert!(describe_task(&again).ends_with("machine    lab\n"), "what ended the run before is not told");
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
