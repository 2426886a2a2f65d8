//! What a task writes, while it runs and afterwards. Short output is in the journal with the run's end; long output is
//! in a file, to which a run that goes on adds.

use super::api::Api;
use super::caller::Caller;
use super::extract::{Path, Query, patience, within};
use super::looking::{blocking, turn};
use super::own::own_task;
use super::refusal::Refusal;
use super::waiting::{place, task_changed};
use crate::limits::OUTPUT_PIECE_MAX;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use gleaner_server::app::App;
use gleaner_server::desk::{self, Requester};
use gleaner_server::driver::Stopped;
use gleaner_server::journal::Fact;
use gleaner_server::outputs;
use gleaner_server::store::{ReadError, Reader, Removal, Seq};
use gleaner_server::view::{Known, KnownTask};
use gleaner_units::{RunId, Time};
use gleaner_wire::JobId;
use gleaner_wire::limits::OUTPUT_BYTES_MAX;
use gleaner_wire::session::{Stream, Tail};
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::time::{Instant, sleep, sleep_until};
use utoipa::IntoParams;

/// How often a file that grows is looked at while somebody waits: what programs write is no event.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Rows of the journal read at once while looking for a run's end.
const PAGE: usize = 256;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OutputQuery {
    /// Which of the two streams; `stdout` if nothing is said.
    #[serde(default = "stdout")]
    #[param(inline, nullable = false)]
    stream: Stream,
    /// Which run, from 1. If nothing is said: the one that counted, of a task that is done or failed; else the last one.
    #[param(minimum = 1, maximum = 4_294_967_295_u32)]
    run: Option<u32>,
    /// How many bytes to leave out.
    #[serde(default)]
    #[param(minimum = 0, maximum = 67_108_864, default = 0)]
    offset: u64,
    /// Answer as soon as there are bytes from there on or the run is over, or after so many seconds.
    #[serde(default)]
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait_s: u64,
}

fn stdout() -> Stream {
    Stream::Stdout
}

/// A run, and whether it can still write.
#[derive(Clone, Copy)]
struct Standing {
    /// None before the first.
    run: Option<RunId>,
    is_over: bool,
    /// When what its job's runs had written until then was removed.
    removed: Option<(JobId, Removal)>,
}

/// A part of what a run wrote.
struct Piece {
    bytes: Vec<u8>,
    /// Whether nothing comes behind it.
    is_last: bool,
    dropped: u64,
    /// How long all of it is, where that is known.
    length: Option<u64>,
}

/// A part of what a run of a task wrote to one of its streams.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks/{task}/output", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ("task" = u32, Path, description = "Its number there"),
        OutputQuery),
    responses((status = 200, description = "The next bytes", content_type = "application/octet-stream", body = String,
        headers(
            ("Gleaner-Next-Offset" = u64, description = "Where to go on; of a run that is over never behind its end"),
            ("Gleaner-Run" = u32, description = "Which run wrote it; 0 before the first"),
            ("Gleaner-Over" = bool, description = "Whether nothing more comes from that run"),
            ("Gleaner-Dropped" = u64, description = "How many bytes of that run were more than is kept"),
        )))
)]
pub(super) async fn output(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path((job, number)): Path<(u32, u32)>,
    Query(query): Query<OutputQuery>,
) -> Result<Response, Refusal> {
    within("offset", query.offset, &(0..=OUTPUT_BYTES_MAX))?;
    query.run.map(|run| within("run", run, &(1..=u32::MAX))).transpose()?;
    let patience = patience(query.wait_s)?;
    let _place = place(&api, &by, patience)?;
    let (job, deadline) = (JobId(job), Instant::now() + patience);
    let mut live = api.app.desk.live();
    loop {
        let standing = standing(&api, by.clone(), job, number, query.run).await?;
        // Until something happens to the task, only the file can have changed.
        let changed = task_changed(&mut live, job, number);
        tokio::pin!(changed);
        loop {
            let piece = piece(&api, standing, query.stream, query.offset).await?;
            if !piece.bytes.is_empty() || piece.is_last || Instant::now() >= deadline {
                return Ok(answer(standing, query.offset, piece));
            }
            select! {
                () = &mut changed => break,
                () = api.app.desk.closed() => return Err(Stopped.into()),
                () = sleep(LOOK_AGAIN) => {}
                () = sleep_until(deadline) => {}
            }
        }
    }
}

async fn standing(
    api: &Api,
    by: Requester,
    job: JobId,
    number: u32,
    run: Option<u32>,
) -> Result<Standing, Refusal> {
    let look = move |known: Known<'_>, _| {
        let (of, task) = own_task(&known, &by, job, number)?;
        let removed = of.removed.map(|removed| (job, removed));
        let KnownTask { record, runs, .. } = known.task(task)?;
        let ledger = known.ledger();
        let last = || ledger.last_live_run(task).max(record.last_settled());
        // Copies of a run that had the result may be stopped behind it.
        let Some(run) = run.or_else(|| record.result_run()).or_else(last) else {
            return Ok(Standing { run: None, is_over: record.phase.is_over(), removed: None });
        };
        if run > runs {
            return Err(Refusal::not_found(format!("task {job}/{number} has not had a run {run}")).into());
        }
        let run = RunId { task, number: run };
        let goes_on = ledger.grid().find_run(run).is_some_and(gleaner_core::Run::goes_on);
        Ok(Standing { run: Some(run), is_over: !goes_on, removed })
    };
    api.look_back(look).await
}

