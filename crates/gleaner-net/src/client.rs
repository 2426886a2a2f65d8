//! The blocking client: JSON calls, bodies of any size, and events, over one connection that is kept open.
//!
//! **Invariants.** What is read is bounded by [`Limits`] or by the caller. A peer that falls silent for longer than
//! the limit is an error, however much it sent before. A refusal by the server is told apart from not reaching it.

mod body;
mod connect;
mod error;
mod events;
mod limits;

pub use error::ClientError;
pub use events::{Events, ServerEvent};
pub use limits::Limits;

use crate::address::Address;
use crate::fingerprint::Fingerprint;
use crate::token::{Token, bearer};
use body::{Outgoing, forward, read_all};
use connect::PinnedConnector;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{Read, Write};
use std::thread;
use std::time::Duration;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::{Agent, AsSendBody, Body, SendBody};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const BYTES: HeaderValue = HeaderValue::from_static("application/octet-stream");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// The status with which a server refuses more requests.
const TOO_MANY: u16 = 429;
/// How long to wait then, and how often.
const MOMENT: Duration = Duration::from_secs(1);
const WAITS_MAX: u32 = 10;

/// A client of one coordinator. Clones share its connections.
#[derive(Debug, Clone)]
pub struct Client {
    agent: Agent,
    address: Address,
    authorization: HeaderValue,
    limits: Limits,
}

impl Client {
    /// A client with the usual limits, which shows `token` to nobody but the coordinator of that authority. Nothing is
    /// connected yet.
    pub fn new(address: Address, authority: Fingerprint, token: &Token) -> Self {
        Self::with_limits(address, authority, token, Limits::default())
    }

