//! Who asks: each handler names whom it answers among its arguments.

use super::Api;
use super::refusal::Refusal;
use crate::desk::Requester;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use gleaner_net::{Token, TokenKind};
use gleaner_wire::api::Role;
use std::sync::Arc;

/// A user.
pub(super) struct Caller(pub(super) Requester);

/// A user who asks for what takes long, and has to be let in all the while.
pub(super) struct LastingCaller {
    pub(super) by: Requester,
    token: Token,
}

/// A user or a connected agent; files are the same for all who know their names.
pub(super) struct FileCaller(Option<Requester>);

impl FileCaller {
    /// Refuses who may only read.
    pub(super) fn may_write(&self) -> Result<(), Refusal> {
        match &self.0 {
            Some(Requester { role: Role::Reader, .. }) => {
                Err(Refusal::forbidden("a reader of this grid sees everything and changes nothing"))
            }
            _ => Ok(()),
        }
    }
}

/// Whoever has a join token, whether or not it is still good.
pub(super) struct Joining(pub(super) Token);

impl FromRequestParts<Arc<Api>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        user(api, &token).map(Self)
    }
}

impl FromRequestParts<Arc<Api>> for LastingCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let by = user(api, &token)?;
        Ok(Self { by, token })
    }
}

impl LastingCaller {
    /// Who asks with these headers; none if that is no user.
    pub(super) fn find(api: &Api, headers: &HeaderMap) -> Option<Self> {
        let token = bearer(headers).ok()?;
        Some(Self { by: user(api, &token).ok()?, token })
    }

    /// Whether the token is still good, for the same.
    pub(super) fn is_let_in(&self, api: &Api) -> bool {
        user(api, &self.token).is_ok_and(|by| by == self.by)
    }
}

impl FromRequestParts<Arc<Api>> for FileCaller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, api: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        let known = match token.kind() {
            TokenKind::User => return user(api, &token).map(|by| Self(Some(by))),
            TokenKind::Session => api.app.agents.agent(&token).is_some(),
            TokenKind::Join => false,
        };
        if known { Ok(Self(None)) } else { Err(unknown()) }
    }
}

impl FromRequestParts<Arc<Api>> for Joining {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Api>) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers)?;
        match token.kind() {
            TokenKind::Join => Ok(Self(token)),
            TokenKind::User | TokenKind::Session => Err(Refusal::unknown_caller(
                "a join token (glj_…) is needed; `gleaner token join` issues one",
            )),
        }
    }
}

/// A token's hash as the ledger has it.
pub(super) fn stored_hash(token: &Token) -> String {
    token.hash().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn user(api: &Api, token: &Token) -> Result<Requester, Refusal> {
    let people = api.app.desk.people();
    let user = people.user(&stored_hash(token)).ok_or_else(unknown)?;
    if !user.is_let_in(api.app.desk.now()) {
        return Err(Refusal::expired(&user.name));
    }
    Ok(Requester { user: user.name.clone(), role: user.role })
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