async fn piece(api: &Api, standing: Standing, stream: Stream, offset: u64) -> Result<Piece, Refusal> {
    let Some(run) = standing.run else {
        let (is_last, length) = (standing.is_over, standing.is_over.then_some(0));
        return Ok(Piece { bytes: Vec::new(), is_last, dropped: 0, length });
    };
    let app = Arc::clone(&api.app);
    // A little of one that goes on; what is over is looked for in its task's history, and compared.
    let turn = if standing.is_over { Some(turn(&api.reads, "reads of what is over").await?) } else { None };
    let read = move || {
        if standing.is_over {
            of_ended(&app, run, (stream, offset), standing.removed)
        } else {
            let bytes = from_file(&app, run, stream, offset)?;
            Ok(Piece { bytes, is_last: false, dropped: 0, length: None })
        }
    };
    blocking("reading output", turn, read).await?
}

fn of_ended(
    app: &App,
    run: RunId,
    (stream, offset): (Stream, u64),
    removed: Option<(JobId, Removal)>,
) -> Result<Piece, Refusal> {
    let end = app.readers.read(|reader| end_of(reader, run, stream))?;
    // Of a run that was given up nobody said when it ended: what was there of it then is gone.
    let ended = end.as_ref().map(|(at, _)| *at);
    if let Some((job, removal)) = removed.filter(|(_, removal)| ended.is_none_or(|at| at <= removal.at)) {
        return Err(Refusal::removed(desk::removed(job, Some(removal))));
    }
    let tail = end.map(|(_, tail)| tail);
    let dropped = tail.as_ref().map_or(0, |tail| tail.dropped);
    let length = tail.as_ref().map(|tail| tail.offset.max(tail.bytes.len() as u64));
    let bytes = match tail {
        // All of it is here.
        Some(tail) if !tail.bytes.is_empty() => {
            let from = usize::try_from(offset).unwrap_or(usize::MAX).min(tail.bytes.len());
            tail.bytes[from..].to_vec()
        }
        Some(tail) => of_length(app, run, stream, offset, tail.offset)?,
        // Of a run that was given up nobody said how much it wrote.
        None => from_file(app, run, stream, offset)?,
    };
    let is_last = bytes.len() < OUTPUT_PIECE_MAX;
    Ok(Piece { bytes, is_last, dropped, length })
}

/// What the end of a run says that it wrote, and no more.
fn of_length(app: &App, run: RunId, stream: Stream, offset: u64, length: u64) -> Result<Vec<u8>, Refusal> {
    let wanted = length.saturating_sub(offset).min(OUTPUT_PIECE_MAX as u64) as usize;
    let mut bytes = from_file(app, run, stream, offset)?;
    if bytes.len() < wanted {
        let (found, number) = (offset + bytes.len() as u64, run.number);
        return Err(Refusal::damaged(format!(
            "the output of run {number} of this task had {length} bytes, and the coordinator's folder has {found} of them; \
             `gleaner journal verify` lists what is missing, `gleaner rerun` makes it again"
        )));
    }
    bytes.truncate(wanted);
    // Once for each time that it is read from its beginning.
    if offset == 0 {
        let changed = outputs::is_changed(app.home.folder(), app.desk.began(), run, stream, length);
        if changed.map_err(|error| unreadable(run, &error))? == Some(true) {
            return Err(Refusal::damaged(format!(
                "the output of run {} of this task is not what the run wrote: the coordinator's disk changed it; \
                 `gleaner journal verify --files` lists what was changed, `gleaner rerun` makes it again",
                run.number
            )));
        }
    }
    Ok(bytes)
}

fn from_file(app: &App, run: RunId, stream: Stream, offset: u64) -> Result<Vec<u8>, Refusal> {
    let read = outputs::read(app.home.folder(), app.desk.began(), run, stream, offset, OUTPUT_PIECE_MAX);
    read.map_err(|error| unreadable(run, &error))
}

fn unreadable(run: RunId, error: &io::Error) -> Refusal {
    Refusal::damaged(format!(
        "the output of run {} of this task cannot be read by the coordinator ({error}); `gleaner rerun` makes it again",
        run.number
    ))
}

/// How a run ended its stream, if its end was reported.
fn end_of(reader: &dyn Reader, run: RunId, stream: Stream) -> Result<Option<(Time, Tail)>, ReadError> {
    let mut from = Seq::FIRST;
    loop {
        let page = reader.history(run.task, from, PAGE)?;
        let Some(last) = page.last() else { return Ok(None) };
        from = last.seq.next();
        let tail = page.iter().find_map(|row| Some((row.row.at, tail_in(&row.row.body, run, stream)?)));
        if tail.is_some() {
            return Ok(tail);
        }
    }
}

fn tail_in(fact: &str, run: RunId, stream: Stream) -> Option<Tail> {
    // Most facts are not ends of runs, and some are long.
    if !fact.starts_with(r#"{"run_ended""#) {
        return None;
    }
    match serde_json::from_str(fact) {
        Ok(Fact::RunEnded { run: ended, end, .. }) if ended == run => Some(match stream {
            Stream::Stdout => end.stdout,
            Stream::Stderr => end.stderr,
        }),
        _ => None,
    }
}

fn answer(standing: Standing, offset: u64, piece: Piece) -> Response {
    // Who asks for what is behind the end goes on at the end.
    let next = offset.saturating_add(piece.bytes.len() as u64).min(piece.length.unwrap_or(u64::MAX));
    let run = standing.run.map_or(0, |run| run.number);
    let header = |name, value: u64| (HeaderName::from_static(name), HeaderValue::from(value));
    let over = HeaderValue::from_static(if piece.is_last { "true" } else { "false" });
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        header("gleaner-next-offset", next),
        header("gleaner-run", u64::from(run)),
        (HeaderName::from_static("gleaner-over"), over),
        header("gleaner-dropped", piece.dropped),
    ];
    (headers, piece.bytes).into_response()
}
