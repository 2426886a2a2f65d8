//! What a user should know of tasks that are done: which output files they did not leave, and what a machine's owner cut.

use crate::api::Api;
use crate::columns::{plural, shown};
use crate::failure::Failure;
use gleaner_wire::JobId;
use gleaner_wire::api::{JobView, TaskPhase, TaskView};

/// So many tasks that are done are looked at.
const LOOKED_AT: u32 = 1_000;
/// So many different notes are told.
const TOLD: usize = 8;
const NOTE_WIDTH: usize = 200;

/// What was noted of some tasks.
pub(crate) struct Noted {
    note: String,
    count: u32,
    /// One of them.
    example: u32,
}

/// What was noted of the tasks of a job that are done, the most frequent first.
pub(crate) fn of(grid: &Api, job: &JobView) -> Result<Vec<Noted>, Failure> {
    let mut noted = Vec::new();
    if job.tasks.done > 0 {
        grid.each_task(job.job, 0, LOOKED_AT, Some(TaskPhase::Done), |task| {
            count(&mut noted, task);
            Ok(())
        })?;
    }
    noted.sort_by_key(|noted| std::cmp::Reverse(noted.count));
    Ok(noted)
}

fn count(noted: &mut Vec<Noted>, task: &TaskView) {
    for note in &task.notes {
        match noted.iter_mut().find(|noted| noted.note == *note) {
            Some(noted) => noted.count += 1,
            None => noted.push(Noted { note: note.clone(), count: 1, example: task.task }),
        }
    }
}

/// A line for each note.
pub(crate) fn told(job: &JobView, noted: &[Noted]) -> String {
    let of = if job.tasks.done > LOOKED_AT {
        format!(" of the first {LOOKED_AT} that are done")
    } else {
        String::new()
    };
    let mut text: String = noted.iter().take(TOLD).map(|noted| noted.told(job.job, &of)).collect();
    if noted.len() > TOLD {
        let more = plural((noted.len() - TOLD) as u64, "other note");
        text += &format!("and {more}: `gleaner status JOB --tasks` lists the tasks\n");
    }
    text
}

impl Noted {
    fn told(&self, job: JobId, of: &str) -> String {
        let Self { note, count, example } = self;
        let which = if *count == 1 { "it is" } else { "one is" };
        let tasks = plural(u64::from(*count), "task");
        format!("note       {tasks}{of}: {}; {which} {job}/{example}\n", shown(note, NOTE_WIDTH))
    }
}

/// Behind what ended a task's run.
pub(crate) fn behind(task: &TaskView) -> String {
    task.notes.iter().map(|note| format!("; {}", shown(note, NOTE_WIDTH))).collect()
}
