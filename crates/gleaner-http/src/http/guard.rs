//! What happens around every request: it gets a number, is counted, and is turned away where it is too much.

use super::api::Api;
use super::caller::{LastingCaller, unknown, who};
use super::refusal::Refusal;
use crate::limits::HEAD_MAX;
use crate::listener::Over;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tracing::Instrument as _;

/// Who waits longer for something to see has to be let in when it comes, too.
const LONG: Duration = Duration::from_millis(100);

pub(super) async fn guard(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let number = api.requests_so_far.fetch_add(1, Ordering::Relaxed) + 1;
    // As it stands in the table: what the caller wrote could be anything.
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let method = method_name(request.method());
    let span = tracing::info_span!("request", number, method, route);
    let began = Instant::now();
    let response = answer(&api, number, request, next).instrument(span).await;
    api.metrics.answered(method, route, response.status(), began.elapsed());
    response
}

async fn answer(api: &Api, number: u64, request: Request, next: Next) -> Response {
    if head_length(&request) > HEAD_MAX {
        return Refusal::long_headers(HEAD_MAX).into_response();
    }
    let who = who(api, request.headers());
    if let Some(Over(connection)) = request.extensions().get() {
        connection.show(&who);
    }
    let _place = match api.request_place(&who) {
        Ok(place) => place,
        Err(refusal) => return refusal.into_response(),
    };
    let asker = LastingCaller::find(api, request.headers()).filter(|_| request.method() == Method::GET);
    let began = Instant::now();
    let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    if began.elapsed() > LONG && asker.is_some_and(|asker| !asker.is_let_in(api)) {
        return unknown().into_response();
    }
    answer.unwrap_or_else(|_| Refusal::panicked(number).into_response())
}

fn head_length(request: &Request) -> usize {
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len());
    let address = request.uri();
    address.path().len() + address.query().map_or(0, str::len) + headers.sum::<usize>()
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        _ => "other",
    }
}
