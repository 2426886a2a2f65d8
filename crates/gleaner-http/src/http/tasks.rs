//! Tasks: how they stand, what became of them, and why they are where they are.

use super::api::Api;
use super::caller::Caller;
use super::extract::{Path, Query, within};
use super::looking::{blocking, turn};
use super::own::{own_job, own_task};
use super::refusal::Refusal;
use crate::limits::HISTORY_TOLD_MAX;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use gleaner_server::desk::{Desk, Requester};
use gleaner_server::recovery::RecoveryError;
use gleaner_server::store::{ReadError, Reader, Seq};
use gleaner_server::view::{self, HistoryNames, Known, Moment, Story, TaskListing};
use gleaner_units::{TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{ExplanationView, History, TaskList, TaskPhase, TaskView};
use gleaner_wire::limits::TASKS_LISTED_MAX;
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// Tasks in one answer if nothing is said. Longer ones take turns.
const TASKS_USUALLY: usize = 1_000;
/// Rows of the journal that are read at a time.
const ROWS_PER_PAGE: usize = 1_000;
/// The end of what can be written as a moment, in seconds.
const TIME_MAX_S: f64 = 1e10;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// The position in the job from which to begin.
    #[serde(default)]
    #[param(minimum = 0, maximum = 4_294_967_295_u32, default = 0)]
    from: u32,
    /// How many at most.
    #[serde(default = "tasks_usually")]
    #[param(minimum = 1, maximum = 10_000, default = 1_000)]
    limit: usize,
    /// Only tasks in this phase.
    #[param(inline, nullable = false)]
    phase: Option<TaskPhase>,
}

fn tasks_usually() -> usize {
    TASKS_USUALLY
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ExplainQuery {
    /// The moment to explain, in seconds since 1970; now if nothing is said.
    #[param(minimum = 0, maximum = 10_000_000_000_u64)]
    at_s: Option<f64>,
    /// Instead: the moment just before the policy gave the task this run, from 1.
    #[param(minimum = 1, maximum = 4_294_967_295_u32)]
    run: Option<u32>,
}

/// The tasks of a job.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ListQuery),
    responses((status = 200, description = "In order of their numbers", body = TaskList))
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Query(query): Query<ListQuery>,
) -> Result<Response, Refusal> {
    let limit = within("limit", query.limit, &(1..=TASKS_LISTED_MAX as usize))?;
    let (id, is_long) = (JobId(job), limit > TASKS_USUALLY);
    let look = move |known: Known<'_>, _| {
        let job = own_job(&known, &by, id)?;
        let listing = TaskListing::begin(known.desk(), (id, &job), (query.from, limit), query.phase);
        Ok(listing.whole(known.desk()))
    };
    let (seen, turn) = api.look_back_as(is_long, look).await?;
    let mut tasks = match seen {
        Ok(list) => return answered(list).await,
        Err(tasks) => tasks,
    };
    let (tasks, turn) = api.read_in(turn, move |reader| tasks.read(reader).map(|()| tasks)).await?;
    let end = move |desk: &Desk, _: Time| {
        let _turn = turn;
        tasks.end(desk)
    };
    answered(if is_long { api.look_long(end).await? } else { api.look(end).await? }).await
}

/// A long list is written beside the threads that serve everybody.
async fn answered(list: TaskList) -> Result<Response, Refusal> {
    if list.tasks.len() <= TASKS_USUALLY {
        return Ok(Json(list).into_response());
    }
    blocking("writing a list of tasks", (), move || Json(list).into_response()).await
}

/// A task.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks/{task}", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ("task" = u32, Path, description = "Its number there")),
    responses((status = 200, description = "The task", body = TaskView))
)]
pub(super) async fn one(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path((job, number)): Path<(u32, u32)>,
) -> Result<Json<TaskView>, Refusal> {
    let id = JobId(job);
    let look = move |known: Known<'_>, _| {
        let (job, task) = own_task(&known, &by, id, number)?;
        Ok(view::task(known.desk(), (id, &job), &known.task(task)?))
    };
    api.look_back(look).await.map(Json)
}

