//! What happens, as it happens: server-sent events.

use super::api::Api;
use super::caller::LastingCaller;
use super::extract::Query;
use super::looking::NotSeen;
use super::own::own_listed;
use super::refusal::Refusal;
use crate::places::{Place, Who};
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use gleaner_server::driver::Stopped;
use gleaner_server::view::Known;
use gleaner_wire::JobId;
use gleaner_wire::api::{LiveEvent, Problem, TaskPhase};
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
    /// Whether the one job that is asked for may be over.
    may_be_over: bool,
    live: Receiver<Arc<LiveEvent>>,
    /// Whether jobs that came by are to be shown.
    shown: BTreeMap<JobId, bool>,
    /// Whether nothing comes any more.
    has_ended: bool,
    _place: Place,
}

/// What happens from now on to machines and to the caller's jobs, or for an administrator to all. Each event is a
/// `LiveEvent`; an event `missed` says how many were left out, because the caller did not read fast enough. The stream of
/// one job ends behind the last of its events, once the job is over. Where the coordinator stops, the last event is `stopped`: what happens
/// until it is asked again, no stream tells.
#[utoipa::path(
    get, path = "/api/v1/events", tag = "grid", params(EventsQuery),
    responses((status = 200, description = "Until one side ends it, the job is over, the coordinator stops, or the caller's token is not good any more", content_type = "text/event-stream", body = String),
        (status = 404, description = "There is no such job of the caller's", body = Problem))
)]
pub(super) async fn events(
    State(api): State<Arc<Api>>,
    caller: LastingCaller,
    Query(query): Query<EventsQuery>,
) -> Result<Response, Refusal> {
    let place = api.streams.take(&Who::User(caller.by.user.clone()));
    let place = place.ok_or_else(|| Refusal::no_place("streams of events", &api.streams))?;
    let live = api.app.desk.live();
    let job = query.job.map(JobId);
    if let Some(job) = job {
        let by = caller.by.clone();
        api.look_back(move |known: Known<'_>, _| own_listed(&known, &by, job).map(drop)).await?;
    }
    let may_be_over = job.is_some();
    let (shown, has_ended) = (BTreeMap::new(), false);
    let watch = Watch { api, caller, job, may_be_over, live, shown, has_ended, _place: place };
    let events = stream::unfold(watch, |mut watch| async move {
        let event = watch.next().await?;
        Some((Ok::<_, Infallible>(event), watch))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(PULSE)).into_response())
}

impl Watch {
    /// The next that is to be shown; none behind the last. Who watches one job could not tell a stop of the coordinator from the job's end.
    async fn next(&mut self) -> Option<Event> {
        if self.has_ended {
            return None;
        }
        let happened = self.next_happened().await;
        self.has_ended = happened.is_none();
        let stopped = || Event::default().event("stopped").data(Stopped.to_string());
        happened.or_else(|| self.api.app.desk.has_stopped().then(stopped))
    }

    /// None once the coordinator has stopped, the one job is over, or its token is not good any more.
    async fn next_happened(&mut self) -> Option<Event> {
        loop {
            // What is told of an end is in the stream before anybody can see that the job is over.
            if self.may_be_over && self.live.is_empty() {
                let is_over = self.is_over().await?;
                if is_over && self.live.is_empty() {
                    return None;
                }
                self.may_be_over = is_over;
            }
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
                Ok(event) if self.is_shown(&event).await? => {
                    // Many tasks may be told of as one, and then nothing is said of where they are.
                    self.may_be_over |= self.job.is_some() && event.phase.is_none_or(TaskPhase::is_over);
                    return Some(written(&event));
                }
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    self.may_be_over = self.job.is_some();
                    return Some(Event::default().event("missed").data(missed.to_string()));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Whether no task of the one job can go on.
    async fn is_over(&self) -> Option<bool> {
        let (by, job) = (self.caller.by.clone(), self.job?);
        let look = move |known: Known<'_>, _| Ok(own_listed(&known, &by, job)?.tally.open() == 0);
        self.api.look_back(look).await.ok()
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
        let look = move |known: Known<'_>, _| match own_listed(&known, &by, job) {
            Ok(_) => Ok(true),
            Err(NotSeen::Refused(_)) => Ok(false),
            Err(unread) => Err(unread),
        };
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
