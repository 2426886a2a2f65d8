//! What comes in bodies: JSON of bounded length, and bytes at a pace that somebody still sends.

use super::api::Api;
use super::caller::who;
use super::json;
use super::looking::blocking;
use super::refusal::Refusal;
use crate::limits::{BODY_BYTES_MIN, LARGE_JOB_BYTES_MIN};
use crate::pace::Pace;
use crate::places::Place;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use gleaner_wire::job::JobSpec;
use gleaner_wire::limits::{BODY_BYTES_MAX, JOB_BYTES_MAX};
use serde::de::DeserializeOwned;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// A document of the usual length.
pub(super) struct Document<T>(pub(super) T);

/// A job, which may be long. A long one has its turn until the request is answered: while it waits, it takes memory.
pub(super) struct JobDocument {
    pub(super) spec: Box<JobSpec>,
    pub(super) turn: Option<Turn>,
}

/// A large job's place among those on their way, and among those that are read.
pub(super) struct Turn {
    _place: Place,
    _read: OwnedSemaphorePermit,
}

impl<T: DeserializeOwned> FromRequest<Arc<Api>> for Document<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, _: &Arc<Api>) -> Result<Self, Refusal> {
        check_json(request.headers())?;
        json::read(&whole(request, BODY_BYTES_MAX, BODY_BYTES_MIN).await?).map(Self)
    }
}

impl FromRequest<Arc<Api>> for JobDocument {
    type Rejection = Refusal;

    async fn from_request(request: Request, api: &Arc<Api>) -> Result<Self, Refusal> {
        check_json(request.headers())?;
        if length(request.headers()).is_some_and(|length| length <= BODY_BYTES_MAX as u64) {
            let spec = json::read(&whole(request, BODY_BYTES_MAX, BODY_BYTES_MIN).await?)?;
            return Ok(Self { spec, turn: None });
        }
        let place = api.large_jobs.take(&who(api, request.headers()));
        let place = place.ok_or_else(|| Refusal::no_place("large jobs", &api.large_jobs))?;
        let bytes = whole(request, JOB_BYTES_MAX, LARGE_JOB_BYTES_MIN).await?;
        let read = Arc::clone(&api.large_jobs_read).acquire_owned().await;
        let turn = Turn { _place: place, _read: read.map_err(|_| Refusal::busy("large jobs"))? };
        let (spec, turn) = blocking("reading a job", (), move || (json::read(&bytes), turn)).await?;
        Ok(Self { spec: spec?, turn: Some(turn) })
    }
}

/// The body as it comes, until its end or until its sender is too slow.
pub(super) fn paced(body: Body, bytes_min: u64) -> impl Stream<Item = io::Result<Bytes>> {
    let begun = (body.into_data_stream(), Pace::new(bytes_min));
    stream::try_unfold(begun, |(mut pieces, mut pace)| async move {
        let Some(piece) = pace.wait(pieces.next()).await? else { return Ok(None) };
        let piece = piece.map_err(io::Error::other)?;
        pace.count(piece.len());
        Ok(Some((piece, (pieces, pace))))
    })
}

/// How long the body says it is.
pub(super) fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Refuses a body that is packed: what it says would be taken for its content.
pub(super) fn check_plain(headers: &HeaderMap) -> Result<(), Refusal> {
    let packed = |coding: &HeaderValue| !coding.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).iter().any(packed) { Err(Refusal::packed()) } else { Ok(()) }
}

fn check_json(headers: &HeaderMap) -> Result<(), Refusal> {
    check_plain(headers)?;
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") { Ok(()) } else { Err(Refusal::not_json()) }
}

/// The whole body, which may have so many bytes, and has to come that fast.
pub(super) async fn whole(request: Request, at_most: usize, bytes_min: u64) -> Result<Vec<u8>, Refusal> {
    if length(request.headers()).is_some_and(|length| length > at_most as u64) {
        return Err(Refusal::too_large(at_most as u64));
    }
    let mut pieces = pin!(paced(request.into_body(), bytes_min));
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.try_next().await.map_err(|error| unread(&error))? {
        if bytes.len() + piece.len() > at_most {
            return Err(Refusal::too_large(at_most as u64));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn unread(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::TimedOut => Refusal::slow(),
        _ => Refusal::malformed(format!("the request's body did not come to its end: {error}")),
    }
}
