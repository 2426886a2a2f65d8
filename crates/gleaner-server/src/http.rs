//! The HTTP API under `/api/v1`, its OpenAPI document, metrics and a plain page.
//!
//! - **Who asks is known before anything else is looked at**, and sees and acts on their own jobs only; to all but an
//!   administrator a job of someone else does not exist.
//! - **Everything is bounded**: headers, bodies, numbers in queries, requests in flight, and of those the ones that take
//!   long (waits, streams of events, files, large jobs).
//! - A handler asks the desk or the disk and says what it heard; what may be done is decided by the desk. Nothing that
//!   blocks runs on the threads that serve connections.
//! - Routes and document are one table: [`routes!`] takes both from the same attribute.

#![expect(unused_qualifications, reason = "utoipa's derive writes the names of queries with their path")]

mod agents;
mod blobs;
mod body;
mod caller;
mod document;
mod events;
mod extract;
mod grid;
mod guard;
mod jobs;
mod machines;
mod metrics;
mod output;
mod page;
mod probe;
mod refusal;
mod site;
mod tasks;
mod tokens;
mod users;
mod waiting;

pub(crate) use site::own_site;

use crate::app::App;
use crate::desk::{Answer, Desk, Order, Requester};
use axum::{Router, middleware};
use gleaner_units::Time;
use metrics::Metrics;
use refusal::Refusal;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Requests answered at once; one more is told to come back.
const REQUESTS_MAX: usize = 512;
/// Of those, the ones that wait for something to happen, so that others always get through.
const WAITS_MAX: usize = 384;
/// Streams of events.
const STREAMS_MAX: usize = 256;
/// Files on their way in or out.
const TRANSFERS_MAX: usize = 64;
/// Jobs too large to be read in one go that are read at the same time: each takes a multiple of its bytes in memory.
const LARGE_JOBS_MAX: usize = 2;
/// Looks into the past, which read the whole journal, and previews, which copy the ledger.
const STUDIES_MAX: usize = 2;

/// What all handlers share.
struct Api {
    app: Arc<App>,
    document: String,
    metrics: Metrics,
    page: page::Page,
    requests_so_far: AtomicU64,
    requests: Semaphore,
    waits: Semaphore,
    streams: Arc<Semaphore>,
    transfers: Arc<Semaphore>,
    large_jobs: Semaphore,
    studies: Semaphore,
}

impl Api {
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        Ok(self.app.desk.look(look).await?)
    }

    async fn order(&self, by: Requester, order: Order) -> Result<Answer, Refusal> {
        Ok(self.app.desk.order(by, order).await??)
    }
}

/// The API over what `app` holds. The agents' sessions are not among its routes.
pub fn router(app: Arc<App>) -> Router {
    let (router, document) = table().split_for_parts();
    let api = Arc::new(Api {
        app,
        document: document::finished(document),
        metrics: Metrics::new(),
        page: page::Page::new(),
        requests_so_far: AtomicU64::new(0),
        requests: Semaphore::new(REQUESTS_MAX),
        waits: Semaphore::new(WAITS_MAX),
        streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        transfers: Arc::new(Semaphore::new(TRANSFERS_MAX)),
        large_jobs: Semaphore::new(LARGE_JOBS_MAX),
        studies: Semaphore::new(STUDIES_MAX),
    });
    router
        .fallback(async || {
            Refusal::not_found("there is nothing here; /api/v1/openapi.json lists what there is")
        })
        .method_not_allowed_fallback(async || Refusal::method())
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
        .routes(routes!(tasks::list))
        .routes(routes!(tasks::one))
        .routes(routes!(tasks::history))
        .routes(routes!(tasks::explain))
        .routes(routes!(output::output))
        .routes(routes!(machines::list))
        .routes(routes!(machines::pause))
        .routes(routes!(machines::unpause))
        .routes(routes!(machines::resume))
        .routes(routes!(machines::drain))
        .routes(routes!(machines::measure))
        .routes(routes!(machines::revoke))
        .routes(routes!(machines::set_price))
        .routes(routes!(grid::policy, grid::set_policy))
        .routes(routes!(grid::budget, grid::set_budget))
        .routes(routes!(grid::labels))
        .routes(routes!(grid::grid))
        .routes(routes!(tokens::join))
        .routes(routes!(tokens::user))
        .routes(routes!(users::list))
        .routes(routes!(users::remove))
        .routes(routes!(blobs::put, blobs::get, blobs::head))
        .routes(routes!(probe::probe))
        .routes(routes!(agents::enrol))
        .routes(routes!(events::events))
        .routes(routes!(document::openapi))
        .routes(routes!(metrics::metrics))
        .routes(routes!(page::health))
        .routes(routes!(page::page))
}
