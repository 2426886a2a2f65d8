//! The plain page, and the sign of life. Neither needs a token, and neither shows any data: the page's script asks the
//! API with the token that its user gives it.

use super::Api;
use super::refusal::Refusal;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::response::{Html, IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

const SOURCE: &str = include_str!("page.html");

/// The page and the one script that may run in it.
pub(super) struct Page {
    html: String,
    policy: String,
}

impl Page {
    pub(super) fn new() -> Self {
        let html = SOURCE.replace("{version}", env!("CARGO_PKG_VERSION"));
        let (_, rest) = html.split_once("<script>").expect("the page has a script");
        let (script, _) = rest.split_once("</script>").expect("the script has an end");
        let hash = STANDARD.encode(Sha256::digest(script));
        let policy = format!(
            "default-src 'none'; script-src 'sha256-{hash}'; style-src 'unsafe-inline'; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        Self { html, policy }
    }
}

/// A page that shows the grid to who has a token.
#[utoipa::path(
    get, path = "/", tag = "operation",
    responses((status = 200, description = "The page", content_type = "text/html", body = String)),
    security(())
)]
pub(super) async fn page(State(api): State<Arc<Api>>) -> Response {
    let headers = [
        (CONTENT_SECURITY_POLICY, api.page.policy.as_str()),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(api.page.html.clone())).into_response()
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
