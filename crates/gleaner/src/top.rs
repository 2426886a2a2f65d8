//! `gleaner top`: the grid in the terminal. One thread asks the coordinator, this one draws and hears keys.

mod draw;
mod screen;
mod sorting;
#[cfg(test)]
mod tests;

use crate::api::Api;
use crate::cli::PlainArguments;
use crate::failure::Failure;
use crate::{Outcome, stdout};
use gleaner_wire::api::Choice;
use gleaner_wire::session::Stream;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use screen::{Act, Look, Output, Screen, Seen, Shown};
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the coordinator is asked.
const PERIOD: Duration = Duration::from_secs(1);
/// How long to wait for a key before looking whether there is news.
const PATIENCE: Duration = Duration::from_millis(100);
/// Jobs and tasks that are asked for.
const LISTED: u32 = 500;
/// Bytes of output that are kept: its end.
const OUTPUT_KEPT: usize = 256 << 10;

pub(crate) fn run(arguments: &PlainArguments) -> Outcome {
    let failed = |error: io::Error| Failure::Io { what: "the terminal cannot be drawn on".to_owned(), error };
    let (asking, ordering) = (Api::open(&arguments.grid)?, Api::open(&arguments.grid)?);
    // What is wrong with the coordinator is said before the screen is taken.
    let first = seen(&asking, &Look::Grid, None)?;
    if arguments.grid.json {
        return stdout::print_json(&first.grid);
    }
    if !io::stdout().is_terminal() {
        return Err(Failure::Usage(
            "top draws on a terminal, and there is none; `gleaner status` lists jobs and `gleaner machines` machines, `gleaner explain \
             JOB` says why one waits, and `gleaner top --json` counts"
                .to_owned(),
        ));
    }
    let wanted = Arc::new(Mutex::new(Look::Grid));
    let (tell, news) = channel();
    let looked_at = Arc::clone(&wanted);
    thread::spawn(move || keep_asking(&asking, &looked_at, &tell));
    let mut screen = Screen::new(first);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let ended = show(&mut terminal, &mut screen, (&ordering, &wanted, &news));
    ratatui::restore();
    ended.map_err(failed)
}

type News = Result<Seen, String>;

fn show(
    terminal: &mut ratatui::DefaultTerminal,
    screen: &mut Screen,
    (grid, wanted, news): (&Api, &Mutex<Look>, &Receiver<News>),
) -> io::Result<()> {
    loop {
        for told in news.try_iter() {
            screen.hear(told);
        }
        terminal.draw(|frame| draw::draw(frame, screen))?;
        if !event::poll(PATIENCE)? {
            continue;
        }
        let Event::Key(key) = event::read()? else { continue };
        if key.kind != KeyEventKind::Press {
            continue;
        }
        match screen.key(key) {
            Some(Act::Quit) => return Ok(()),
            Some(Act::Look(look)) => *wanted.lock().unwrap_or_else(PoisonError::into_inner) = look,
            Some(Act::Order { job, order, task }) => {
                let tasks: Vec<u32> = task.into_iter().collect();
                let choice = Choice { failed: order == "rerun" && tasks.is_empty(), tasks };
                screen.news = match grid.order(job, order, &choice) {
                    Ok(done) => format!("{order}: {} tasks of job {job}", done.tasks),
                    Err(failure) => failure.to_string(),
                };
            }
            Some(Act::Machine { machine, order }) => {
                screen.news = match grid.machine(&machine, order) {
                    Ok(_) => format!("{order}: {machine}"),
                    Err(failure) => failure.to_string(),
                };
            }
            None => {}
        }
    }
}

/// Asks until nobody hears any more.
fn keep_asking(grid: &Api, wanted: &Mutex<Look>, tell: &Sender<News>) {
    let mut before: Option<Seen> = None;
    loop {
        let began = Instant::now();
        let look = wanted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let told = seen(grid, &look, before.as_ref());
        before = told.as_ref().ok().cloned();
        if tell.send(told.map_err(|failure| failure.to_string())).is_err() {
            return;
        }
        // Whoever looks at something else does not wait for it.
        while began.elapsed() < PERIOD && *wanted.lock().unwrap_or_else(PoisonError::into_inner) == look {
            thread::sleep(PATIENCE);
        }
    }
}

fn seen(grid: &Api, look: &Look, before: Option<&Seen>) -> Result<Seen, Failure> {
    let shown = match look {
        Look::Grid => Shown::Grid,
        &Look::Job(job) => Shown::Job {
            job: Box::new(grid.job(job)?),
            tasks: grid.tasks(job, 0, LISTED, None)?.tasks,
            failures: grid.failures(job)?.failures,
        },
        &Look::Task(job, task, stream) => Shown::Task {
            task: Box::new(grid.task(job, task)?),
            explanation: Box::new(grid.explain(job, task, None)?),
            output: output(grid, look, stream, before)?,
        },
    };
    Ok(Seen {
        grid: grid.overview()?,
        jobs: grid.jobs(LISTED, None, None)?.jobs,
        machines: grid.machines()?.machines,
        waits: grid.waits()?,
        look: look.clone(),
        shown,
    })
}

/// What the task wrote, from where it was read to before.
fn output(grid: &Api, look: &Look, stream: Stream, before: Option<&Seen>) -> Result<Output, Failure> {
    let &Look::Task(job, task, _) = look else { return Ok(Output::default()) };
    let mut output = match before {
        Some(Seen { look: same, shown: Shown::Task { output, .. }, .. }) if same == look => output.clone(),
        _ => Output::default(),
    };
    loop {
        let piece = grid.output((job, task), stream, None, output.offset, 0)?;
        if piece.run != output.run && output.run.is_some() {
            output = Output { run: piece.run, ..Output::default() };
            continue;
        }
        (output.run, output.offset) = (piece.run, piece.next);
        output.bytes.extend_from_slice(&piece.bytes);
        let surplus = output.bytes.len().saturating_sub(OUTPUT_KEPT);
        output.bytes.drain(..surplus);
        if piece.bytes.is_empty() || piece.over {
            return Ok(output);
        }
    }
}
