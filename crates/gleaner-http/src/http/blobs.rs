//! Files in and out, under the hash of their content. They pass through in pieces: nothing is held in memory.
//!
//! - **A hash opens nothing.** A user gets at what they sent and at what their jobs name as inputs, an agent at what its
//!   present runs need. For everybody else a file is not there, and sending it takes as long as if it were not. What a task left
//!   is asked for as that task's: no index says by its hash whose it is.
//! - **What is sent is what was kept, or its end is missing**: the last piece leaves once the whole is known to be sound. What is
//!   not is put aside, so that who asks again hears that it is not there, and who has it stores it anew.

use super::api::Api;
use super::body::{check_plain, length, paced};
use super::caller::{Caller, FileCaller, is_let_in, unknown};
use super::extract::{Path, Query};
use super::looking::blocking;
use super::own::own_task;
use super::refusal::Refusal;
use super::uploads::{Expected, Sender};
use crate::limits::BODY_BYTES_MIN;
use crate::pace::Pace;
use crate::places::{Place, Who};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gleaner_server::blobs::{self, Blob, Blobs, Put, PutError, Terms};
use gleaner_server::desk::{Desk, Input, Requester, removed};
use gleaner_server::view::Known;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::Problem;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use gleaner_wire::session::Stored;
use gleaner_wire::{BlobHash, InvalidHash, JobId};
use serde::Deserialize;
use std::io::{self, Read};
use std::sync::Arc;
use tokio::io::AsyncRead;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio_util::io::{StreamReader, SyncIoBridge};
use utoipa::IntoParams;

/// Bytes that are read from the disk at once.
const PIECE: usize = 64 << 10;
/// Pieces that are ahead of a slow receiver.
const PIECES_AHEAD: usize = 4;

/// What a file that an agent sends was left by.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct OfRun {
    /// From an agent: the number of the task whose run left it, counted over all jobs
    task: Option<u32>,
    /// From an agent: the run's number
    run: Option<u32>,
}

impl OfRun {
    fn id(&self) -> Option<RunId> {
        Some(RunId { task: TaskId::new(self.task? as usize), number: self.run? })
    }
}

/// Stores a file. One that is there already is stored anew.
#[utoipa::path(
    put, path = "/api/v1/blobs/{hash}", tag = "files",
    params(("hash" = String, Path, description = "The BLAKE3 hash of its content", pattern = "^[0-9a-f]{64}$"), OfRun),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 200, description = "It is stored", body = Stored),
        (status = 408, description = "The rest of it did not come", body = Problem),
        (status = 413, description = "It is too large", body = Problem),
        (status = 403, description = "It is above the quota of stored bytes", body = Problem),
        (status = 415, description = "It is packed", body = Problem),
        (status = 422, description = "Its content has another hash", body = Problem),
        (status = 507, description = "The disk is full", body = Problem)),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn put(
    State(api): State<Arc<Api>>,
    caller: FileCaller,
    Path(hash): Path<String>,
    Query(of_run): Query<OfRun>,
    request: Request,
) -> Result<Json<Stored>, Refusal> {
    caller.may_write()?;
    check_plain(request.headers())?;
    let sender = sender(&caller, &of_run)?;
    let id = blob_id(&hash)?;
    let announced = length(request.headers());
    if announced.is_some_and(|length| length > BLOB_BYTES_MAX) {
        return Err(Refusal::too_large(BLOB_BYTES_MAX));
    }
    let place = api.file_place(&caller.who())?;
    let expected = expect(&api, &sender, announced).await?;
    let at_most = expected.bytes();
    let terms = Terms { at: api.app.desk.now(), at_most, claimed: Some(id), announced };
    let pieces = Box::pin(paced(request.into_body(), BODY_BYTES_MIN));
    // What has come is counted also where who sent it is gone before the answer.
    let stored = tokio::spawn(async move {
        let _place = place;
        store(&api, sender, StreamReader::new(pieces), (terms, expected)).await
    });
    let put = stored.await.map_err(|panic| Refusal::internal(format!("storing a file: {panic}")))??;
    Ok(Json(Stored { blob: put.id, size: put.bytes }))
}

/// Who sends a file that is to be kept.
#[derive(Clone, Debug)]
enum Sending {
    User(Requester),
    /// Which run left it.
    Agent(MachineId, RunId),
}

fn sender(caller: &FileCaller, of: &OfRun) -> Result<Sending, Refusal> {
    match caller {
        FileCaller::User(by) => Ok(Sending::User(by.clone())),
        FileCaller::Agent(agent) => {
            let no_run =
                || Refusal::malformed("?task= and ?run= are missing: an agent says which run left a file");
            Ok(Sending::Agent(*agent, of.id().ok_or_else(no_run)?))
        }
    }
}

