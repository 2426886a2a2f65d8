//! What comes in addresses: parts of paths, and queries.

use super::refusal::Refusal;
use crate::limits::WAIT_MAX_S;
use axum::extract::FromRequestParts;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

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
