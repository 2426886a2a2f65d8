//! The numbers, for whoever scrapes them.

use super::api::Api;
use super::caller::MetricsCaller;
use super::metrics::{CLASSIC, OPEN_METRICS, Seen, classic};
use super::refusal::Refusal;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use gleaner_server::desk::Desk;
use gleaner_server::view;
use std::sync::Arc;

/// Numbers for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operation",
    responses((status = 200, description = "In the OpenMetrics format, or in Prometheus's older one for who accepts that alone",
        content((String = "application/openmetrics-text"), (String = "text/plain"))))
)]
pub(super) async fn metrics(
    State(api): State<Arc<Api>>,
    MetricsCaller(by): MetricsCaller,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let look = |desk: &Desk, _| Seen {
        grid: view::grid(desk, by),
        machines: view::machines(desk).machines,
        users: desk.ledger().tallies().map(|(user, tally)| (user.clone(), *tally)).collect(),
    };
    let seen = api.look_long(look).await?;
    let text = api.metrics.written(&seen);
    Ok(if wants_classic(&headers) {
        ([(CONTENT_TYPE, CLASSIC)], classic(&text)).into_response()
    } else {
        ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response()
    })
}

/// Whether who asks names the older format, and not the newer one.
fn wants_classic(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let kinds: Vec<&str> = values
        .flat_map(|value| value.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim())
        .collect();
    kinds.contains(&"text/plain") && !kinds.contains(&"application/openmetrics-text")
}
