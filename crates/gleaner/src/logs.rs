//! `gleaner logs`: what tasks wrote; as they wrote it, unless a terminal is to show it (`shown`).

use crate::api::{Api, Piece};
use crate::cli::LogsArguments;
use crate::columns::plural;
use crate::failure::Failure;
use crate::lacking::{self, Lacking};
use crate::shown::outlet;
use crate::which::{self, Chosen};
use crate::{Outcome, lasting, stdout};
use gleaner_wire::JobId;
use gleaner_wire::session::Stream;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;

/// How long the coordinator may wait for something to be written before it answers with nothing.
const PATIENCE_S: u32 = 30;
/// Between two runs of a task there is nothing to wait for at the coordinator.
const PAUSE: Duration = Duration::from_millis(300);

pub(crate) fn run(arguments: &LogsArguments) -> Outcome {
    if arguments.follow && arguments.grid.json {
        let why = "-f goes on, and --json is one answer: leave one of them out";
        return Err(Failure::Usage(why.to_owned()));
    }
    let grid = Api::open(&arguments.grid)?;
    let jobs = which::chosen(&grid, &arguments.of)?;
    let mut documents = Vec::new();
    let is_alone = jobs.len() == 1 && which::are_single(&arguments.of, &jobs);
    let mut outcomes = Vec::new();
    for chosen in &jobs {
        let tasks = match tasks_of(&grid, chosen) {
            // Of the others there may be something to show.
            Err(why) if why.is_refused() => {
                outcomes.push((chosen.job, Err(why)));
                continue;
            }
            tasks => tasks?,
        };
        let (job, is_headed) = (chosen.job, tasks.len() > 1 || jobs.len() > 1);
        let (mut lacking, mut outputs, mut never_ran) = (Lacking::default(), Vec::new(), 0);
        for &(number, runs) in &tasks {
            let shown = if arguments.grid.json {
                as_json(&grid, (job, number), arguments).map(|output| {
                    outputs.push(output);
                    Shown::Whole
                })
            } else {
                below_heading(&grid, (job, number), runs, is_headed, arguments)
            };
            match shown {
                Err(why) if is_alone => return Err(why),
                Err(why) => lacking.note(number, why)?,
                Ok(Shown::Unread) => return Ok(()),
                Ok(Shown::NeverRan) => never_ran += 1,
                Ok(Shown::Whole) => {}
            }
        }
        if arguments.grid.json {
            documents.push(json!({ "version": 1, "job": job, "outputs": outputs }));
        } else if never_ran > 0 {
            let never_ran = plural(never_ran, "task");
            anstream::eprintln!("-- {never_ran} of job {job} never ran and wrote nothing --");
        }
        outcomes.push((job, lacking.expect_none(tasks.len(), "the output of the other tasks was shown")));
    }
    if arguments.grid.json {
        stdout::print_jobs(&documents, jobs.len())?;
    }
    lacking::of_jobs(outcomes)
}

/// What came of the output of a task.
enum Shown {
    Whole,
    /// It never ran.
    NeverRan,
    /// Whoever reads it has read enough and gone.
    Unread,
}

/// Shows what a task wrote that has had so many runs, below its name if it is one of several. Of one without a run there is nothing to
/// show, unless somebody follows it.
fn below_heading(
    grid: &Api,
    (job, number): (JobId, u32),
    runs: Option<u32>,
    is_headed: bool,
    arguments: &LogsArguments,
) -> Result<Shown, Failure> {
    let ask = || grid.task(job, number).map(|task| task.runs);
    let show = |is_headed| -> Result<bool, Failure> {
        let heading = || stdout::print_more(format!("==> {job}/{number} <==\n"));
        Ok((is_headed && heading()?) || as_text(grid, (job, number), arguments)?)
    };
    if arguments.follow {
        if show(is_headed)? {
            return Ok(Shown::Unread);
        }
        return Ok(if ask()? == 0 { Shown::NeverRan } else { Shown::Whole });
    }
    let runs = runs.map_or_else(ask, Ok)?;
    if runs == 0 && arguments.run.is_none() {
        return Ok(Shown::NeverRan);
    }
    // Of a run that there was not, the coordinator says so.
    let is_there = arguments.run.is_none_or(|run| run <= runs);
    Ok(if show(is_headed && is_there)? { Shown::Unread } else { Shown::Whole })
}

