//! Machines, and what administrators want of them.

use super::api::Api;
use super::body::Document;
use super::caller::Caller;
use super::extract::{Path, Query};
use super::looking::blocking;
use super::refusal::Refusal;
use crate::sessions::full;
use axum::Json;
use axum::extract::State;
use gleaner_server::desk::{Administration, Order, Requester};
use gleaner_server::view;
use gleaner_wire::api::{MachineList, MachineState, MachineView, OwnerSpec, PriceSpec, Problem, Role};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::IntoParams;

/// All machines. Whom a machine takes by its owner's rules is shown to administrators, and to others that there are such rules.
#[utoipa::path(
    get, path = "/api/v1/machines", tag = "machines",
    responses((status = 200, description = "In order of joining", body = MachineList))
)]
pub(super) async fn list(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
) -> Result<Json<MachineList>, Refusal> {
    let mut list = all(&api).await?;
    if by.role != Role::Admin {
        view::hide_names(&mut list);
    }
    Ok(Json(list))
}

/// Lets what runs on a machine stand still until `unpause` or `resume`, whoever is started again meanwhile. An agent that is away hears of it when it is back.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/pause", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "It was revoked", body = Problem))
)]
pub(super) async fn pause(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, |machine| Administration::SetPaused { machine, paused: true }).await
}

/// Lets what stands still on a machine go on.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/unpause", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "It was revoked", body = Problem))
)]
pub(super) async fn unpause(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, |machine| Administration::SetPaused { machine, paused: false }).await
}

/// Lets what stands still on a machine go on, and new tasks start there.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/resume", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "It was revoked", body = Problem))
)]
pub(super) async fn resume(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineView>, Refusal> {
    api.order(
        by.clone(),
        Order::Administer(Administration::SetPaused { machine: machine.clone(), paused: false }),
    )
    .await?;
    ordered(&api, by, machine, |machine| Administration::SetOpen { machine, open: true, why: None }).await
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct DrainQuery {
    /// What for, for people: 500 bytes of it are kept.
    why: Option<String>,
}

/// Lets no new tasks start on a machine.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/drain", tag = "machines",
    params(("name" = String, Path, description = "Its name"), DrainQuery),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "It was revoked", body = Problem))
)]
pub(super) async fn drain(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
    Query(DrainQuery { why }): Query<DrainQuery>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, |machine| Administration::SetOpen { machine, open: false, why }).await
}

/// Measures a machine again.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/measure", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "It was told", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "It is not connected, or was revoked", body = Problem))
)]
pub(super) async fn measure(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, Administration::Measure).await
}

/// Sets what running on a machine costs; what runs there was paid for already.
#[utoipa::path(
    put, path = "/api/v1/machines/{name}/price", tag = "machines", request_body = PriceSpec,
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn set_price(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
    Document(PriceSpec { price }): Document<PriceSpec>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, |machine| Administration::SetPrice { machine, price }).await
}

/// Says whose a machine is; answers that were given before count as they did.
#[utoipa::path(
    put, path = "/api/v1/machines/{name}/owner", tag = "machines", request_body = OwnerSpec,
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn set_owner(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
    Document(OwnerSpec { owner }): Document<OwnerSpec>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, |machine| Administration::SetOwner { machine, owner }).await
}

/// Never lets a machine's agent back in.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/revoke", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machine", body = MachineView),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn revoke(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineView>, Refusal> {
    ordered(&api, by, machine, Administration::Revoke).await
}

/// Never lets a machine's agent back in, lists it no more, and lets another bear its name.
#[utoipa::path(
    post, path = "/api/v1/machines/{name}/forget", tag = "machines",
    params(("name" = String, Path, description = "Its name")),
    responses((status = 200, description = "The machines that are left", body = MachineList),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn forget(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(machine): Path<String>,
) -> Result<Json<MachineList>, Refusal> {
    api.order(by, Order::Administer(Administration::Forget(machine))).await?;
    all(&api).await.map(Json)
}

/// As the desk knows them, and of those that are away why the coordinator lets none in, if it does not.
async fn all(api: &Api) -> Result<MachineList, Refusal> {
    let mut list = api.look_long(|desk, _| view::machines(desk)).await?;
    let is_gone = |machine: &MachineView| {
        machine.why.is_none() && matches!(machine.state, MachineState::Away | MachineState::Lost)
    };
    if !list.machines.iter().any(is_gone) {
        return Ok(list);
    }
    let home = api.app.home.clone();
    if let Some(lack) = blocking("looking for room on the disk", (), move || home.lack()).await? {
        let gone = list.machines.iter_mut().filter(|machine| is_gone(machine));
        gone.for_each(|machine| machine.why = Some(full(lack)));
    }
    Ok(list)
}

/// Has it done, and answers with the machine as it is then.
async fn ordered(
    api: &Api,
    by: Requester,
    machine: String,
    order: impl FnOnce(String) -> Administration,
) -> Result<Json<MachineView>, Refusal> {
    api.order(by, Order::Administer(order(machine.clone()))).await?;
    let machines = all(api).await?.machines;
    let found = machines.into_iter().find(|view| view.machine == machine);
    // Somebody else may have had it forgotten since.
    found.map(Json).ok_or_else(|| Refusal::not_found(format!("no machine is called \"{machine}\" any more")))
}
