//! Who may sign in: seen and removed by administrators. Nothing here shows a token.

use super::api::Api;
use super::caller::Caller;
use super::extract::Path;
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use gleaner_server::desk::{Administration, Order};
use gleaner_server::ledger::{JoinPermit, User};
use gleaner_units::Time;
use gleaner_wire::VERSION;
use gleaner_wire::api::{JoinTokenView, Problem, Role, UserList, UserView};
use std::sync::Arc;

/// So much of a join token's hash tells it from the others.
const ID_DIGITS: usize = 8;

/// All users, and the join tokens that are still good.
#[utoipa::path(
    get, path = "/api/v1/users", tag = "tokens",
    responses((status = 200, description = "By name", body = UserList),
        (status = 403, description = "Not an administrator", body = Problem))
)]
pub(super) async fn list(State(api): State<Arc<Api>>, Caller(by): Caller) -> Result<Json<UserList>, Refusal> {
    if by.role != Role::Admin {
        return Err(Refusal::forbidden("only an administrator of this grid may see who else may sign in"));
    }
    Ok(Json(users(&api)))
}

/// Lets a user sign in no more. Their jobs go on.
#[utoipa::path(
    post, path = "/api/v1/users/{name}/remove", tag = "tokens",
    params(("name" = String, Path, description = "Their name")),
    responses((status = 200, description = "Who is left", body = UserList),
        (status = 403, description = "Not an administrator", body = Problem),
        (status = 409, description = "No administrator would be left", body = Problem))
)]
pub(super) async fn remove(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Path(name): Path<String>,
) -> Result<Json<UserList>, Refusal> {
    api.order(by, Order::Administer(Administration::RemoveUser(name.clone()))).await?;
    api.uploads.forget(&name);
    Ok(Json(users(&api)))
}

pub(super) fn users(api: &Api) -> UserList {
    let people = api.app.desk.people();
    let view = |user: &User| UserView {
        name: user.name.clone(),
        role: user.role,
        expires_s: user.expires.map(Time::seconds),
    };
    let mut users: Vec<UserView> = people.users().map(view).collect();
    users.sort_by(|one, other| one.name.cmp(&other.name));
    let token = |(hash, permit): (&String, &JoinPermit)| JoinTokenView {
        id: hash[..ID_DIGITS].to_owned(),
        uses: permit.uses,
        expires_s: permit.expires.seconds(),
        owner: permit.owner.clone(),
    };
    let join_tokens = people.join_tokens(api.app.desk.now()).map(token).collect();
    UserList { version: VERSION, users, join_tokens }
}
