//! How much each user may have.

use super::Api;
use super::body::Document;
use super::caller::Caller;
use super::refusal::Refusal;
use crate::desk::Order;
use crate::view;
use axum::Json;
use axum::extract::State;
use gleaner_wire::api::{Problem, QuotaList, QuotaSetting};
use std::sync::Arc;

/// Who may have how much: the caller, or for an administrator all.
#[utoipa::path(
    get, path = "/api/v1/quotas", tag = "grid",
    responses((status = 200, description = "The quotas, and what is used of them", body = QuotaList))
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<QuotaList>, Refusal> {
    api.look(move |desk, _| view::quotas(desk, &by)).await.map(Json)
}

/// Lets a user, or everyone without a quota of their own, have so much from now on. What they have more stays.
#[utoipa::path(
    put, path = "/api/v1/quotas", tag = "grid", request_body = QuotaSetting,
    responses((status = 200, description = "The quotas from now on", body = QuotaList),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn set(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Document(setting): Document<QuotaSetting>,
) -> Result<Json<QuotaList>, Refusal> {
    api.order(by.clone(), Order::SetQuota(setting)).await?;
    api.look(move |desk, _| view::quotas(desk, &by)).await.map(Json)
}
