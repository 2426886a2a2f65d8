//! New tokens. Each is shown once: what is kept is its hash.

use super::api::Api;
use super::caller::Caller;
use super::extract::{Path, Query, within};
use super::refusal::Refusal;
use super::users::users;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use gleaner_net::{JoinToken, Token, TokenKind};
use gleaner_server::app::{join_line, stored_hash};
use gleaner_server::desk::{Administration, Answer, NewUser, Order};
use gleaner_units::Time;
use gleaner_wire::VERSION;
use gleaner_wire::api::{NewToken, Problem, Role, UserList};
use gleaner_wire::limits::{JOIN_SECONDS_MAX, JOIN_TOKEN_USES_MAX, USER_TOKEN_SECONDS_MAX};
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
    /// How many machines may join with it.
    #[serde(default = "one")]
    #[param(minimum = 1, maximum = 10_000, default = 1)]
    uses: u32,
    /// Whose machines they are: where answers are compared, all machines of one owner have one vote. Each has its own if nothing is
    /// said.
    owner: Option<String>,
}

fn an_hour() -> u32 {
    3_600
}

fn one() -> u32 {
    1
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct UserQuery {
    /// Who gets it; who bears the name already gets it in place of the old one.
    #[param(pattern = "^(\\.+-|\\.*[A-Za-z0-9_@])[A-Za-z0-9._@-]*$", min_length = 1, max_length = 128)]
    name: String,
    /// What they may do: as before if nothing is said, and a new one is a `user`.
    #[param(inline)]
    role: Option<Role>,
    /// After how many seconds it is of no use any more; never if nothing is said.
    #[param(minimum = 1, maximum = 315_360_000)]
    expires_s: Option<u32>,
    /// Whether it may be somebody who was removed before: they get at the jobs and files that were theirs.
    #[serde(default)]
    again: bool,
}

/// Issues a token with which machines can join.
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
    let seconds = within("expires_s", query.expires_s, &(1..=JOIN_SECONDS_MAX))?;
    let expires = api.app.desk.now().after_seconds(f64::from(seconds));
    let uses = within("uses", query.uses, &(1..=JOIN_TOKEN_USES_MAX))?;
    let token = Token::generate(TokenKind::Join)?;
    api.order(
        by,
        Order::Administer(Administration::IssueJoinToken {
            token: stored_hash(&token),
            expires,
            uses,
            owner: query.owner,
        }),
    )
    .await?;
    let token = JoinToken::new(token, api.app.authority).expect("it was made as a join token").reveal();
    let line = join_line(&api.app.address, &token);
    Ok((
        StatusCode::CREATED,
        Json(NewToken {
            version: VERSION,
            token,
            expires_s: Some(expires.seconds()),
            line,
            role: None,
            was: None,
        }),
    ))
}

/// Lets nobody join any more with a token.
#[utoipa::path(
    post, path = "/api/v1/tokens/join/{id}/remove", tag = "tokens",
    params(("id" = String, Path, description = "What it is called: the beginning of its hash")),
    responses((status = 200, description = "What is left", body = UserList),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn remove_join(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(id): Path<String>,
) -> Result<Json<UserList>, Refusal> {
    api.order(by, Order::Administer(Administration::RemoveJoinToken(id))).await?;
    Ok(Json(users(&api)))
}

/// Issues a token with which someone can sign in.
#[utoipa::path(
    post, path = "/api/v1/tokens/user", tag = "tokens", params(UserQuery),
    responses((status = 201, description = "The token", body = NewToken),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "No administrator would be left, or it was a removed user's name", body = Problem))
)]
pub(super) async fn user(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<UserQuery>,
) -> Result<(StatusCode, Json<NewToken>), Refusal> {
    let token = Token::generate(TokenKind::User)?;
    let UserQuery { name: user, role, expires_s, again } = query;
    let expires = match expires_s {
        Some(seconds) => {
            let seconds = within("expires_s", seconds, &(1..=USER_TOKEN_SECONDS_MAX))?;
            Some(api.app.desk.wall_now().after_seconds(f64::from(seconds)))
        }
        None => None,
    };
    let order = Order::Administer(Administration::AddUser(NewUser {
        user,
        token: stored_hash(&token),
        role,
        expires,
        again,
    }));
    let Answer::UserAdded { role, was } = api.order(by, order).await? else {
        unreachable!("that is how it is answered")
    };
    let expires_s = expires.map(Time::seconds);
    let token = token.reveal();
    let line = format!("gleaner login {} {token}.{}", api.app.address, api.app.authority);
    Ok((
        StatusCode::CREATED,
        Json(NewToken { version: VERSION, token, expires_s, line, role: Some(role), was }),
    ))
}
