//! The page, and the sign of life. Neither needs a token, and neither shows any data: the page's script asks the
//! API with the token that its user gives it.

use super::api::Api;
use super::refusal::Refusal;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// Built from `web/` and committed: one file, with its style and its script inside.
const SOURCE: &str = include_str!("../../../../web/dist/index.html");

/// What the page's browser lets it do.
pub(super) fn policy() -> String {
    let [style, script] = ["style", "script"].map(|tag| hash_of(SOURCE, tag));
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

/// Of what stands in the only element of that name.
fn hash_of(html: &str, tag: &str) -> String {
    let (_, rest) = html.split_once(&format!("<{tag}")).expect("the page has one");
    let (_, rest) = rest.split_once('>').expect("it begins");
    let (text, _) = rest.split_once(&format!("</{tag}>")).expect("it ends");
    STANDARD.encode(Sha256::digest(text))
}

/// A page that shows the grid to who has a token.
#[utoipa::path(
    get, path = "/", tag = "operation",
    responses((status = 200, description = "The page", content_type = "text/html", body = String)),
    security(())
)]
pub(super) async fn page(State(api): State<Arc<Api>>) -> Response {
    let headers = [
        (CONTENT_SECURITY_POLICY, api.page_policy.as_str()),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(SOURCE)).into_response()
}

/// Whether the coordinator works.
#[utoipa::path(
    get, path = "/healthz", tag = "operation",
    responses((status = 200, description = "It does", content_type = "text/plain", body = String)),
    security(())
)]
pub(super) async fn health(State(api): State<Arc<Api>>) -> Result<&'static str, Refusal> {
    api.look(|_, _| ()).await?;
    Ok("ok\n")
}
