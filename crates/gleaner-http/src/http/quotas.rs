//! How much each user may have.

use super::api::Api;
use super::blobs::sent_bytes;
use super::body::Document;
use super::caller::Caller;
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use gleaner_server::desk::{Administration, Desk, Order, Requester};
use gleaner_server::view;
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
    listed(&api, by).await
}

/// Lets a user, or everyone without a quota of their own, have so much from now on. What they have more stays.
/// It is the whole quota: a quantity that is left out is set back to its `default`, whatever it was before.
#[utoipa::path(
    put, path = "/api/v1/quotas", tag = "grid", request_body = QuotaSetting,
    responses((status = 200, description = "The quotas from now on", body = QuotaList),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 404, description = "There is no such user", body = Problem))
)]
pub(super) async fn set(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Document(setting): Document<QuotaSetting>,
) -> Result<Json<QuotaList>, Refusal> {
    api.order(by.clone(), Order::Administer(Administration::SetQuota(setting))).await?;
    listed(&api, by).await
}

async fn listed(api: &Arc<Api>, by: Requester) -> Result<Json<QuotaList>, Refusal> {
    let of = Arc::clone(api);
    let role = by.role;
    let look = move |desk: &Desk, now| view::quotas(desk, &by, |user| sent_bytes(&of, user, now));
    api.look_at_users(role, look).await.map(Json)
}
