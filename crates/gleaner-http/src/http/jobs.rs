//! Jobs: submitting, looking at, and ordering about.

use super::api::Api;
use super::body::{Document, JobDocument, Turn, length};
use super::caller::Caller;
use super::extract::{Path, Query, patience, within};
use super::looking::{self, blocking};
use super::own::{own_job, own_listed};
use super::refusal::Refusal;
use super::waiting;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use gleaner_server::desk::{Admitted, Answer, Desk, JobFiles, Order, Rejection, Requester};
use gleaner_server::store::Wanted;
use gleaner_server::view::{self, JobListing, Known};
use gleaner_wire::api::{Choice, JobList, JobView, Ordered, Preview, Problem, Role, Submitted, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::limits::{ITEMS_MAX, JOB_BYTES_MAX, JOBS_LISTED_MAX, OWN_INPUTS_MAX};
use gleaner_wire::{BlobHash, JobId, VERSION};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use utoipa::IntoParams;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// What a byte of a job costs on the disk, in the journal, its log and a snapshot.
const JOURNAL_BYTES_PER_BYTE: u64 = 4;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// Only jobs in this state.
    #[param(inline, nullable = false)]
    state: Option<TaskPhase>,
    /// Only this user's jobs. Who sees only their own may name themselves.
    #[param(nullable = false)]
    user: Option<String>,
    /// Only jobs that were handed in before this one: the last of one answer, for those that come next.
    #[param(nullable = false)]
    before: Option<u32>,
    /// How many at most.
    #[serde(default = "jobs_usually")]
    #[param(minimum = 1, maximum = 1_000, default = 100)]
    limit: usize,
}

fn jobs_usually() -> usize {
    100
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OneQuery {
    /// Answer as soon as none of its tasks is open, or after so many seconds.
    #[serde(default)]
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait_s: u64,
}

/// Submits a job. A submission under a key that was used before is that earlier one.
#[utoipa::path(
    post, path = "/api/v1/jobs", tag = "jobs",
    params(("Idempotency-Key" = Option<String>, Header, description = "What the caller calls this submission",
        pattern = "^(\\.+-|\\.*[A-Za-z0-9_@])[A-Za-z0-9._@-]*$", min_length = 1, max_length = 128)),
    request_body = JobSpec,
    responses(
        (status = 201, description = "The job is in the queue, or was submitted under this key before", body = Submitted),
        (status = 409, description = "Another job was submitted under this key", body = Problem),
    )
)]
pub(super) async fn submit(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    headers: HeaderMap,
    JobDocument { spec, turn }: JobDocument,
) -> Result<(StatusCode, Json<Submitted>), Refusal> {
    let key = submission_key(&headers)?;
    let (job, _turn) = admitted(&api, *spec, turn).await?;
    let job = compared(&api, job, (&by.user, key.as_deref())).await?;
    let files = files_of(&api, &by, job.spec()).await?;
    let length = length(&headers).unwrap_or(JOB_BYTES_MAX as u64);
    let home = api.app.home.clone();
    let room = move || home.room().lack(length.saturating_mul(JOURNAL_BYTES_PER_BYTE));
    let lack = blocking("looking for room on the disk", (), room).await?;
    if let Some(lack) = lack.map_err(|error| Refusal::internal(format!("the coordinator's disk: {error}")))? {
        let message =
            format!("{lack} on the coordinator's disk for it; {} and submit it again", lack.remedy());
        return Err(Refusal::disk_full(lack, message));
    }
    let (user, there) = (by.user.clone(), files.there.iter().map(|(hash, _)| *hash).collect::<BTreeSet<_>>());
    let Answer::Submitted { told, keeps_files } = api.order(by, Order::Submit { job, key, files }).await?
    else {
        unreachable!("a submission is answered by its job");
    };
    if keeps_files && !there.is_empty() {
        api.uploads.named(&user, there);
    }
    Ok((StatusCode::CREATED, Json(told)))
}

/// A job may be long, and what it costs to check it is nobody else's time. A long one has its turn for as long as it is checked.
async fn admitted(api: &Api, spec: JobSpec, turn: Option<Turn>) -> Result<(Admitted, Option<Turn>), Refusal> {
    let (checked, turn) = blocking("checking a job", (), move || (Admitted::check(spec), turn)).await?;
    let checked = checked?;
    checked.check_signed_for(&api.app.authority.to_string(), api.app.desk.wall_now())?;
    Ok((checked, turn))
}

/// Likewise, where a job of the same user's under the same key left memory.
async fn compared(
    api: &Api,
    mut job: Admitted,
    (user, key): (&str, Option<&str>),
) -> Result<Admitted, Refusal> {
    let Some(key) = key.map(ToOwned::to_owned) else { return Ok(job) };
    let user = user.to_owned();
    api.read(move |reader| job.compare_with_retired(reader, &user, &key).map(|()| job)).await
}