/// Whether whoever reads it has read enough and gone, as for all that shows output here.
fn as_text(grid: &Api, task: (JobId, u32), arguments: &LogsArguments) -> Result<bool, Failure> {
    match (arguments.only(), arguments.follow) {
        (Some(stream), true) => follow(grid, task, &[stream]),
        (None, true) => follow(grid, task, &Stream::ALL),
        (Some(stream), false) => show(grid, task, stream, arguments, &mut *outlet(io::stdout().lock())),
        // Each where the program wrote it.
        (None, false) => Ok(show(grid, task, Stream::Stdout, arguments, &mut *outlet(io::stdout().lock()))?
            || show(grid, task, Stream::Stderr, arguments, &mut *outlet(io::stderr().lock()))?),
    }
}

impl LogsArguments {
    /// The stream that alone is asked for.
    fn only(&self) -> Option<Stream> {
        match (self.stdout, self.stderr) {
            (true, _) => Some(Stream::Stdout),
            (_, true) => Some(Stream::Stderr),
            (false, false) => None,
        }
    }
}

/// The tasks that are meant of a job, with how many runs they have had where that is known with them.
fn tasks_of(grid: &Api, chosen: &Chosen) -> Result<Vec<(u32, Option<u32>)>, Failure> {
    if !chosen.tasks.is_empty() {
        return Ok(chosen.tasks.iter().map(|&number| (number, None)).collect());
    }
    let mut tasks = Vec::new();
    grid.each_task(chosen.job, 0, u32::MAX, None, |task| {
        tasks.push((task.task, Some(task.runs)));
        Ok(false)
    })?;
    Ok(tasks)
}

/// Their numbers alone.
pub(crate) fn task_numbers(grid: &Api, chosen: &Chosen) -> Result<Vec<u32>, Failure> {
    Ok(tasks_of(grid, chosen)?.into_iter().map(|(number, _)| number).collect())
}

/// Writes what the run of a task that counts, or its last one, has written so far. The bytes are the program's own: they go out as they are.
pub(crate) fn whole(grid: &Api, task: (JobId, u32), stream: Stream, out: &mut dyn Write) -> Outcome {
    of_run(grid, task, stream, None, out)?.into_iter().for_each(tell_dropped);
    Ok(())
}

/// Likewise, of the run that is meant; how much of it was dropped, or nothing if nobody reads any more.
fn of_run(
    grid: &Api,
    task: (JobId, u32),
    stream: Stream,
    run: Option<u32>,
    out: &mut dyn Write,
) -> Result<Option<u64>, Failure> {
    let mut offset = 0;
    loop {
        let piece = grid.output(task, stream, run, offset, 0)?;
        if piece.bytes.is_empty() {
            return Ok(Some(piece.dropped));
        }
        if stdout::is_closed(out.write_all(&piece.bytes).and_then(|()| out.flush()))? {
            return Ok(None);
        }
        offset = piece.next;
    }
}

fn show(
    grid: &Api,
    task: (JobId, u32),
    stream: Stream,
    arguments: &LogsArguments,
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    let Some(lines) = arguments.tail else {
        let dropped = of_run(grid, task, stream, arguments.run, out)?;
        dropped.into_iter().for_each(tell_dropped);
        return Ok(dropped.is_none());
    };
    let mut bytes = Vec::new();
    of_run(grid, task, stream, arguments.run, &mut bytes)?.into_iter().for_each(tell_dropped);
    stdout::is_closed(out.write_all(last_lines(&bytes, lines)).and_then(|()| out.flush()))
}

/// The last lines of a text; the very last may lack its end.
pub(crate) fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let ends = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match lines.checked_sub(1) {
        None => &[],
        Some(before) => ends.map(|(at, _)| at + 1).nth(before).map_or(text, |from| &text[from..]),
    }
}

/// How far a stream of a task's run was read.
struct Followed {
    stream: Stream,
    out: Box<dyn Write>,
    offset: u64,
    is_at_end: bool,
}

