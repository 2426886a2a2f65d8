//! The grid as a whole: its rule, what it learnt, and how it stands.

use super::api::Api;
use super::body::Document;
use super::caller::Caller;
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use gleaner_server::desk::{Administration, Order};
use gleaner_server::view;
use gleaner_wire::api::{BudgetSetting, BudgetView, GridView, LabelList, PolicyKeys, PolicyView, Problem};
use std::sync::Arc;

/// The rule in force.
#[utoipa::path(
    get, path = "/api/v1/policy", tag = "grid",
    responses((status = 200, description = "The rule", body = PolicyView))
)]
pub(super) async fn policy(State(api): State<Arc<Api>>, _: Caller) -> Result<Json<PolicyView>, Refusal> {
    api.look(|desk, _| view::policy(desk)).await.map(Json)
}

/// Schedules by another rule from now on; what runs stays.
#[utoipa::path(
    put, path = "/api/v1/policy", tag = "grid", request_body = PolicyKeys,
    responses((status = 200, description = "The rule now in force", body = PolicyView),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn set_policy(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Document(policy): Document<PolicyKeys>,
) -> Result<Json<PolicyView>, Refusal> {
    api.order(by, Order::Administer(Administration::SetPolicy(policy))).await?;
    api.look(|desk, _| view::policy(desk)).await.map(Json)
}

/// The budget, and what became of it: for the caller, or for an administrator for all.
#[utoipa::path(
    get, path = "/api/v1/budget", tag = "grid",
    responses((status = 200, description = "In the period that is running", body = BudgetView))
)]
pub(super) async fn budget(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<BudgetView>, Refusal> {
    api.look_at_users(by.role, move |desk, now| view::budget(desk, &by, now)).await.map(Json)
}

/// Lets so much be spent from now on, or lets running cost nothing; what runs stays.
#[utoipa::path(
    put, path = "/api/v1/budget", tag = "grid", request_body = BudgetSetting,
    responses((status = 200, description = "The budget from now on", body = BudgetView),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn set_budget(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Document(setting): Document<BudgetSetting>,
) -> Result<Json<BudgetView>, Refusal> {
    api.order(by.clone(), Order::Administer(Administration::SetBudget(setting.budget))).await?;
    api.look_at_users(by.role, move |desk, now| view::budget(desk, &by, now)).await.map(Json)
}

/// What was learnt of labels: of the caller's, or for an administrator of all.
#[utoipa::path(
    get, path = "/api/v1/labels", tag = "grid",
    responses((status = 200, description = "By user and name", body = LabelList))
)]
pub(super) async fn labels(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<LabelList>, Refusal> {
    api.look_long(move |desk, _| view::labels(desk, (!by.role.sees_all()).then_some(&by.user)))
        .await
        .map(Json)
}

/// The grid at a glance. Its numbers of tasks are about all users, whoever asks: they say how long the queue is.
#[utoipa::path(
    get, path = "/api/v1/grid", tag = "grid",
    responses((status = 200, description = "How many tasks and machines are in which state", body = GridView))
)]
pub(super) async fn grid(State(api): State<Arc<Api>>, Caller(by): Caller) -> Result<Json<GridView>, Refusal> {
    api.look_long(move |desk, _| view::grid(desk, by)).await.map(Json)
}
