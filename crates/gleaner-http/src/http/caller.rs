//! Who asks: each handler names whom it answers among its arguments.

use super::api::Api;
use super::refusal::Refusal;
use crate::places::Who;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use gleaner_net::{Token, TokenKind};
use gleaner_server::app::stored_hash;
use gleaner_server::desk::Requester;
use gleaner_units::MachineId;
use gleaner_wire::api::Role;
use std::sync::Arc;
use std::time::Instant;

/// A user.
pub(super) struct Caller(pub(super) Requester);

/// A user who may at least read the numbers of the grid.
pub(super) struct MetricsCaller(pub(super) Requester);

/// A user who asks for what takes long, and has to be let in all the while.
pub(super) struct LastingCaller {
    pub(super) by: Requester,
}

/// A user or a connected agent.
pub(super) enum FileCaller {
    User(Requester),
    Agent(MachineId),
}

/// Whoever has a join token that is good, or was until they joined with it.
pub(super) struct Joining(pub(super) Token);

impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let by = user(api, &token)?;
        within_rate(api, &by.user)?;
        Ok(Self(by))
    }
}

impl FromRequestParts<Arc<Api>> for MetricsCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let by = any_user(api, &bearer(&parts.headers)?)?;
        within_rate(api, &by.user)?;
        if by.role.sees_all() || by.role == Role::Metrics {
            return Ok(Self(by));
        }
        Err(Refusal::forbidden(
            "these numbers are for those who keep the grid, and for tokens of the role `metrics`; how many tasks wait, \
             /api/v1/grid tells every user",
        ))
    }
}

impl FromRequestParts<Arc<Api>> for LastingCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let by = user(api, &token)?;
        within_rate(api, &by.user)?;
        Ok(Self { by })
    }
}

impl LastingCaller {
    /// Who asks with these headers; none if that is no user.
    pub(super) fn find(api: &Api, headers: &HeaderMap) -> Option<Self> {
        let token = bearer(headers).ok()?;
        Some(Self { by: user(api, &token).ok()? })
    }

    /// Whether the token is still good, for the same.
    pub(super) fn is_let_in(&self, api: &Api) -> bool {
        is_let_in(api, &self.by)
    }
}

impl FromRequestParts<Arc<Api>> for FileCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let known = match token.kind() {
            TokenKind::User => {
                let by = user(api, &token)?;
                within_rate(api, &by.user)?;
                Some(Self::User(by))
            }
            TokenKind::Session => api.app.agents.agent(&token).map(Self::Agent),
            TokenKind::Join => None,
        };
        known.ok_or_else(unknown)
    }
}

impl FileCaller {
    /// Refuses who may only read.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        match self {
            Self::User(Requester { role: Role::Reader, .. }) => Err(Refusal::forbidden(
                "a reader of this grid sees all jobs and machines, and changes nothing",
            )),
            Self::User(_) | Self::Agent(_) => Ok(()),
        }
    }

    pub(super) fn who(&self) -> Who {
        match self {
            Self::User(by) => Who::User(by.user.clone()),
            Self::Agent(agent) => Who::Agent(*agent),
        }
    }
}

impl FromRequestParts<Arc<Api>> for Joining {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        match token.kind() {
            TokenKind::Join if may_join(api, &token) => Ok(Self(token)),
            TokenKind::Join => Err(Refusal::forbidden(
                "this join token has expired or was never issued; `gleaner token join` issues one",
            )),
            TokenKind::User | TokenKind::Session => Err(Refusal::unknown_caller(
                "a join token (glj_…) is needed; `gleaner token join` issues one",
            )),
        }
    }
}

fn within_rate(api: &Api, user: &str) -> Result<(), Refusal> {
    let quota = api.app.desk.people().quota(user);
    let may = api.rates.admit(user, quota, Instant::now());
    if may { Ok(()) } else { Err(Refusal::too_often(user, quota.requests_per_s)) }
}

fn user(api: &Api, token: &Token) -> Result<Requester, Refusal> {
    let by = any_user(api, token)?;
    if by.role == Role::Metrics {
        return Err(Refusal::forbidden("this token is good for /metrics alone"));
    }
    Ok(by)
}

fn any_user(api: &Api, token: &Token) -> Result<Requester, Refusal> {
    let (people, hash) = (api.app.desk.people(), stored_hash(token));
    let user = people.user(&hash).ok_or_else(unknown)?;
    if !user.is_let_in(api.app.desk.wall_now()) {
        return Err(Refusal::expired(&user.name));
    }
    Ok(Requester { user: user.name.clone(), role: user.role, token: Some(hash) })
}

/// Whether the token by which somebody was let in is theirs still, for the same.
pub(super) fn is_let_in(api: &Api, by: &Requester) -> bool {
    let people = api.app.desk.people();
    let known = by.token.as_ref().and_then(|token| people.user(token));
    known.is_some_and(|known| {
        (&known.name, known.role) == (&by.user, by.role) && known.is_let_in(api.app.desk.wall_now())
    })
}

/// Who asks, for the places that they take.
pub(super) fn who(api: &Api, headers: &HeaderMap) -> Who {
    let Ok(token) = bearer(headers) else { return Who::Stranger };
    let known = match token.kind() {
        TokenKind::User => any_user(api, &token).ok().map(|by| Who::User(by.user)),
        TokenKind::Session => api.app.agents.agent(&token).map(Who::Agent),
        TokenKind::Join => may_join(api, &token).then(|| Who::Joining(stored_hash(&token))),
    };
    known.unwrap_or(Who::Stranger)
}

/// One whose answer was lost asks again, after the token was used up. Who was turned away since has no use of it.
fn may_join(api: &Api, token: &Token) -> bool {
    let (people, hash) = (api.app.desk.people(), stored_hash(token));
    people.may_join(&hash, api.app.desk.now()) || !people.joined(&hash).is_empty()
}

fn bearer(headers: &HeaderMap) -> Result<Token, Refusal> {
    let text = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = text
        .and_then(|text| text.split_once(' '))
        .and_then(|(scheme, token)| scheme.eq_ignore_ascii_case("bearer").then_some(token));
    let token = token.ok_or_else(|| {
        Refusal::unknown_caller(
            "the header \"Authorization: Bearer TOKEN\" is missing; a token is always needed",
        )
    })?;
    // A join token may have the authority behind it, as in the join line.
    let token = token.split_once('.').map_or(token, |(token, _)| token);
    token.parse().map_err(|error: gleaner_net::TokenError| Refusal::unknown_caller(error.to_string()))
}

pub(super) fn unknown() -> Refusal {
    Refusal::unknown_caller("nobody has this token, or not any more")
}