fn submission_key(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let key = headers.get(IDEMPOTENCY_KEY).map(|key| key.to_str().map(ToOwned::to_owned));
    key.transpose().map_err(|_| Refusal::malformed("the header Idempotency-Key is not plain text"))
}

/// The files it needs, as far as they are here for its user. Those that are stay at least until the job is recorded.
async fn files_of(api: &Api, by: &Requester, spec: &JobSpec) -> Result<JobFiles, Refusal> {
    // Where there are more, the desk refuses the job anyway.
    let needed: BTreeSet<BlobHash> = spec.files().take(ITEMS_MAX + OWN_INPUTS_MAX + 1).copied().collect();
    if needed.is_empty() {
        return Ok(JobFiles::default());
    }
    // What somebody else sent is not here, or a job would be a way to read it: except for whoever reads all.
    let sent = |hash: &BlobHash| by.role.sees_all() || api.uploads.has(&by.user, *hash);
    let (mut needed, others): (Vec<_>, Vec<_>) = needed.into_iter().partition(sent);
    let user = by.user.clone();
    let look = move |desk: &Desk, _| {
        let is_named = |hash: &BlobHash| desk.ledger().is_named_by(&user, hash);
        others.into_iter().partition::<Vec<_>, _>(is_named)
    };
    let (named, missing) = api.look(look).await?;
    needed.extend(named);
    let (blobs, now) = (Arc::clone(&api.app.blobs), api.app.desk.now());
    for hash in &needed {
        api.uploads.renew(&by.user, *hash, now);
    }
    let look = move || {
        let mut files = JobFiles { missing, there: Vec::new() };
        for hash in needed {
            match blobs.renew(hash, now)? {
                Some(bytes) => files.there.push((hash, bytes)),
                None => files.missing.push(hash),
            }
        }
        Ok(files)
    };
    let turn = looking::turn(&api.reads, "files").await?;
    blocking("looking for files", turn, look).await?
}

/// What was asked for with a job, if it is the caller's, in the turn in which that was read. The files that it reads stay for a while: it is
/// about to come back, and until that is recorded nothing in memory names them.
async fn described(
    api: &Api,
    by: &Requester,
    id: JobId,
) -> Result<(Arc<JobSpec>, OwnedSemaphorePermit), Refusal> {
    let by = by.clone();
    let look = move |known: Known<'_>, _| Ok(Arc::clone(&own_job(&known, &by, id)?.spec));
    let (spec, turn) = api.look_back_as(false, look).await?;
    let turn = api.turn_of_reads(turn).await?;
    let (blobs, now) = (Arc::clone(&api.app.blobs), api.app.desk.now());
    let renew = move || {
        spec.files().try_for_each(|hash| blobs.renew(*hash, now).map(drop))?;
        Ok((spec, turn))
    };
    blocking("looking for files", (), renew).await?
}

/// Where the tasks of a job would go if it were submitted now, with the files that it needs.
#[utoipa::path(
    post, path = "/api/v1/jobs/preview", tag = "jobs", request_body = JobSpec,
    responses((status = 200, description = "Where they would go", body = Preview),
        (status = 403, description = "Above a quota, as its submission would be", body = Problem),
        (status = 409, description = "The grid cannot take it as things stand", body = Problem))
)]
pub(super) async fn preview(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    JobDocument { spec, turn }: JobDocument,
) -> Result<Json<Preview>, Refusal> {
    let (job, of_large) = admitted(&api, *spec, turn).await?;
    let turn = (looking::turn(&api.studies, "previews").await?, of_large);
    // The copy costs O(machines + tasks); what is done with it costs the desk nothing.
    let (requester, spec) = (by.clone(), Arc::clone(job.spec()));
    let look = move |desk: &Desk, now| {
        desk.check_room(&requester, &spec)?;
        Ok::<_, Rejection>((desk.ledger().clone(), (now, desk.quiet_until())))
    };
    let (ledger, at) = api.look(look).await??;
    let preview = move || view::preview(ledger, at, &by.user, job.spec());
    Ok(Json(blocking("a preview", turn, preview).await??))
}

/// The newest jobs: the caller's, or for an administrator all.
#[utoipa::path(
    get, path = "/api/v1/jobs", tag = "jobs", params(ListQuery),
    responses((status = 200, description = "Newest first", body = JobList),
        (status = 404, description = "There is no such user", body = Problem))
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<JobList>, Refusal> {
    let limit = within("limit", query.limit, &(1..=JOBS_LISTED_MAX as usize))?;
    let sees_all = by.role.sees_all();
    if !sees_all && query.user.as_ref().is_some_and(|user| *user != by.user) {
        return Err(Refusal::forbidden("others' jobs are for administrators and readers to see"));
    }
    let user = query.user.or((!sees_all).then_some(by.user));
    let wanted = Wanted { user, state: query.state, before: query.before.map(JobId), limit };
    let begin = move |desk: &Desk, now| {
        wanted.user.as_ref().map_or(Ok(()), |user| desk.expect_user(user))?;
        Ok::<_, Rejection>(JobListing::begin(desk, now, wanted))
    };
    let mut jobs = api.look_long(begin).await??;
    let jobs = api.read(move |reader| jobs.read(reader).map(|()| jobs)).await?;
    api.look_long(move |desk, now| jobs.end(desk, now)).await.map(Json)
}