    /// A client with limits of its own.
    pub fn with_limits(address: Address, authority: Fingerprint, token: &Token, limits: Limits) -> Self {
        let connector = PinnedConnector::new(address.clone(), authority, limits);
        // The connector keeps time by silence, not by call: an upload or an event stream may take hours.
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("gleaner/", env!("CARGO_PKG_VERSION")))
            .max_idle_connections_per_host(1)
            .build();
        let agent = Agent::with_parts(config, connector, DefaultResolver::default());
        let authorization = bearer(token);
        Self { agent, address, authorization, limits }
    }

    /// Where it connects to.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The JSON document at `path`, which begins with `/` and may have a query.
    pub fn get<R: DeserializeOwned>(&self, path: &str) -> Result<R, ClientError> {
        let response = self.look(path, &[(ACCEPT, JSON)])?;
        self.json(response)
    }

    /// Sends `body` as JSON, and reads the answer.
    pub fn post<B: Serialize + ?Sized, R: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<R, ClientError> {
        self.send(Method::POST, path, &[], body)
    }

    /// Likewise, under a key: however often it is sent, the server does it once.
    pub fn post_once<B: Serialize + ?Sized, R: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
        key: &str,
    ) -> Result<R, ClientError> {
        let key = HeaderValue::from_str(key).map_err(|_| ClientError::Key(key.into()))?;
        self.send(Method::POST, path, &[(IDEMPOTENCY_KEY, key)], body)
    }

    /// Puts `body` as JSON at `path`, and reads the answer.
    pub fn put<B: Serialize + ?Sized, R: DeserializeOwned>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<R, ClientError> {
        self.send(Method::PUT, path, &[], body)
    }

    /// Whether there is something at `path`.
    pub fn exists(&self, path: &str) -> Result<bool, ClientError> {
        match self.call(Method::HEAD, path, &[], ()) {
            Ok(_) => Ok(true),
            Err(ClientError::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The bytes at `path`, of which there may be `limit_bytes`, and what the server says of them.
    pub fn piece(&self, path: &str, limit_bytes: u64) -> Result<(HeaderMap, Vec<u8>), ClientError> {
        let (parts, body) = self.look(path, &[(ACCEPT, BYTES)])?.into_parts();
        Ok((parts.headers, read_all(body, limit_bytes, &self.address)?))
    }

    /// Puts the next `length_bytes` of `from` at `path`, and reads the answer. Nothing is held in memory.
    pub fn upload<R: DeserializeOwned>(
        &self,
        path: &str,
        from: &mut dyn Read,
        length_bytes: u64,
    ) -> Result<R, ClientError> {
        let mut outgoing = Outgoing::new(from, length_bytes);
        let headers = [(ACCEPT, JSON), (CONTENT_TYPE, BYTES), (CONTENT_LENGTH, length_bytes.into())];
        let sent = self.call(Method::PUT, path, &headers, SendBody::from_reader(&mut outgoing));
        if let Some(why) = outgoing.into_failure() {
            return Err(ClientError::Local(why));
        }
        self.json(sent?)
    }

    /// Writes what is at `path` to `into` as it arrives, and tells how many bytes it was. More than `limit_bytes` are
    /// refused, if the server tells the length then before anything is written.
    pub fn download(&self, path: &str, into: &mut dyn Write, limit_bytes: u64) -> Result<u64, ClientError> {
        let response = self.look(path, &[(ACCEPT, BYTES)])?;
        forward(response.into_body(), into, limit_bytes, &self.address)
    }

    /// The events at `path`, as they arrive, until the server ends the stream.
    pub fn events(&self, path: &str) -> Result<Events, ClientError> {
        let response = self.look(path, &[(ACCEPT, EVENT_STREAM)])?;
        let kind = response.headers().get(CONTENT_TYPE);
        if !kind.is_some_and(|kind| kind.as_bytes().starts_with(EVENT_STREAM.as_bytes())) {
            return Err(ClientError::malformed("the answer is no stream of events"));
        }
        Ok(Events::new(response.into_body().into_reader(), self.limits.event_bytes, self.address.clone()))
    }

    /// Likewise to a question, which may be asked again: whoever asks too often is told to wait a moment, and does.
    fn look(&self, path: &str, headers: &[(HeaderName, HeaderValue)]) -> Result<Response<Body>, ClientError> {
        let mut waits = 0..WAITS_MAX;
        loop {
            match self.call(Method::GET, path, headers, ()) {
                Err(ClientError::Refused { status: TOO_MANY, .. }) if waits.next().is_some() => {
                    thread::sleep(MOMENT);
                }
                answer => return answer,
            }
        }
    }

    /// The server's answer, if it is not a refusal.
    fn call(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: impl AsSendBody,
    ) -> Result<Response<Body>, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address))
            .header(AUTHORIZATION, self.authorization.clone());
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.body(body).map_err(|_| ClientError::Path(path.into()))?;
        let response = self.agent.run(request).map_err(|why| ClientError::broken(&self.address, why))?;
        if response.status().is_success() { Ok(response) } else { Err(self.refusal(response)) }
    }

    fn send<B: Serialize + ?Sized, R: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: &B,
    ) -> Result<R, ClientError> {
        let body = serde_json::to_vec(body).map_err(ClientError::NotJson)?;
        let headers = [&[(ACCEPT, JSON), (CONTENT_TYPE, JSON)], headers].concat();
        let response = self.call(method, path, &headers, body.as_slice())?;
        self.json(response)
    }

    fn refusal(&self, response: Response<Body>) -> ClientError {
        let status = response.status();
        match read_all(response.into_body(), error::PROBLEM_MAX_BYTES, &self.address) {
            Ok(body) => ClientError::refused(status, &body),
            // The status alone says more than how reading its explanation failed.
            Err(_) => ClientError::refused(status, b""),
        }
    }

    fn json<R: DeserializeOwned>(&self, response: Response<Body>) -> Result<R, ClientError> {
        let body = read_all(response.into_body(), self.limits.json_bytes, &self.address)?;
        // An answer without content is `()` to whoever expects nothing.
        let document = if body.is_empty() { b"null" } else { body.as_slice() };
        serde_json::from_slice(document).map_err(|why| ClientError::malformed(why.to_string()))
    }
}
