//! Bytes that are taken and forgotten: an agent measures with them how fast it reaches the coordinator.

use super::api::Api;
use super::body::whole;
use super::caller::FileCaller;
use super::refusal::Refusal;
use crate::limits::BODY_BYTES_MIN;
use axum::Json;
use axum::extract::{Request, State};
use gleaner_wire::VERSION;
use gleaner_wire::api::{Problem, Swallowed};
use gleaner_wire::limits::PROBE_BYTES_MAX;
use std::sync::Arc;

/// Takes bytes and forgets them, so that whoever sends them can measure the way here.
#[utoipa::path(
    put, path = "/api/v1/probe", tag = "machines",
    request_body(content = Option<String>, content_type = "application/octet-stream"),
    responses((status = 200, description = "They came", body = Swallowed),
        (status = 408, description = "The rest of them did not come", body = Problem),
        (status = 413, description = "They are too many", body = Problem)),
    security(("user" = []), ("agent" = []))
)]
pub(super) async fn probe(
    State(api): State<Arc<Api>>,
    caller: FileCaller,
    request: Request,
) -> Result<Json<Swallowed>, Refusal> {
    let _place = api.file_place(&caller.who())?;
    let bytes = whole(request, PROBE_BYTES_MAX, BODY_BYTES_MIN).await?.len() as u64;
    Ok(Json(Swallowed { version: VERSION, bytes }))
}
