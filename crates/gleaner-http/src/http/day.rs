//! What the page shows beside lists: who asks, why things wait and fail, and the last day.

use super::api::Api;
use super::caller::Caller;
use super::extract::{Path, Query, within};
use super::looking::{blocking, turn};
use super::own::own_job;
use super::refusal::Refusal;
use crate::limits::{MACHINES_LISTED_MAX, RUNS_LISTED_MAX};
use axum::Json;
use axum::extract::State;
use gleaner_server::day::Day;
use gleaner_server::desk::{Desk, Requester};
use gleaner_server::view::{self, Failures, Known, Situation};
use gleaner_units::Time;
use gleaner_wire::day::{DayView, FailureList, MachineDayList, Me, RunList, UseList, WaitList};
use gleaner_wire::{JobId, VERSION};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct RunsQuery {
    /// How many at most: the latest.
    #[serde(default = "runs_usually")]
    #[param(minimum = 1, maximum = 20_000, default = 5_000)]
    limit: usize,
}

fn runs_usually() -> usize {
    5_000
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MachinesQuery {
    /// The position from which to begin, in order of joining.
    #[serde(default)]
    #[param(minimum = 0, maximum = 4_294_967_295_u32, default = 0)]
    from: u32,
    /// How many at most.
    #[serde(default = "machines_usually")]
    #[param(minimum = 1, maximum = 1_000, default = 500)]
    limit: usize,
}

fn machines_usually() -> usize {
    500
}

/// Whose token this is.
#[utoipa::path(
    get, path = "/api/v1/me", tag = "grid",
    responses((status = 200, description = "Who asks", body = Me))
)]
pub(super) async fn me(Caller(by): Caller) -> Json<Me> {
    Json(Me { version: VERSION, user: by.user, role: by.role })
}

/// Why tasks wait, those together that wait for the same: the caller's, or for an administrator all.
#[utoipa::path(
    get, path = "/api/v1/waits", tag = "grid",
    responses((status = 200, description = "The reason of most tasks first", body = WaitList))
)]
pub(super) async fn waits(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<WaitList>, Refusal> {
    let turn = turn(&api.days, "other looks at the day").await?;
    // The copy costs O(machines + tasks); what is done with it costs the desk nothing.
    let (ledger, now, quiet_until) =
        api.look(|desk, now| (desk.ledger().clone(), now, desk.quiet_until())).await?;
    let waits = move || view::waits(Situation { ledger: &ledger, now, quiet_until }, only(&by));
    blocking("saying why things wait", turn, waits).await.map(Json)
}

/// Why tasks of a job failed, those together that failed alike.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/failures", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")),
    responses((status = 200, description = "The most frequent reason first", body = FailureList))
)]
pub(super) async fn failures(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
) -> Result<Json<FailureList>, Refusal> {
    let look = move |known: Known<'_>, _| {
        let job = own_job(&known, &by, JobId(job))?;
        Ok(Failures::begin(known.ledger(), &job).whole(known.ledger()))
    };
    let (seen, turn) = api.look_back_as(true, look).await?;
    let mut failures = match seen {
        Ok(list) => return Ok(Json(list)),
        Err(failures) => failures,
    };
    let (failures, turn) = api.read_in(turn, move |reader| failures.read(reader).map(|()| failures)).await?;
    let end = move |desk: &Desk, _: Time| {
        let _turn = turn;
        failures.end(desk.ledger())
    };
    api.look_long(end).await.map(Json)
}

/// The queue and waits over the last day, a sample a minute: about the tasks of all users, whoever asks.
#[utoipa::path(
    get, path = "/api/v1/day", tag = "day",
    responses((status = 200, description = "Of the last day", body = DayView))
)]
pub(super) async fn day(State(api): State<Arc<Api>>, _: Caller) -> Result<Json<DayView>, Refusal> {
    let now = api.app.desk.now();
    seen(&api, move |day| day.view(now)).await
}

/// What each machine's owner and the grid used of it over the last day.
#[utoipa::path(
    get, path = "/api/v1/day/machines", tag = "day", params(MachinesQuery),
    responses((status = 200, description = "In order of joining", body = MachineDayList))
)]
pub(super) async fn machines(
    State(api): State<Arc<Api>>,
    _: Caller,
    Query(query): Query<MachinesQuery>,
) -> Result<Json<MachineDayList>, Refusal> {
    let limit = within("limit", query.limit, &(1..=MACHINES_LISTED_MAX))?;
    seen(&api, move |day| day.machines(query.from as usize, limit)).await
}

/// The latest runs of the last day: of the caller's tasks, or for an administrator of all.
#[utoipa::path(
    get, path = "/api/v1/day/runs", tag = "day", params(RunsQuery),
    responses((status = 200, description = "In order of their starts", body = RunList))
)]
pub(super) async fn runs(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<RunsQuery>,
) -> Result<Json<RunList>, Refusal> {
    let limit = within("limit", query.limit, &(1..=RUNS_LISTED_MAX))?;
    let now = api.app.desk.now();
    seen(&api, move |day| day.runs(only(&by), limit, now)).await
}

/// What was used in the last day, and asked for: by the caller, or for an administrator by all.
#[utoipa::path(
    get, path = "/api/v1/day/use", tag = "day",
    responses((status = 200, description = "By user and by job", body = UseList))
)]
pub(super) async fn usages(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<UseList>, Refusal> {
    let now = api.app.desk.now();
    seen(&api, move |day| day.usages(only(&by), now)).await
}

/// Whose jobs alone they may see, unless it is everybody's.
fn only(by: &Requester) -> Option<&str> {
    (!by.role.sees_all()).then_some(by.user.as_str())
}

/// Looks at the day off the threads that serve connections. A few at a time: the desk waits for them when it writes.
async fn seen<T: Send + 'static>(
    api: &Api,
    look: impl FnOnce(&Day) -> T + Send + 'static,
) -> Result<Json<T>, Refusal> {
    let turn = turn(&api.days, "other looks at the day").await?;
    let desk = api.app.desk.clone();
    blocking("looking at the day", turn, move || desk.day(look)).await.map(Json)
}
