//! What happens, as it happens: server-sent events.

use super::Api;
use super::caller::LastingCaller;
use super::extract::Query;
use super::own::own_job;
use super::refusal::Refusal;
use crate::places::{Place, Who};
use crate::view::Known;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gleaner_wire::JobId;
use gleaner_wire::api::LiveEvent;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::select;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::sleep;
use utoipa::IntoParams;

/// A sign of life comes at least this often.
const PULSE: Duration = Duration::from_secs(15);
/// How often to look whether who watches may still.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Jobs of which a stream remembers whose they are.
const OWNERS_MAX: usize = 4_096;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct EventsQuery {
    /// Only what is about this job.
    #[param(minimum = 0, maximum = 4_294_967_295_u32)]
    job: Option<u32>,
}

/// One who watches.
struct Watch {
    api: Arc<Api>,
    caller: LastingCaller,
    job: Option<JobId>,
    live: Receiver<Arc<LiveEvent>>,
    /// Whether jobs that came by are to be shown.
    shown: BTreeMap<JobId, bool>,
    _place: Place,
}

/// What happens from now on to machines and to the caller's jobs, or for an administrator to all. Each event is a
/// `LiveEvent`; an event `missed` says how many were left out, because the caller did not read fast enough.
#[utoipa::path(
    get, path = "/api/v1/events", tag = "grid", params(EventsQuery),
    responses((status = 200, description = "Until one side ends it, or the caller's token is not good any more", content_type = "text/event-stream", body = String))
)]
pub(super) async fn events(
    State(api): State<Arc<Api>>,
    caller: LastingCaller,
    Query(query): Query<EventsQuery>,
) -> Result<Response, Refusal> {
    let place = api.streams.take(&Who::User(caller.by.user.clone()));
    let place = place.ok_or_else(|| Refusal::busy("other streams of events"))?;
    let live = api.app.desk.live();
    let job = query.job.map(JobId);
    if let Some(job) = job {
        let by = caller.by.clone();
        api.look_back(move |known, _| own_job(&known, &by, job).map(drop)).await?;
    }
    let watch = Watch { api, caller, job, live, shown: BTreeMap::new(), _place: place };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(PULSE)).into_response())
}

impl Watch {
    /// The next that is to be shown; none once the coordinator has stopped, or its token is not good any more.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let happened = select! {
                happened = self.live.recv() => Some(happened),
                () = self.api.app.desk.closed() => return None,
                () = sleep(LOOK_AGAIN) => None,
            };
            if !self.caller.is_let_in(&self.api) {
                return None;
            }
            let Some(happened) = happened else { continue };
            match happened {
                Ok(event) if self.is_shown(&event).await? => return Some(written(&event)),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    return Some(Event::default().event("missed").data(missed.to_string()));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    async fn is_shown(&mut self, event: &LiveEvent) -> Option<bool> {
        let Some(job) = event.job else { return Some(self.job.is_none()) };
        if self.job.is_some_and(|wanted| wanted != job) {
            return Some(false);
        }
        // The one job that is asked for was looked at before.
        if self.caller.by.role.sees_all() || self.job.is_some() {
            return Some(true);
        }
        if let Some(&is_shown) = self.shown.get(&job) {
            return Some(is_shown);
        }
        let by = self.caller.by.clone();
        let look = move |known: Known<'_>, _| Ok(own_job(&known, &by, job).is_ok());
        let is_shown = self.api.look_back(look).await.ok()?;
        if self.shown.len() >= OWNERS_MAX {
            self.shown.clear();
        }
        self.shown.insert(job, is_shown);
        Some(is_shown)
    }
}

fn written(event: &LiveEvent) -> Event {
    Event::default().json_data(event).expect("events are plain data")
}
