//! The HTTP API under `/api/v1`, its OpenAPI document, metrics and the page.
//!
//! - **Who asks is known before anything else is looked at**, and sees and acts on their own jobs only; to all but an
//!   administrator a job of someone else does not exist.
//! - **Everything is bounded** (`limits`): headers, bodies and how slow they may be, numbers in queries, requests in flight,
//!   and of those the ones that take long (waits, streams of events, files, large jobs); in all, and for each caller.
//! - **Nothing of a body is read before a token that is good.**
//! - A handler asks the desk or the disk and says what it heard; what may be done is decided by the desk. Nothing that
//!   blocks runs on the threads that serve connections.
//! - Routes and document are one table: [`routes!`] takes both from the same attribute.

#![expect(unused_qualifications, reason = "utoipa's derive writes the names of queries with their path")]

mod agents;
mod blobs;
mod body;
mod caller;
mod day;
mod document;
mod events;
mod extract;
mod grid;
mod guard;
mod jobs;
mod keeping;
mod machines;
mod metrics;
mod output;
mod own;
mod pace;
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

use crate::app::App;
use crate::day::Day;
use crate::desk::{Answer, Desk, Order, Requester};
use crate::limits::{
    DAYS_MAX, FILES_OF_AGENTS, FILES_OF_USERS, LARGE_JOBS, LARGE_JOBS_READ_MAX, REQUESTS_OF_AGENTS,
    REQUESTS_OF_STRANGERS, REQUESTS_OF_USERS, STREAMS, STUDIES_MAX, WAITS,
};
use crate::places::{Place, Places, Who};
use crate::view::Known;
use axum::{Router, middleware};
use gleaner_units::Time;
use metrics::Metrics;
use rates::Rates;
use refusal::Refusal;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;
use uploads::{Coming, UsersUploads};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What all handlers share.
struct Api {
    app: Arc<App>,
    document: String,
    metrics: Metrics,
    page: page::Page,
    requests_so_far: AtomicU64,
    /// Of users, agents and strangers.
    requests: [Arc<Places>; 3],
    waits: Arc<Places>,
    streams: Arc<Places>,
    files_of_users: Arc<Places>,
    files_of_agents: Arc<Places>,
    large_jobs: Arc<Places>,
    large_jobs_read: Arc<Semaphore>,
    studies: Semaphore,
    days: Semaphore,
    rates: Rates,
    uploads: UsersUploads,
    coming: Arc<Coming>,
}

impl Api {
    async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        Ok(self.app.desk.look(look).await?)
    }

    async fn look_back<T: Send + 'static>(
        &self,
        look: impl FnOnce(Known<'_>, Time) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        self.app.desk.look_back(look).await?
    }

    fn request_place(&self, who: &Who) -> Result<Place, Refusal> {
        let [of_users, of_agents, of_strangers] = &self.requests;
        let places = match who {
            Who::User(_) => of_users,
            Who::Agent(_) => of_agents,
            Who::Stranger => of_strangers,
        };
        places.take(who).ok_or_else(|| Refusal::no_place("requests", places))
    }

    fn file_place(&self, who: &Who) -> Result<Place, Refusal> {
        let places = match who {
            Who::Agent(_) => &self.files_of_agents,
            Who::User(_) | Who::Stranger => &self.files_of_users,
        };
        places.take(who).ok_or_else(|| Refusal::no_place("files", places))
    }

    async fn order(&self, by: Requester, order: Order) -> Result<Answer, Refusal> {
        Ok(self.app.desk.order(by, order).await??)
    }
}

/// The API over what `app` holds. The agents' sessions are not among its routes.
pub fn router(app: Arc<App>) -> Router {
    let (router, document) = table().split_for_parts();
    let metrics = Metrics::new(app.desk.day(Day::waits));
    let api = Arc::new(Api {
        app,
        document: document::finished(document),
        metrics,
        page: page::Page::new(),
        requests_so_far: AtomicU64::new(0),
        requests: [REQUESTS_OF_USERS, REQUESTS_OF_AGENTS, REQUESTS_OF_STRANGERS].map(Places::new),
        waits: Places::new(WAITS),
        streams: Places::new(STREAMS),
        files_of_users: Places::new(FILES_OF_USERS),
        files_of_agents: Places::new(FILES_OF_AGENTS),
        large_jobs: Places::new(LARGE_JOBS),
        large_jobs_read: Arc::new(Semaphore::new(LARGE_JOBS_READ_MAX)),
        studies: Semaphore::new(STUDIES_MAX),
        days: Semaphore::new(DAYS_MAX),
        rates: Rates::default(),
        uploads: UsersUploads::default(),
        coming: Arc::default(),
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