/// Stores a file, and counts it.
async fn store(
    api: &Arc<Api>,
    sender: Sending,
    body: impl AsyncRead + Send + Unpin + 'static,
    (terms, expected): (Terms, Expected),
) -> Result<Put, Refusal> {
    let app = Arc::clone(&api.app);
    let put = move || {
        let put = app.blobs.put(&mut SyncIoBridge::new(body), terms)?;
        // It may have been on its way for longer than what nobody names is kept.
        let gone = || PutError::Body { source: io::Error::other("it was removed as old when it came") };
        app.blobs.renew(put.id, app.desk.now())?.ok_or_else(gone)?;
        Ok(put)
    };
    let put = blocking("storing a file", (), put).await?;
    let at_most = terms.at_most;
    if matches!(put, Err(PutError::TooLarge { .. })) && at_most < BLOB_BYTES_MAX {
        // Whoever did not say how much it is hears of the quota only now.
        drop(expected);
        expect(api, &sender, Some(at_most + 1)).await?;
        return Err(Refusal::too_large(at_most));
    }
    if let (Err(PutError::DiskFull(_)), &Sending::Agent(agent, _), Some(blob)) =
        (&put, &sender, terms.claimed)
    {
        // So that it can be seen why a run of its stays.
        api.app.desk.input(Input::NoSpace { agent, blob }).await?;
    }
    let put = put?;
    match sender {
        Sending::User(by) => {
            // It may have come for days.
            let is_known = || is_let_in(api, &by);
            let is_theirs = api.uploads.add(&by.user, put.id, (api.app.desk.now(), put.bytes), is_known);
            drop(expected);
            if !is_theirs {
                return Err(unknown());
            }
            // One that came again is counted with the jobs that read it, and not beside them.
            let (user, id) = (by.user.clone(), put.id);
            if api.look(move |desk, _| desk.ledger().is_named_by(&user, &id)).await? {
                api.uploads.named(&by.user, [id]);
            }
        }
        // It is there before the end of a run that names it.
        Sending::Agent(agent, run) => {
            api.app.desk.input(Input::Stored { agent, run, blob: put.id, bytes: put.bytes }).await?;
            // From when the desk counts it.
            api.look(|_, _| drop(expected)).await?;
        }
    }
    Ok(put)
}

/// Counts what who asks is about to send as on its way, if they may send as much; all that they may, where they do not say how much
/// it is. The desk's one thread does that, so that nothing is counted by two as left.
async fn expect(api: &Arc<Api>, sender: &Sending, announced: Option<u64>) -> Result<Expected, Refusal> {
    let (of, more) = (Arc::clone(api), announced.unwrap_or(1));
    let count = move |of: &Api, (sender, left): (Sender, u64)| {
        of.coming.expect(sender, announced.unwrap_or(left.min(BLOB_BYTES_MAX)))
    };
    match sender.clone() {
        Sending::Agent(agent, run) => {
            let look = move |desk: &Desk, now| {
                left_of_runs(&of, desk, (agent, run), (more, now)).map(|found| count(&of, found))
            };
            api.look_at_runs(agent, look).await?
        }
        Sending::User(Requester { user, .. }) => {
            let look = move |desk: &Desk, now| {
                let left = left_of_quota(&of, desk, &user, (more, now))?;
                Ok(count(&of, ((Who::User(user.clone()), user), left)))
            };
            api.look(look).await?
        }
    }
}

/// How many bytes a user may still send, if they are at least so many.
fn left_of_quota(api: &Api, desk: &Desk, user: &str, (more, now): (u64, Time)) -> Result<u64, Refusal> {
    let used = desk.ledger().bytes_of(user).saturating_add(sent_bytes(api, user, now));
    let quota = desk.ledger().people().quota(user);
    quota.check_bytes(user, used, more).map_err(|above| Refusal::above_quota(above.to_string()))?;
    Ok(quota.bytes - used)
}

/// How many bytes a user has sent that no job named, or is sending.
pub(super) fn sent_bytes(api: &Api, user: &str, now: Time) -> u64 {
    // First: what comes meanwhile is counted twice, and not left out.
    let coming = api.coming.bytes(&(Who::User(user.to_owned()), user.to_owned()));
    coming.saturating_add(api.uploads.bytes(user, now))
}

/// How many bytes an agent may still send of what a user's runs leave, if they are at least so many.
fn left_of_runs(
    api: &Api,
    desk: &Desk,
    (agent, run): (MachineId, RunId),
    (more, now): (u64, Time),
) -> Result<(Sender, u64), Refusal> {
    let Some((user, left)) = desk.may_send(agent, run, now) else {
        // It comes again, with another token.
        let unawaited = || Refusal::forbidden("nothing is awaited of this run on this machine");
        return Err(if desk.is_connected(agent) { unawaited() } else { unknown() });
    };
    let sender = (Who::Agent(agent), user.to_owned());
    let left = left.saturating_sub(api.coming.bytes(&sender));
    if left < more { Err(Refusal::above_runs_quotas(user, left)) } else { Ok((sender, left)) }
}

