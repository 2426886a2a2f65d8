//! Why tasks of a job failed: how many by each reason, with one of them and the last line of its standard error.

use crate::alike::Alike;
use crate::api::Api;
use crate::columns::{plural, shown};
use crate::failure::Failure;
use crate::lacking::{is_damaged, is_removed};
use crate::logs::{last_lines, whole};
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, TaskPhase, TaskView};
use gleaner_wire::session::{CHECKPOINT_NOT_KEPT, Outcome as Ending, Stream};
use serde_json::{Value, json};

/// So many failed tasks are looked at; a job with more has most of its reasons among them.
const LOOKED_AT: u32 = 20_000;
/// So many reasons are told.
const TOLD: usize = 8;
const LINE_WIDTH: usize = 160;
/// What ended a run says at its end what to do.
const WHY_WIDTH: usize = 400;

/// One reason.
pub(crate) struct Reason {
    job: JobId,
    /// What ended the last runs of these tasks.
    why: Alike,
    /// How much the example took, where that was too much, and that its checkpoint is lost, where it is.
    taken: Option<String>,
    /// The last line that the example wrote to standard error, or why it is not there; nothing where nobody looked.
    last_line: Option<String>,
}

/// The reasons for which tasks of a job failed, the most frequent first.
pub(crate) fn of(grid: &Api, job: &JobView) -> Result<Vec<Reason>, Failure> {
    if job.tasks.failed == 0 {
        return Ok(Vec::new());
    }
    let mut reasons = Vec::new();
    grid.each_task(job.job, 0, LOOKED_AT, Some(TaskPhase::Failed), |task| {
        let why = task.outcome.as_ref().map_or_else(|| "no reason is known".to_owned(), ending);
        Alike::add(&mut reasons, why, task.task);
        Ok(false)
    })?;
    Alike::sort(&mut reasons);
    let reasons = reasons.into_iter().map(|why| Reason { job: job.job, why, taken: None, last_line: None });
    let mut reasons: Vec<Reason> = reasons.collect();
    for reason in reasons.iter_mut().take(TOLD) {
        let example = grid.task(job.job, reason.why.example)?;
        reason.taken =
            taken(&example).into_iter().chain(not_kept(&example)).reduce(|one, more| one + "; " + &more);
        let mut written = Vec::new();
        let last_line = match whole(grid, (job.job, reason.why.example), Stream::Stderr, &mut written) {
            Ok(()) => shown(String::from_utf8_lossy(last_lines(&written, 1)).trim(), LINE_WIDTH),
            // All else is known all the same.
            Err(why) if is_removed(&why) => "its output was removed".to_owned(),
            Err(why) if is_damaged(&why) => "its output is damaged".to_owned(),
            Err(why) => return Err(why),
        };
        reason.last_line = Some(last_line);
    }
    Ok(reasons)
}

/// How many failed tasks of a job the reasons are those of.
fn looked_at(job: &JobView) -> u32 {
    job.tasks.failed.min(LOOKED_AT)
}

/// A line for each reason, of so many tasks that failed.
pub(crate) fn told(reasons: &[Reason], failed: u32) -> String {
    let mut text: String = reasons.iter().take(TOLD).map(Reason::told).collect();
    if reasons.len() > TOLD {
        let more = plural((reasons.len() - TOLD) as u64, "other reason");
        text += &format!("and {more}: `gleaner status JOB --failed` lists the tasks\n");
    }
    if failed > LOOKED_AT {
        text += &format!("these are the first {LOOKED_AT} of {failed} failed tasks\n");
    }
    text
}

/// A job as JSON, with the reasons for which tasks of it failed: `null` where these could not be asked for.
pub(crate) fn with_reasons(grid: &Api, job: &JobView) -> Value {
    let mut view = json!(job);
    view["reasons"] = of(grid, job).map_or(Value::Null, |reasons| document(&reasons));
    view["reasons_of"] = json!(looked_at(job));
    view
}

/// The same as JSON, and all of them.
fn document(reasons: &[Reason]) -> Value {
    reasons.iter().map(Reason::document).collect()
}

impl Reason {
    fn document(&self) -> Value {
        let Self { why: Alike { what, count, example }, last_line, .. } = self;
        json!({ "reason": what, "tasks": count, "example": example, "last_line": last_line })
    }

