//! The numbers, for whoever scrapes them.

use super::api::Api;
use super::caller::MetricsCaller;
use super::metrics::{OPEN_METRICS, Seen};
use super::refusal::Refusal;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use gleaner_server::desk::Desk;
use gleaner_server::view;
use std::sync::Arc;

/// Numbers for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, description = "In the OpenMetrics format",
        content_type = "application/openmetrics-text", body = String))
)]
pub(super) async fn metrics(
    State(api): State<Arc<Api>>,
    MetricsCaller(by): MetricsCaller,
) -> Result<Response, Refusal> {
    let look = |desk: &Desk, _| Seen {
        grid: view::grid(desk, by),
        machines: view::machines(desk).machines,
        users: desk.ledger().tallies().map(|(user, tally)| (user.clone(), *tally)).collect(),
    };
    let seen = api.look_long(look).await?;
    Ok(([(CONTENT_TYPE, OPEN_METRICS)], api.metrics.written(&seen)).into_response())
}
