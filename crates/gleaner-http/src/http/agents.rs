//! How a machine joins: once, with a join token; from then on its agent is known by its key.

use super::api::Api;
use super::body::Document;
use super::caller::Joining;
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use gleaner_net::AgentPublicKey;
use gleaner_server::app::stored_hash;
use gleaner_server::desk::{Answer, Checked, Order, Requester};
use gleaner_wire::api::{Enrolled, Enrolment, Problem, Role};
use std::sync::Arc;

/// Enrols an agent, which uses the join token up. The same key with the same token gets the same answer again.
#[utoipa::path(
    post, path = "/api/v1/agents", tag = "machines", request_body = Enrolment,
    responses((status = 201, description = "The agent may connect", body = Enrolled),
        (status = 403, description = "The join token is not good any more", body = Problem),
        (status = 409, description = "There are as many agents as a grid can have", body = Problem)),
    security(("join" = []))
)]
pub(super) async fn enrol(
    State(api): State<Arc<Api>>,
    Joining(token): Joining,
    Document(enrolment): Document<Enrolment>,
) -> Result<(StatusCode, Json<Enrolled>), Refusal> {
    if let Err(why) = enrolment.key.parse::<AgentPublicKey>() {
        return Err(Refusal::invalid(format!("key: {why}")));
    }
    let by = Requester { user: enrolment.name.clone(), role: Role::User, token: None };
    let enrolment = Box::new(Checked::of(enrolment)?);
    let order = Order::Enrol { token: stored_hash(&token), enrolment };
    let Answer::Enrolled(enrolled) = api.order(by, order).await? else {
        unreachable!("an enrolment is answered by the agent's number");
    };
    Ok((StatusCode::CREATED, Json(enrolled)))
}
