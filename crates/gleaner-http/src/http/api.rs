//! What all routes answer from: the coordinator, and the places of requests that are open.

use super::faults::Faults;
use super::metrics::Metrics;
use super::rates::Rates;
use super::refusal::Refusal;
use super::uploads::{Coming, UsersUploads};
use crate::limits::{
    DAYS_MAX, FILES_OF_AGENTS, FILES_OF_USERS, LARGE_JOBS, LARGE_JOBS_READ_MAX, LONG_LOOKS_MAX,
    PAST_READS_MAX, REQUESTS_OF_AGENTS, REQUESTS_OF_JOINING, REQUESTS_OF_STRANGERS, REQUESTS_OF_USERS,
    STREAMS, STUDIES_MAX, WAITS,
};
use crate::places::{Place, Places, Who};
use gleaner_server::app::App;
use gleaner_server::day::Day;
use gleaner_server::desk::{Answer, Desk, Order, Requester};
use gleaner_units::Time;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::Semaphore;

/// What all handlers share.
pub(super) struct Api {
    pub(super) app: Arc<App>,
    pub(super) document: String,
    pub(super) metrics: Metrics,
    /// What the page's browser lets it do.
    pub(super) page_policy: String,
    pub(super) requests_so_far: AtomicU64,
    /// Of users, agents, machines that join, and strangers.
    requests: [Arc<Places>; 4],
    pub(super) waits: Arc<Places>,
    pub(super) streams: Arc<Places>,
    files_of_users: Arc<Places>,
    files_of_agents: Arc<Places>,
    pub(super) large_jobs: Arc<Places>,
    pub(super) large_jobs_read: Arc<Semaphore>,
    pub(super) studies: Arc<Semaphore>,
    pub(super) days: Arc<Semaphore>,
    pub(super) long_looks: Arc<Semaphore>,
    /// Reads of what left memory, and of what runs wrote.
    pub(super) reads: Arc<Semaphore>,
    pub(super) rates: Rates,
    pub(super) uploads: UsersUploads,
    pub(super) coming: Arc<Coming>,
    pub(super) faults: Faults,
}

impl Api {
    pub(super) fn new(app: Arc<App>, document: String, page_policy: String) -> Self {
        let metrics = Metrics::new(app.desk.day(Day::waits));
        Self {
            app,
            document,
            metrics,
            page_policy,
            requests_so_far: AtomicU64::new(0),
            requests: [REQUESTS_OF_USERS, REQUESTS_OF_AGENTS, REQUESTS_OF_JOINING, REQUESTS_OF_STRANGERS]
                .map(Places::new),
            waits: Places::new(WAITS),
            streams: Places::new(STREAMS),
            files_of_users: Places::new(FILES_OF_USERS),
            files_of_agents: Places::new(FILES_OF_AGENTS),
            large_jobs: Places::new(LARGE_JOBS),
            large_jobs_read: Arc::new(Semaphore::new(LARGE_JOBS_READ_MAX)),
            studies: Arc::new(Semaphore::new(STUDIES_MAX)),
            days: Arc::new(Semaphore::new(DAYS_MAX)),
            long_looks: Arc::new(Semaphore::new(LONG_LOOKS_MAX)),
            reads: Arc::new(Semaphore::new(PAST_READS_MAX)),
            rates: Rates::default(),
            uploads: UsersUploads::default(),
            coming: Arc::default(),
            faults: Faults::default(),
        }
    }

    pub(super) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Desk, Time) -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        Ok(self.app.desk.look(look).await?)
    }

    pub(super) fn request_place(&self, who: &Who) -> Result<Place, Refusal> {
        let [of_users, of_agents, of_joining, of_strangers] = &self.requests;
        let places = match who {
            Who::User(_) => of_users,
            Who::Agent(_) => of_agents,
            Who::Joining(_) => of_joining,
            Who::Stranger => of_strangers,
        };
        places.take(who).ok_or_else(|| Refusal::no_place("requests", places))
    }

    pub(super) fn file_place(&self, who: &Who) -> Result<Place, Refusal> {
        let places = match who {
            Who::Agent(_) => &self.files_of_agents,
            Who::User(_) | Who::Joining(_) | Who::Stranger => &self.files_of_users,
        };
        places.take(who).ok_or_else(|| Refusal::no_place("files", places))
    }

    /// Has something done. It may have been long on its way: whether the token is theirs still, the desk sees as it does it.
    pub(super) async fn order(&self, by: Requester, order: Order) -> Result<Answer, Refusal> {
        self.refuse_expired(&by)?;
        Ok(self.app.desk.order(by, order).await??)
    }

    /// Refuses whose token has expired since they were let in.
    fn refuse_expired(&self, by: &Requester) -> Result<(), Refusal> {
        let people = self.app.desk.people();
        match by.token.as_ref().and_then(|token| people.user(token)) {
            Some(known) if !known.is_let_in(self.app.desk.wall_now()) => Err(Refusal::expired(&known.name)),
            Some(_) | None => Ok(()),
        }
    }
}
