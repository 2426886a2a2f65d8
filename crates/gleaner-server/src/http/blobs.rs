//! Files in and out, under the hash of their content. They pass through in pieces: nothing is held in memory.

use super::Api;
use super::body::{length, paced};
use super::caller::FileCaller;
use super::extract::Path;
use super::refusal::Refusal;
use crate::blobs::{Blob, BlobId, Terms};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gleaner_wire::BlobHash;
use gleaner_wire::api::Problem;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use gleaner_wire::session::Stored;
use std::io::{self, Read};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::spawn_blocking;
use tokio_util::io::{StreamReader, SyncIoBridge};

/// Bytes that are read from the disk at once.
const PIECE: usize = 64 << 10;
/// Pieces that are ahead of a slow receiver.
const PIECES_AHEAD: usize = 4;

/// Stores a file. One that is there already is stored anew.
#[utoipa::path(
    put, path = "/api/v1/blobs/{hash}", tag = "files",
    params(("hash" = String, Path, description = "The BLAKE3 hash of its content", pattern = "^[0-9a-f]{64}$")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 200, description = "It is stored", body = Stored),
        (status = 408, description = "The rest of it did not come", body = Problem),
        (status = 413, description = "It is too large", body = Problem),
        (status = 422, description = "Its content has another hash", body = Problem),
        (status = 507, description = "The disk is full", body = Problem)),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn put(
    State(api): State<Arc<Api>>,
    caller: FileCaller,
    Path(hash): Path<String>,
    request: Request,
) -> Result<Json<Stored>, Refusal> {
    caller.may_write()?;
    let id = blob_id(&hash)?;
    if length(request.headers()).is_some_and(|length| length > BLOB_BYTES_MAX) {
        return Err(Refusal::too_large(BLOB_BYTES_MAX));
    }
    let place = place(&api)?;
    let terms = Terms { at: api.app.desk.now(), at_most: BLOB_BYTES_MAX, claimed: Some(id) };
    let blobs = Arc::clone(&api.app.blobs);
    let pieces = Box::pin(paced(request.into_body()));
    let stored = spawn_blocking(move || {
        let _place = place;
        blobs.put(&mut SyncIoBridge::new(StreamReader::new(pieces)), terms)
    });
    let put = stored.await.map_err(|panic| Refusal::internal(format!("storing a file: {panic}")))??;
    let blob = BlobHash::try_from(put.id.to_string()).expect("the name of a blob is a hash");
    Ok(Json(Stored { blob, size: put.bytes }))
}

/// Sends a file. A file that is damaged ends before its length is reached.
#[utoipa::path(
    get, path = "/api/v1/blobs/{hash}", tag = "files",
    params(("hash" = String, Path, description = "The BLAKE3 hash of its content", pattern = "^[0-9a-f]{64}$")),
    responses((status = 200, description = "Its content", content_type = "application/octet-stream", body = String)),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn get(
    State(api): State<Arc<Api>>,
    _: FileCaller,
    Path(hash): Path<String>,
) -> Result<Response, Refusal> {
    let id = blob_id(&hash)?;
    let place = place(&api)?;
    let blobs = Arc::clone(&api.app.blobs);
    let found = spawn_blocking(move || blobs.get(id)).await;
    let found = found.map_err(|panic| Refusal::internal(format!("opening a file: {panic}")))??;
    let Blob { bytes, body } = found.ok_or_else(|| missing(id))?;
    Ok((octets(bytes), content(body, place)).into_response())
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
    _: FileCaller,
    Path(hash): Path<String>,
) -> Result<Response, Refusal> {
    let id = blob_id(&hash)?;
    let (blobs, now) = (Arc::clone(&api.app.blobs), api.app.desk.now());
    let found = spawn_blocking(move || blobs.renew(id, now)).await;
    let found = found.map_err(|panic| Refusal::internal(format!("looking for a file: {panic}")))??;
    let bytes = found.ok_or_else(|| missing(id))?;
    Ok((StatusCode::OK, octets(bytes)).into_response())
}

fn octets(bytes: u64) -> [(axum::http::HeaderName, HeaderValue); 2] {
    let kind = HeaderValue::from_static("application/octet-stream");
    [(CONTENT_TYPE, kind), (CONTENT_LENGTH, HeaderValue::from(bytes))]
}

fn blob_id(hash: &str) -> Result<BlobId, Refusal> {
    hash.parse().map_err(|error: crate::blobs::BlobIdError| Refusal::malformed(error.to_string()))
}

fn missing(id: BlobId) -> Refusal {
    Refusal::not_found(format!("the file {id} is not stored here"))
}

fn place(api: &Api) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(&api.transfers).try_acquire_owned().map_err(|_| Refusal::busy("other files"))
}

/// What a reader reads, read on a thread of its own and no further ahead than its receiver takes it.
fn content(mut from: Box<dyn Read + Send>, place: OwnedSemaphorePermit) -> Body {
    let (pieces, mut read) = mpsc::channel::<io::Result<Bytes>>(PIECES_AHEAD);
    spawn_blocking(move || {
        let _place = place;
        loop {
            let piece = piece(&mut from);
            let is_last = !matches!(&piece, Ok(piece) if !piece.is_empty());
            // Its end is the end of the channel; and a receiver that went away wants no more.
            if matches!(&piece, Ok(piece) if piece.is_empty())
                || pieces.blocking_send(piece).is_err()
                || is_last
            {
                return;
            }
        }
    });
    Body::from_stream(stream::poll_fn(move |context| read.poll_recv(context)))
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