/// A task's life so far: each step with its time, its cause and who caused it.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks/{task}/history", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ("task" = u32, Path, description = "Its number there")),
    responses((status = 200, description = "In order of time", body = History))
)]
pub(super) async fn history(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path((job, number)): Path<(u32, u32)>,
) -> Result<Json<History>, Refusal> {
    let look = move |known: Known<'_>, _| {
        let (job, task) = own_task(&known, &by, JobId(job), number)?;
        Ok((task, view::history_names(known.ledger(), &job, task)))
    };
    let ((task, names), _) = api.look_back_as(true, look).await?;
    api.read(move |reader| told(reader, task, &names)).await.map(Json)
}

/// Reads the rows that list a task, a page at a time, from its submission on.
fn told(reader: &dyn Reader, task: TaskId, names: &HistoryNames) -> Result<History, ReadError> {
    let mut story = Story::new(names, HISTORY_TOLD_MAX);
    let mut from = Seq::FIRST;
    loop {
        let page = reader.history(task, from, ROWS_PER_PAGE)?;
        let Some(last) = page.last() else { return Ok(story.end()) };
        from = last.seq.next();
        story.read(&page);
    }
}

/// Why a task is where it is, now or at a moment in the past.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}/tasks/{task}/explain", tag = "tasks",
    params(("job" = u32, Path, description = "The job's number"), ("task" = u32, Path, description = "Its number there"),
        ExplainQuery),
    responses((status = 200, description = "Which machines could take it and which could not", body = ExplanationView))
)]
pub(super) async fn explain(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path((job, number)): Path<(u32, u32)>,
    Query(query): Query<ExplainQuery>,
) -> Result<Json<ExplanationView>, Refusal> {
    match (query.at_s, query.run) {
        (Some(_), Some(_)) => Err(Refusal::invalid("at_s and run name a moment each; expected one of them")),
        (None, None) => {
            let look = move |known: Known<'_>, now| {
                let (_, task) = own_task(&known, &by, JobId(job), number)?;
                Ok(view::explain(&known, now, task)?)
            };
            api.look_back_as(true, look).await.map(|(view, _)| Json(view))
        }
        (None, Some(run)) => {
            within("run", run, &(1..=u32::MAX))?;
            explain_past(&api, Moment::BeforeRun(run), by, (JobId(job), number)).await.map(Json)
        }
        (Some(at_s), None) => {
            let at = within("at_s", at_s, &(0.0..=TIME_MAX_S)).map(Time::from_seconds)?;
            let at = at.expect("a moment within bounds can be written");
            let now = api.app.desk.now();
            // Who writes no fraction means the end of a second, which may be this one.
            if at > now.after_seconds(1.0) {
                let now_s = now.seconds();
                let message = format!("at_s is {at_s}: that moment has not come; it is {now_s} here");
                return Err(Refusal::invalid(message));
            }
            explain_past(&api, Moment::At(at), by, (JobId(job), number)).await.map(Json)
        }
    }
}

async fn explain_past(
    api: &Api,
    moment: Moment,
    by: Requester,
    (job, number): (JobId, u32),
) -> Result<ExplanationView, Refusal> {
    let look = move |known: Known<'_>, _| {
        let (_, task) = own_task(&known, &by, job, number)?;
        Ok((task, *known.desk().terms()))
    };
    let (task, terms) = api.look_back(look).await?;
    let turn = turn(&api.studies, "other looks into the past").await?;
    let app = Arc::clone(&api.app);
    let study = move || {
        let mut found = Ok(None);
        app.readers.read(|reader| {
            found = view::explain_past(reader, moment, task, &terms);
            Ok(())
        })?;
        found
    };
    let found = blocking("looking into the past", turn, study).await?;
    let found = found.map_err(|error: RecoveryError| match error {
        compacted @ RecoveryError::Compacted { .. } => Refusal::not_found(compacted.to_string()),
        error => Refusal::internal(error.to_string()),
    })?;
    found.ok_or_else(|| {
        Refusal::not_found(match moment {
            Moment::At(_) => "the task was not submitted yet at that moment".to_owned(),
            Moment::BeforeRun(run) => format!("the task has not had a run {run}"),
        })
    })
}
