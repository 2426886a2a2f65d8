//! What a page in somebody's browser may not do: ask in the name of another site, or under a name that its owner lets
//! lead here. A browser says where a request comes from (`Origin`) and whom it takes this for (`Host`); both have to be
//! this coordinator. Programs send no `Origin`.

use super::refusal::Refusal;
use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use gleaner_server::app::App;
use std::net::IpAddr;
use std::sync::Arc;

/// Lets through what is asked of this coordinator by a program, or by its own page.
pub(crate) async fn own_site(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let names = (app.names)();
    match check(&names, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn check(names: &[String], request: &Request) -> Result<(), Refusal> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(Refusal::misdirected("a request has one header \"Host\""));
    };
    let host = host.to_str().unwrap_or_default();
    // A host's name may have a colon in it here, before what no port is.
    let is_whole = |named: &Authority| {
        let port = host.strip_prefix(named.host());
        port.is_some_and(|port| {
            port.is_empty() || named.port_u16().is_some_and(|number| port == format!(":{number}"))
        })
    };
    let named: Option<Authority> = host.parse().ok().filter(is_whole);
    // The first line of a request may name a host too.
    let others = request.uri().authority().map(Authority::host);
    let mut all = named.iter().map(Authority::host).chain(others);
    if named.is_none() || !all.all(|host| names.iter().any(|name| is_same(name, host))) {
        let message = "this coordinator does not go by the name that it is asked under (the header \"Host\"); its \
                       certificate has its names, and `--name` adds one";
        return Err(Refusal::misdirected(message));
    }
    let own = format!("https://{host}");
    let mut origins = request.headers().get_all(ORIGIN).iter();
    if origins.all(|origin| origin.as_bytes().eq_ignore_ascii_case(own.as_bytes())) {
        return Ok(());
    }
    Err(Refusal::forbidden("a page of another site may not ask this coordinator (the header \"Origin\")"))
}

/// Addresses may be written in several ways.
fn is_same(name: &str, host: &str) -> bool {
    let host = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    match (name.parse::<IpAddr>(), host.parse::<IpAddr>()) {
        (Ok(name), Ok(host)) => name == host,
        _ => name.eq_ignore_ascii_case(host),
    }
}
