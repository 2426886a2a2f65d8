//! `gleaner logs`: what tasks wrote, as they wrote it.

use crate::cli::LogsArguments;
use crate::failure::Failure;
use crate::grid::{Grid, Stream};
use crate::{Outcome, stdout};
use gleaner_wire::JobId;
use serde_json::json;
use std::io::Write;
use std::time::Duration;

/// How long the coordinator may wait for something to be written before it answers with nothing.
const PATIENCE_S: u32 = 30;
/// Between two runs of a task there is nothing to wait for at the coordinator.
const PAUSE: Duration = Duration::from_millis(300);
const TASKS_AT_ONCE: u32 = 1000;

pub(crate) fn run(arguments: &LogsArguments) -> Outcome {
    let grid = Grid::open(&arguments.grid)?;
    let stream = if arguments.stderr { Stream::Stderr } else { Stream::Stdout };
    let job = arguments.of.job;
    let tasks = match arguments.of.task {
        Some(task) => vec![task],
        None => task_numbers(&grid, job)?,
    };
    if arguments.grid.json {
        return as_json(&grid, job, &tasks, stream);
    }
    for &task in &tasks {
        if tasks.len() > 1 {
            stdout::print(format!("==> {job}/{task} <==\n"))?;
        }
        if arguments.follow {
            follow(&grid, (job, task), stream)?;
        } else {
            whole(&grid, (job, task), stream, &mut std::io::stdout().lock())?;
        }
    }
    Ok(())
}

/// The numbers of all tasks of a job.
pub(crate) fn task_numbers(grid: &Grid, job: JobId) -> Result<Vec<u32>, Failure> {
    let mut numbers = Vec::new();
    let mut from = Some(0);
    while let Some(start) = from {
        let page = grid.tasks(job, start, TASKS_AT_ONCE, None)?;
        numbers.extend(page.tasks.iter().map(|task| task.task));
        from = page.next;
    }
    Ok(numbers)
}

/// Writes what the task's last run has written so far. The bytes are the program's own: they go out as they are.
pub(crate) fn whole(grid: &Grid, task: (JobId, u32), stream: Stream, out: &mut dyn Write) -> Outcome {
    let mut offset = 0;
    loop {
        let piece = grid.output(task, stream, offset, 0)?;
        if piece.bytes.is_empty() {
            tell_dropped(piece.dropped);
            return Ok(());
        }
        if stdout::is_closed(out.write_all(&piece.bytes).and_then(|()| out.flush()))? {
            return Ok(());
        }
        offset = piece.next;
    }
}

fn follow(grid: &Grid, task: (JobId, u32), stream: Stream) -> Outcome {
    let mut out = std::io::stdout().lock();
    let (mut offset, mut run) = (0, None);
    loop {
        let piece = grid.output(task, stream, offset, PATIENCE_S)?;
        if run.is_some() && piece.run != run {
            // What came now counts from the old run's end: the new one is read from its start.
            anstream::eprintln!("-- run {} --", piece.run.unwrap_or(0));
            (offset, run) = (0, piece.run);
            continue;
        }
        run = piece.run;
        if stdout::is_closed(out.write_all(&piece.bytes).and_then(|()| out.flush()))? {
            return Ok(());
        }
        offset = piece.next;
        if !piece.bytes.is_empty() || !piece.over && piece.run.is_some() {
            continue;
        }
        if grid.task(task.0, task.1)?.phase.is_over() {
            tell_dropped(piece.dropped);
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
}

fn tell_dropped(bytes: u64) {
    if bytes > 0 {
        anstream::eprintln!(
            "-- {bytes} bytes more were too much to keep: let the task write them to a file, and name it with --output --"
        );
    }
}

fn as_json(grid: &Grid, job: JobId, tasks: &[u32], stream: Stream) -> Outcome {
    let mut outputs = Vec::with_capacity(tasks.len());
    for &task in tasks {
        let mut bytes = Vec::new();
        whole(grid, (job, task), stream, &mut bytes)?;
        outputs.push(json!({ "task": task, "text": String::from_utf8_lossy(&bytes) }));
    }
    stdout::print_json(&json!({ "version": 1, "job": job, "outputs": outputs }))
}
