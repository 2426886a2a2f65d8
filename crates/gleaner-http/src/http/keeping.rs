//! What is kept of jobs that are over, and until when.

use super::api::Api;
use super::body::Document;
use super::caller::Caller;
use super::extract::{Path, Query, within};
use super::own::own_listed;
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use gleaner_server::desk::{Desk, Keeping, Order};
use gleaner_server::ledger::Job;
use gleaner_server::store::{Amount, ReadError, Reader, Results, WithResults};
use gleaner_server::view::{self, Known};
use gleaner_units::{Span, Time};
use gleaner_wire::api::{AmountView, JobView, KeepSetting, KeepingView, Problem};
use gleaner_wire::limits::JOBS_LISTED_MAX;
use gleaner_wire::{JobId, VERSION};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct KeepingQuery {
    /// How many jobs to list at most.
    #[serde(default = "jobs_usually")]
    #[param(minimum = 1, maximum = 1_000, default = 20)]
    limit: usize,
}

fn jobs_usually() -> usize {
    20
}

/// Jobs of the past whose results stand alike.
struct Found {
    amount: Amount,
    jobs: Vec<(JobId, Job)>,
}

/// What is due to be removed when, and what somebody wants kept: of the caller's jobs, or for an administrator of all. Jobs
/// that were over a short while ago are not among them yet.
#[utoipa::path(
    get, path = "/api/v1/keeping", tag = "jobs", params(KeepingQuery),
    responses((status = 200, description = "What is kept until when", body = KeepingView))
)]
pub(super) async fn show(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<KeepingQuery>,
) -> Result<Json<KeepingView>, Refusal> {
    let limit = within("limit", query.limit, &(1..=JOBS_LISTED_MAX as usize))?;
    let user = (!by.role.sees_all()).then_some(by.user);
    let read = move |reader: &dyn Reader| {
        let with = |results| found(reader, results, user.clone(), limit);
        Ok((with(Results::There)?, with(Results::Kept)?))
    };
    let (there, kept) = api.read(read).await?;
    let view = move |desk: &Desk, now| {
        let Keeping { results, records } = desk.terms().keeping;
        let views =
            |jobs: &[(JobId, Job)]| jobs.iter().map(|(id, job)| view::job(desk, now, *id, job)).collect();
        let due =
            if results.is_some() { there } else { Found { amount: Amount::default(), jobs: Vec::new() } };
        KeepingView {
            version: VERSION,
            results_for_s: results.map(Span::seconds),
            records_for_s: records.map(Span::seconds),
            due: amount(due.amount),
            kept: amount(kept.amount),
            next: views(&due.jobs),
            kept_jobs: views(&kept.jobs),
        }
    };
    api.look(view).await.map(Json)
}

fn found(
    reader: &dyn Reader,
    results: Results,
    user: Option<String>,
    limit: usize,
) -> Result<Found, ReadError> {
    let wanted = WithResults { results, user, ended: (Time::ZERO, Time::NEVER) };
    Ok(Found { amount: reader.past_amount(&wanted)?, jobs: Job::list_with(reader, &wanted, limit)? })
}

fn amount(Amount { jobs, bytes }: Amount) -> AmountView {
    AmountView { jobs, bytes }
}

/// Keeps the results of a job until this is taken back, or takes it back.
#[utoipa::path(
    put, path = "/api/v1/jobs/{job}/results", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")), request_body = KeepSetting,
    responses((status = 200, description = "The job", body = JobView),
        (status = 409, description = "They are removed already", body = Problem))
)]
pub(super) async fn keep(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Document(setting): Document<KeepSetting>,
) -> Result<Json<JobView>, Refusal> {
    let id = JobId(job);
    api.order(by.clone(), Order::KeepResults(id, setting.keep)).await?;
    let look = move |known: Known<'_>, now| {
        let job = own_listed(&known, &by, id)?;
        Ok(view::job(known.desk(), now, id, &job))
    };
    api.look_back(look).await.map(Json)
}