/// A job, now or when it is over.
#[utoipa::path(
    get, path = "/api/v1/jobs/{job}", tag = "jobs",
    params(("job" = u32, Path, description = "Its number"), OneQuery),
    responses((status = 200, description = "The job", body = JobView))
)]
pub(super) async fn one(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Query(query): Query<OneQuery>,
) -> Result<Json<JobView>, Refusal> {
    waiting::job(&api, by, JobId(job), patience(query.wait_s)?).await.map(Json)
}

/// Stops tasks of a job for good.
#[utoipa::path(
    post, path = "/api/v1/jobs/{job}/cancel", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")), request_body = Choice,
    responses((status = 200, description = "To how many tasks it applied", body = Ordered))
)]
pub(super) async fn cancel(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Document(choice): Document<Choice>,
) -> Result<Json<Ordered>, Refusal> {
    ordered_of_open(&api, by, (JobId(job), choice), Order::Cancel).await
}

/// Lets tasks of a job wait until they are released.
#[utoipa::path(
    post, path = "/api/v1/jobs/{job}/hold", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")), request_body = Choice,
    responses((status = 200, description = "To how many tasks it applied", body = Ordered))
)]
pub(super) async fn hold(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Document(choice): Document<Choice>,
) -> Result<Json<Ordered>, Refusal> {
    ordered_of_open(&api, by, (JobId(job), choice), Order::Hold).await
}

/// Lets held tasks of a job go on.
#[utoipa::path(
    post, path = "/api/v1/jobs/{job}/release", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")), request_body = Choice,
    responses((status = 200, description = "To how many tasks it applied", body = Ordered))
)]
pub(super) async fn release(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Document(choice): Document<Choice>,
) -> Result<Json<Ordered>, Refusal> {
    ordered_of_open(&api, by, (JobId(job), choice), Order::Release).await
}

/// Lets ended tasks of a job run again.
#[utoipa::path(
    post, path = "/api/v1/jobs/{job}/rerun", tag = "jobs",
    params(("job" = u32, Path, description = "Its number")), request_body = Choice,
    responses((status = 200, description = "To how many tasks it applied", body = Ordered))
)]
pub(super) async fn rerun(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(job): Path<u32>,
    Document(choice): Document<Choice>,
) -> Result<Json<Ordered>, Refusal> {
    // Who may only read is refused, and has nothing kept.
    if by.role == Role::Reader {
        return ordered(&api, by, Order::Rerun(JobId(job), choice, None)).await;
    }
    // Also where who asks goes away meanwhile.
    let done = tokio::spawn(async move {
        let (spec, turn) = described(&api, &by, JobId(job)).await?;
        let done = ordered(&api, by, Order::Rerun(JobId(job), choice, Some(Arc::clone(&spec)))).await;
        // A long one is not freed on the desk's thread.
        blocking("running a job again", (), move || drop((spec, turn))).await?;
        done
    });
    done.await.map_err(|panic| Refusal::internal(format!("running a job again: {panic}")))?
}

/// What is ordered about tasks that are not over applies to none of a job that left memory: the desk does not read it for that.
async fn ordered_of_open(
    api: &Api,
    by: Requester,
    (id, choice): (JobId, Choice),
    order: fn(JobId, Choice) -> Order,
) -> Result<Json<Ordered>, Refusal> {
    let (who, numbers) = (by.clone(), choice.tasks.clone());
    let look = move |known: Known<'_>, _| {
        if who.role == Role::Reader {
            return Ok(false);
        }
        // By which numbers its tasks are called may be long.
        let job = if numbers.is_empty() { own_listed(&known, &who, id)? } else { own_job(&known, &who, id)? };
        let is_retired = known.ledger().find_job(id).is_none();
        match numbers.iter().find(|number| is_retired && job.task(**number).is_none()) {
            Some(number) => Err(Refusal::not_found(job.has_no_task(id, *number)).into()),
            None => Ok(is_retired),
        }
    };
    if api.look_back(look).await? {
        return Ok(Json(Ordered { version: VERSION, tasks: 0 }));
    }
    ordered(api, by, order(id, choice)).await
}

async fn ordered(api: &Api, by: Requester, order: Order) -> Result<Json<Ordered>, Refusal> {
    let Answer::Ordered(ordered) = api.order(by, order).await? else {
        unreachable!("an order about tasks is answered by how many it applied to");
    };
    Ok(Json(ordered))
}
