//! The HTTP API under `/api/v1`, its OpenAPI document, metrics and the page.
//!
//! - **Who asks is known before anything else is looked at**, and sees and acts on their own jobs only; to all but an
//!   administrator a job of someone else does not exist.
//! - **Everything is bounded** (`limits`): headers, bodies and how slow they may be, numbers in queries, requests in flight,
//!   and of those the ones that take long (waits, streams of events, files, large jobs); in all, and for each caller.
//! - **Nothing is made of a body before a token that is good**: the listener throws away what came of it.
//! - A handler asks the desk or the disk and says what it heard; what may be done is decided by the desk. Nothing that
//!   blocks runs on the threads that serve connections.
//! - Routes and document are one table: [`routes!`] takes both from the same attribute.

#![expect(unused_qualifications, reason = "utoipa's derive writes the names of queries with their path")]

mod agents;
mod api;
mod blobs;
mod body;
mod caller;
mod day;
mod document;
mod events;
mod extract;
mod faults;
mod grid;
mod guard;
mod jobs;
mod json;
mod keeping;
mod looking;
mod machines;
mod metrics;
mod output;
mod own;
mod page;
mod probe;
mod quotas;
mod rates;
mod refusal;
mod scrape;
mod site;
mod tasks;
mod tokens;
mod uploads;
mod users;
mod waiting;
mod what_if;

pub(crate) use site::own_site;

use api::Api;
use axum::{Router, middleware};
use gleaner_server::app::App;
use refusal::Refusal;
use std::sync::Arc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The API over what `app` holds. The agents' sessions are not among its routes.
pub fn router(app: Arc<App>) -> Router {
    let (router, document) = table().split_for_parts();
    let queried = Arc::new(document::queried(&document));
    let api = Arc::new(Api::new(app, document::finished(document), page::policy()));
    router
        .fallback(async || {
            Refusal::not_found("there is nothing here; /api/v1/openapi.json lists what there is")
        })
        .method_not_allowed_fallback(async || Refusal::method())
        .layer(middleware::from_fn_with_state(queried, extract::expected_query))
        .layer(middleware::from_fn_with_state(Arc::clone(&api.app), own_site))
        .layer(middleware::from_fn_with_state(Arc::clone(&api), guard::guard))
        .with_state(api)
}

fn table() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::with_openapi(document::begun())
        .routes(routes!(jobs::submit, jobs::list))
        .routes(routes!(jobs::preview))
        .routes(routes!(jobs::one))
        .routes(routes!(jobs::cancel))
        .routes(routes!(jobs::hold))
        .routes(routes!(jobs::release))
        .routes(routes!(jobs::rerun))
        .routes(routes!(keeping::show))
        .routes(routes!(keeping::keep))
        .routes(routes!(day::failures))
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::one))
        .routes(routes!(tasks::history))
        .routes(routes!(tasks::explain))
        .routes(routes!(output::output))
        .routes(routes!(blobs::of_task))
        .routes(routes!(machines::list))
        .routes(routes!(machines::pause))
        .routes(routes!(machines::unpause))
        .routes(routes!(machines::resume))
        .routes(routes!(machines::drain))
        .routes(routes!(machines::measure))
        .routes(routes!(machines::revoke))
        .routes(routes!(machines::forget))
        .routes(routes!(machines::set_price))
        .routes(routes!(machines::set_owner))
        .routes(routes!(grid::policy, grid::set_policy))
        .routes(routes!(grid::budget, grid::set_budget))
        .routes(routes!(quotas::list, quotas::set))
        .routes(routes!(grid::labels))
        .routes(routes!(grid::grid))
        .routes(routes!(day::me))
        .routes(routes!(day::waits))
        .routes(routes!(day::day))
        .routes(routes!(day::machines))
        .routes(routes!(day::runs))
        .routes(routes!(day::usages))
        .routes(routes!(what_if::presets))
        .routes(routes!(what_if::what_if))
        .routes(routes!(tokens::join))
        .routes(routes!(tokens::user))
        .routes(routes!(tokens::remove_join))
        .routes(routes!(users::list))
        .routes(routes!(users::remove))
        .routes(routes!(blobs::put, blobs::get, blobs::head))
        .routes(routes!(probe::probe))
        .routes(routes!(agents::enrol))
        .routes(routes!(events::events))
        .routes(routes!(document::openapi))
        .routes(routes!(scrape::metrics))
        .routes(routes!(page::health))
        .routes(routes!(page::page))
}
