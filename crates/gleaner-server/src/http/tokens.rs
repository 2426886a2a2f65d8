//! New tokens. Each is shown once: what is kept is its hash.

use super::Api;
use super::caller::{Caller, stored_hash};
use super::extract::{Query, within};
use super::refusal::Refusal;
use crate::desk::Order;
use crate::limits::JOIN_TOKEN_MAX_S;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use gleaner_net::{JoinToken, Token, TokenKind};
use gleaner_units::Time;
use gleaner_wire::VERSION;
use gleaner_wire::api::{NewToken, Problem, Role};
use gleaner_wire::limits::USER_TOKEN_SECONDS_MAX;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct JoinQuery {
    /// After how many seconds it is of no use any more.
    #[serde(default = "an_hour")]
    #[param(minimum = 1, maximum = 2_592_000, default = 3_600)]
    expires_s: u32,
}

fn an_hour() -> u32 {
    3_600
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    /// Who gets it; who bears the name already gets it in place of the old one.
    #[param(pattern = "^[A-Za-z0-9._@-]+$", min_length = 1, max_length = 128)]
    name: String,
    /// What they may do.
    #[serde(default)]
    #[param(inline, default = "user")]
    role: Role,
    /// After how many seconds it is of no use any more; never if nothing is said.
    #[param(minimum = 1, maximum = 315_360_000)]
    expires_s: Option<u32>,
}

/// Issues a token with which one machine can join.
#[utoipa::path(
    post, path = "/api/v1/tokens/join", tag = "tokens", params(JoinQuery),
    responses((status = 201, description = "The token, with the authority to expect", body = NewToken),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn join(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<JoinQuery>,
) -> Result<(StatusCode, Json<NewToken>), Refusal> {
    let seconds = within("expires_s", query.expires_s, &(1..=JOIN_TOKEN_MAX_S))?;
    let expires = api.app.desk.now().after_seconds(f64::from(seconds));
    let token = Token::generate(TokenKind::Join)?;
    api.order(by, Order::IssueJoinToken { token: stored_hash(&token), expires }).await?;
    let join = JoinToken::new(token, api.app.authority).expect("it was made as a join token");
    let token = NewToken { version: VERSION, token: join.reveal(), expires_s: Some(expires.seconds()) };
    Ok((StatusCode::CREATED, Json(token)))
}

/// Issues a token with which someone can sign in.
#[utoipa::path(
    post, path = "/api/v1/tokens/user", tag = "tokens", params(UserQuery),
    responses((status = 201, description = "The token", body = NewToken),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "No administrator would be left", body = Problem))
)]
pub(super) async fn user(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<UserQuery>,
) -> Result<(StatusCode, Json<NewToken>), Refusal> {
    let token = Token::generate(TokenKind::User)?;
    let UserQuery { name: user, role, expires_s } = query;
    let expires = match expires_s {
        Some(seconds) => {
            let seconds = within("expires_s", seconds, &(1..=USER_TOKEN_SECONDS_MAX))?;
            Some(api.app.desk.now().after_seconds(f64::from(seconds)))
        }
        None => None,
    };
    api.order(by, Order::AddUser { user, token: stored_hash(&token), role, expires }).await?;
    let expires_s = expires.map(Time::seconds);
    let token = NewToken { version: VERSION, token: token.reveal(), expires_s };
    Ok((StatusCode::CREATED, Json(token)))
}