/// One stream waits for something to be written; two are asked in turns.
fn follow(grid: &Api, task: (JobId, u32), streams: &[Stream]) -> Result<bool, Failure> {
    let out = |stream| match (stream, streams.len()) {
        (Stream::Stderr, 2) => outlet(io::stderr().lock()),
        _ => outlet(io::stdout().lock()),
    };
    let followed = |&stream| Followed { stream, out: out(stream), offset: 0, is_at_end: false };
    let from_start = || streams.iter().map(followed).collect();
    let mut all: Vec<Followed> = from_start();
    let mut run = None;
    let patience_s = if all.len() == 1 { PATIENCE_S } else { 1 };
    loop {
        // Whether it is over is known before the last of it is read.
        let phase = || lasting::ask(|| Ok(grid.task(task.0, task.1)?.phase));
        let is_over = all.iter().all(|one| one.is_at_end) && phase()?.is_over();
        let (mut has_more, mut next) = (false, None);
        for one in &mut all {
            let wait_s = if is_over { 0 } else { patience_s };
            let piece = lasting::ask(|| grid.output(task, one.stream, None, one.offset, wait_s))?;
            if run.is_some() && piece.run != run {
                // What came now counts from the old run's end.
                next = piece.run;
                break;
            }
            run = piece.run;
            let Some(dropped) = write_piece(one, &piece)? else { return Ok(true) };
            has_more |= !one.is_at_end;
            if is_over && one.is_at_end {
                tell_dropped(dropped);
            }
        }
        if let Some(next) = next {
            // The rest of the old run comes first, of all its streams; then the new one is read from its start.
            for one in &mut all {
                one.is_at_end = false;
                while !one.is_at_end {
                    let piece = lasting::ask(|| grid.output(task, one.stream, run, one.offset, 0))?;
                    if write_piece(one, &piece)?.is_none() {
                        return Ok(true);
                    }
                    one.is_at_end |= piece.bytes.is_empty();
                }
            }
            anstream::eprintln!("-- run {next} --");
            (all, run) = (from_start(), Some(next));
        } else if is_over && !has_more {
            return Ok(false);
        } else if !has_more {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Writes it where it belongs; how much of the stream was dropped, or nothing if nobody reads any more.
fn write_piece(one: &mut Followed, piece: &Piece) -> Result<Option<u64>, Failure> {
    if stdout::is_closed(one.out.write_all(&piece.bytes).and_then(|()| one.out.flush()))? {
        return Ok(None);
    }
    one.offset = piece.next;
    one.is_at_end = piece.bytes.is_empty() && (piece.over || piece.run.is_none());
    Ok(Some(piece.dropped))
}

fn tell_dropped(bytes: u64) {
    if bytes > 0 {
        anstream::eprintln!(
            "-- {bytes} bytes are not kept, since they were too much or their machine did not send them: let the task write them to a file, \
             and name it with --output --"
        );
    }
}

fn as_json(grid: &Api, task: (JobId, u32), arguments: &LogsArguments) -> Result<Value, Failure> {
    let read = |stream| {
        let mut bytes: Vec<u8> = Vec::new();
        let dropped = of_run(grid, task, stream, arguments.run, &mut bytes)?.unwrap_or(0);
        let shown = arguments.tail.map_or(&bytes[..], |lines| last_lines(&bytes, lines));
        Ok::<_, Failure>((String::from_utf8_lossy(shown).into_owned(), dropped))
    };
    let (text, dropped) = read(arguments.only().unwrap_or(Stream::Stdout))?;
    let mut document = json!({ "task": task.1, "text": text, "dropped": dropped });
    if arguments.only().is_none() {
        let (text, dropped) = read(Stream::Stderr)?;
        document["stderr"] = json!(text);
        document["stderr_dropped"] = json!(dropped);
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines() {
        for (text, lines, expected) in [
            ("a\nb\nc\n", 2, "b\nc\n"),
            ("a\nb\nc", 1, "c"),
            ("a\nb\n", 5, "a\nb\n"),
            ("a\n\n", 1, "\n"),
            ("", 3, ""),
            ("a\n", 0, ""),
        ] {
            assert_eq!(last_lines(text.as_bytes(), lines), expected.as_bytes(), "{text:?} {lines}");
        }
    }
}