/// Sends a file. A file that is damaged ends before its length is reached.
/// It is one that the caller sent, or that a job of theirs names as an input; for who sees everybody's jobs, any. What a task left is at
/// `/api/v1/jobs/{job}/tasks/{task}/files`.
#[utoipa::path(
    get, path = "/api/v1/blobs/{hash}", tag = "files",
    params(("hash" = String, Path, description = "The BLAKE3 hash of its content", pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "Its content", content_type = "application/octet-stream", body = String)),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    caller: FileCaller,
    Path(hash): Path<String>,
) -> Result<Response, Refusal> {
    let id = blob_id(&hash)?;
    if !may_read(&api, &caller, id).await? {
        return Err(missing(id));
    }
    match opened(&api, &caller.who(), id).await? {
        Ok(Some(answer)) => Ok(answer),
        Err(fault) if !is_damage(fault) => {
            Err(Refusal::internal(format!("a stored file cannot be read: {fault}")))
        }
        // What was damaged was put aside.
        Ok(None) | Err(_) => Err(missing(id)),
    }
}

/// Sends the files of a task that is done or has failed, as a tar archive. What runs of another left does not count yet.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks/{task}/files", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ("task" = u32, Path, description = "Its number there")),
    responses((status = 200, description = "The archive", content_type = "application/octet-stream", body = String))
)]
pub(super) async fn of_task(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path((job, number)): Path<(u32, u32)>,
) -> Result<Response, Refusal> {
    let who = Who::User(by.user.clone());
    let look = move |known: Known<'_>, _| {
        let (of, task) = own_task(&known, &by, JobId(job), number)?;
        let record = known.task(task)?.record;
        if of.removed_since(record.ended).is_some() {
            return Err(Refusal::removed(removed(JobId(job), of.removed)).into());
        }
        Ok((record.files().cloned(), record.phase.is_over()))
    };
    let (files, is_over) = api.look_back(look).await?;
    let none = if is_over { "left no files" } else { "is not over yet: nothing that it left counts so far" };
    let files = files.ok_or_else(|| Refusal::not_found(format!("task {job}/{number} {none}")))?;
    let id = files.blob;
    let wrong = |what: &str| {
        Refusal::damaged(format!("the files of task {job}/{number} {what}; `gleaner rerun` makes them again"))
    };
    // Whoever asks for a result is to hear why there is none. Of a long one, the connection ended before its end.
    let found = match api.faults.take(id) {
        Some(fault) => Err(fault),
        None => opened(&api, &who, id).await?,
    };
    match found {
        Ok(found) => found.ok_or_else(|| wrong("are not in the coordinator's folder any more")),
        Err(fault) if is_damage(fault) => {
            Err(wrong("are not what the task left: the coordinator's disk changed them"))
        }
        Err(fault) => Err(wrong(&format!(
            "cannot be read by the coordinator ({fault}); its log has the file that is to be mended"
        ))),
    }
}

/// The file as an answer, if it is there, or what is wrong with it, as far as its first pieces show.
async fn opened(
    api: &Arc<Api>,
    who: &Who,
    id: BlobHash,
) -> Result<Result<Option<Response>, io::ErrorKind>, Refusal> {
    let place = api.file_place(who)?;
    let blobs = Arc::clone(&api.app.blobs);
    // It has its place also where who asked is gone.
    let open = move || (begun(&*blobs, id), place);
    let (begun, place) = blocking("opening a file", (), open).await?;
    Ok(match begun {
        Ok(None) => Ok(None),
        Ok(Some((bytes, begun))) => {
            Ok(Some((octets(bytes), content((Arc::clone(api), id), begun, place)).into_response()))
        }
        Err(fault) => Err(fault),
    })
}

/// A file that is being read: its next pieces, and what is behind them.
type Begun = ([Bytes; 2], Box<dyn Read + Send>);

/// A file's length, and the file, if it is there and its first pieces are sound.
fn begun(blobs: &dyn Blobs, id: BlobHash) -> Result<Option<(u64, Begun)>, io::ErrorKind> {
    let begin = || {
        let Some(Blob { bytes, mut body }) = blobs.get(id).map_err(|error| error.source)? else {
            return Ok(None);
        };
        let first = piece(&mut body)?;
        let second = if first.is_empty() { Bytes::new() } else { piece(&mut body)? };
        Ok(Some((bytes, ([first, second], body))))
    };
    begin().map_err(|error| noted(blobs, id, &error))
}

