//! What comes in addresses: parts of paths, and queries.

use super::refusal::Refusal;
use crate::limits::WAIT_MAX_S;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use std::collections::HashSet;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// What the paths of the API begin with. The page, and what watches over the coordinator, may add what they like to others.
pub(super) const API: &str = "/api/";

/// Refuses a query where none is taken: whoever wrote `cancel?tasks=3` meant less than the whole job.
pub(super) async fn expected_query(
    State(queried): State<Arc<HashSet<(Method, String)>>>,
    request: Request,
    next: Next,
) -> Response {
    if takes_its_query(&queried, &request) {
        next.run(request).await
    } else {
        Refusal::malformed("this takes no query; /api/v1/openapi.json lists what takes one").into_response()
    }
}

fn takes_its_query(queried: &HashSet<(Method, String)>, request: &Request) -> bool {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if request.uri().query().is_none_or(str::is_empty) || !route.starts_with(API) {
        return true;
    }
    // What can be read can be asked for its head.
    let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
    queried.contains(&(method, route.to_owned()))
}

/// The parts of a path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Refusal))]
pub(super) struct Path<T>(pub(super) T);

/// A query.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Refusal))]
pub(super) struct Query<T>(pub(super) T);

/// A number of a query, if it is within bounds.
pub(super) fn within<T: PartialOrd + Display>(
    name: &str,
    value: T,
    bounds: &RangeInclusive<T>,
) -> Result<T, Refusal> {
    if bounds.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (bounds.start(), bounds.end());
    Err(Refusal::invalid(format!("{name} is {value}; expected {least} to {most}")))
}

/// How long a request wants to wait.
pub(super) fn patience(wait_s: u64) -> Result<Duration, Refusal> {
    within("wait_s", wait_s, &(0..=WAIT_MAX_S)).map(Duration::from_secs)
}
