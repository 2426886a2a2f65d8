//! What a user should know of tasks that are done: which output files they did not leave, and what a machine's owner cut.

use crate::alike::Alike;
use crate::api::Api;
use crate::columns::{plural, shown};
use crate::failure::Failure;
use gleaner_wire::api::{JobView, TaskPhase, TaskView};

/// So many tasks that are done are looked at.
const LOOKED_AT: u32 = 1_000;
/// So many different notes are told.
const TOLD: usize = 8;
const NOTE_WIDTH: usize = 200;

/// What was noted of the tasks of a job that are done, the most frequent first.
pub(crate) fn of(grid: &Api, job: &JobView) -> Result<Vec<Alike>, Failure> {
    let mut noted = Vec::new();
    if job.tasks.done > 0 {
        grid.each_task(job.job, 0, LOOKED_AT, Some(TaskPhase::Done), |task| {
            task.notes.iter().for_each(|note| Alike::add(&mut noted, note.clone(), task.task));
            Ok(false)
        })?;
    }
    Alike::sort(&mut noted);
    Ok(noted)
}

/// A line for each note.
pub(crate) fn told(job: &JobView, noted: &[Alike]) -> String {
    let of = if job.tasks.done > LOOKED_AT {
        format!(" of the first {LOOKED_AT} that are done")
    } else {
        String::new()
    };
    let line = |noted: &Alike| {
        let note = shown(&noted.what, NOTE_WIDTH);
        format!("note       {}{of}: {note}; {}\n", noted.tasks(), noted.named(job.job))
    };
    let mut text: String = noted.iter().take(TOLD).map(line).collect();
    if noted.len() > TOLD {
        let more = plural((noted.len() - TOLD) as u64, "other note");
        text += &format!("and {more}: `gleaner status JOB --tasks` lists the tasks\n");
    }
    text
}

/// Behind what ended a task's run.
pub(crate) fn behind(task: &TaskView) -> String {
    task.notes.iter().map(|note| format!("; {}", shown(note, NOTE_WIDTH))).collect()
}