    fn told(&self) -> String {
        let Self { job, why, taken, last_line } = self;
        let said = last_line.as_deref().filter(|line| !line.is_empty());
        let more: Vec<&str> = taken.as_deref().into_iter().chain(said).collect();
        let more = if more.is_empty() { String::new() } else { format!(": {}", more.join("; ")) };
        format!("failed     {} by {}; {}{more}\n", why.tasks(), why.what, why.named(*job))
    }
}

/// How much the last run of a task took, where that was too much. It is a view of the one task.
pub(crate) fn taken(task: &TaskView) -> Option<String> {
    let (needs, usage) = (task.needs.clone().unwrap_or_default(), task.usage.unwrap_or_default());
    task.outcome.as_ref()?.taken(&needs, &usage)
}

/// That the checkpoint of a task's last run was not kept: if it is run again, it begins anew.
fn not_kept(task: &TaskView) -> Option<String> {
    let note = task.notes.iter().find(|note| note.starts_with(CHECKPOINT_NOT_KEPT))?;
    Some(shown(note, WHY_WIDTH))
}

/// What ended a run.
pub(crate) fn ending(outcome: &Ending) -> String {
    match outcome {
        Ending::Exited { code } => format!("exit code {code}"),
        Ending::Signalled { signal } => format!("signal {signal}{}", meant(*signal)),
        Ending::Stopped => "being stopped".to_owned(),
        Ending::TimedOut => "its time limit".to_owned(),
        Ending::OverLimit { what } => match Ending::find_refused(what) {
            Some(refused) => format!("leaving what is refused: {}", shown(refused, WHY_WIDTH)),
            None => format!("too much {}", shown(what, WHY_WIDTH)),
        },
        Ending::Abandoned { why } => format!("being lost: {}", shown(why, WHY_WIDTH)),
        Ending::NotStarted { why, .. } => format!("not starting: {}", shown(why, WHY_WIDTH)),
    }
}

/// What a program mostly did that is ended by such a signal.
fn meant(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL: an instruction that its machine does not have)",
        6 => " (SIGABRT: it gave up by itself)",
        7 => " (SIGBUS: a wrong address in memory)",
        8 => " (SIGFPE: a division by zero, or the like)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV: a wrong address in memory)",
        13 => " (SIGPIPE: nobody read what it wrote)",
        15 => " (SIGTERM)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_told_in_a_line() {
        let reason = |count, last_line: &str| Reason {
            job: JobId(7),
            why: Alike { what: "exit code 1".to_owned(), count, example: 3 },
            taken: None,
            last_line: Some(last_line.to_owned()),
        };
        assert_eq!(reason(1, "").told(), "failed     1 task by exit code 1; it is 7/3\n");
        assert_eq!(
            reason(12, "no such file").told(),
            "failed     12 tasks by exit code 1; one is 7/3: no such file\n"
        );
        let taken = Some("at its peak it used 64 MB".to_owned());
        assert_eq!(
            Reason { taken, ..reason(12, "Killed") }.told(),
            "failed     12 tasks by exit code 1; one is 7/3: at its peak it used 64 MB; Killed\n"
        );
        assert_eq!(
            document(&[reason(12, "no such file")]),
            json!([{ "reason": "exit code 1", "tasks": 12, "example": 3, "last_line": "no such file" }])
        );
        assert_eq!(ending(&Ending::refused("files", "a: why")), "leaving what is refused: files: a: why");
        for (signal, expected) in [(11, "signal 11 (SIGSEGV: a wrong address in memory)"), (42, "signal 42")]
        {
            assert_eq!(ending(&Ending::Signalled { signal }), expected);
        }
        let many: Vec<Reason> = (0..TOLD + 2).map(|_| reason(1, "")).collect();
        assert!(
            told(&many, 10).ends_with("and 2 other reasons: `gleaner status JOB --failed` lists the tasks\n")
        );
        let counts = told(&many, 1_000_000);
        assert!(counts.ends_with("these are the first 20000 of 1000000 failed tasks\n"), "{counts}");
    }

    #[test]
    fn a_lost_checkpoint_is_told_and_no_other_note() {
        let task = |notes: &[&str]| -> TaskView {
            let view = json!({ "job": 7, "task": 1, "phase": "failed", "runs": 2, "notes": notes });
            serde_json::from_value(view).expect("a task")
        };
        assert_eq!(not_kept(&task(&["it left no output file x"])), None);
        let lost = "its checkpoint was not kept, since its task had no try left (--retries)";
        assert_eq!(not_kept(&task(&["it left no output file x", lost])).as_deref(), Some(lost));
    }
}