/// What is wrong with a file is in the log, and one that is damaged is put aside.
fn noted(blobs: &dyn Blobs, id: BlobHash, error: &io::Error) -> io::ErrorKind {
    if !is_damage(error.kind()) {
        tracing::error!(file = %blobs::place(id).display(), %error, "a stored file cannot be read");
    } else if let Err(error) = blobs.put_aside(id) {
        tracing::error!("a damaged file could not be put aside: {error}");
    }
    error.kind()
}

/// Whether what was read is not what was stored.
fn is_damage(fault: io::ErrorKind) -> bool {
    fault == io::ErrorKind::InvalidData
}

/// Whether the file is there for who asks.
async fn may_read(api: &Api, caller: &FileCaller, id: BlobHash) -> Result<bool, Refusal> {
    match caller {
        FileCaller::User(by) if by.role.sees_all() || api.uploads.has(&by.user, id) => Ok(true),
        FileCaller::User(by) => {
            let user = by.user.clone();
            api.look(move |desk, _| desk.ledger().is_named_by(&user, &id)).await
        }
        &FileCaller::Agent(agent) => {
            api.look_at_runs(agent, move |desk, _| desk.ledger().is_needed_on(agent, &id)).await
        }
    }
}

/// Whether a file is there; if it is, it stays there for a while, so that a job can be submitted that needs it.
#[utoipa::path(
    head, path = "/api/v1/blobs/{hash}", tag = "files",
    params(("hash" = String, Path, description = "The BLAKE3 hash of its content", pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "It is there")),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn head(
    State(api): State<Arc<Api>>,
    caller: FileCaller,
    Path(hash): Path<String>,
) -> Result<Response, Refusal> {
    let id = blob_id(&hash)?;
    if !may_read(&api, &caller, id).await? {
        return Err(missing(id));
    }
    let (blobs, now) = (Arc::clone(&api.app.blobs), api.app.desk.now());
    let found = blocking("looking for a file", (), move || blobs.renew(id, now)).await??;
    let bytes = found.ok_or_else(|| missing(id))?;
    if let FileCaller::User(by) = &caller {
        api.uploads.renew(&by.user, id, now);
    }
    Ok((StatusCode::OK, octets(bytes)).into_response())
}

fn octets(bytes: u64) -> [(axum::http::HeaderName, HeaderValue); 2] {
    let kind = HeaderValue::from_static("application/octet-stream");
    [(CONTENT_TYPE, kind), (CONTENT_LENGTH, HeaderValue::from(bytes))]
}

fn blob_id(hash: &str) -> Result<BlobHash, Refusal> {
    hash.parse().map_err(|error: InvalidHash| Refusal::malformed(error.to_string()))
}

fn missing(id: BlobHash) -> Refusal {
    Refusal::not_found(format!(
        "the file {id} is not stored here, or not any more; whoever has it can submit it again. What a task left is at \
         /api/v1/jobs/JOB/tasks/TASK/files"
    ))
}

/// What a reader reads of a blob, read on a thread of its own and no further ahead than its receiver takes it.
fn content((api, id): (Arc<Api>, BlobHash), begun: Begun, place: Place) -> Body {
    let (pieces, mut read) = mpsc::channel::<io::Result<Bytes>>(PIECES_AHEAD);
    spawn_blocking(move || {
        let _place = place;
        // Before the receiver knows that it has to ask again: it may also have lost its patience while the file is looked at again.
        let note = |error: &io::Error| {
            api.faults.note(id, error.kind());
            noted(&*api.app.blobs, id, error);
        };
        // A receiver that went away, or is too slow, wants no more.
        let _ = send_all(begun, note, &pieces, &Handle::current());
    });
    Body::from_stream(stream::poll_fn(move |context| read.poll_recv(context)))
}

/// The reader says at its end whether all of it was sound: until then its last piece is held back.
fn send_all(
    ([mut held, mut next], mut from): Begun,
    note: impl FnOnce(&io::Error),
    pieces: &mpsc::Sender<io::Result<Bytes>>,
    runtime: &Handle,
) -> io::Result<()> {
    let mut pace = Pace::new(BODY_BYTES_MIN);
    let mut send = |next: io::Result<Bytes>| {
        let bytes = next.as_ref().map_or(0, Bytes::len);
        let sent = runtime.block_on(pace.wait(pieces.send(next)))?;
        pace.count(bytes);
        sent.map_err(io::Error::other)
    };
    while !held.is_empty() {
        send(Ok(held))?;
        held = next;
        next = match if held.is_empty() { Ok(Bytes::new()) } else { piece(&mut from) } {
            Ok(next) => next,
            Err(error) => {
                note(&error);
                return send(Err(error));
            }
        };
    }
    Ok(())
}

/// The next bytes; none at the end.
fn piece(from: &mut dyn Read) -> io::Result<Bytes> {
    let mut bytes = vec![0; PIECE];
    let length = loop {
        match from.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    bytes.truncate(length);
    Ok(bytes.into())
}
