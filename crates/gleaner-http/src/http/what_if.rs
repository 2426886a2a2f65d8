//! What the last day would have been under another policy.

use super::api::Api;
use super::body::Document;
use super::caller::Caller;
use super::looking::{blocking, turn};
use super::refusal::Refusal;
use axum::Json;
use axum::extract::State;
use gleaner_policy::Preset;
use gleaner_server::policy;
use gleaner_server::study::StudyError;
use gleaner_units::{Span, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{PolicyKeys, Problem};
use gleaner_wire::day::{PresetList, PresetView, WhatIfView};
use serde_json::json;
use std::sync::Arc;

const DAY: Span = Span::from_nanos(24 * 3_600_000_000_000);

/// Policies that this grid could go by, each by its name alone.
#[utoipa::path(
    get, path = "/api/v1/policy/presets", tag = "grid",
    responses((status = 200, description = "By name", body = PresetList))
)]
pub(super) async fn presets(State(api): State<Arc<Api>>, _: Caller) -> Result<Json<PresetList>, Refusal> {
    let in_force = api.look(|desk, _| desk.ledger().policy().clone()).await?;
    let can_be_set = |preset: &Preset| {
        let mut keys = PolicyKeys::default();
        keys.0.insert("preset".to_owned(), json!(preset.name));
        policy::asked(keys, &in_force).is_ok()
    };
    let presets = Preset::all().into_iter().filter(can_be_set);
    let presets = presets.map(|Preset { name, summary, .. }| PresetView { name, summary });
    Ok(Json(PresetList { version: VERSION, presets: presets.collect() }))
}

/// The last day again under another policy, in the simulator. For those who see everybody's jobs.
#[utoipa::path(
    post, path = "/api/v1/what-if", tag = "grid", request_body = PolicyKeys,
    responses((status = 200, description = "What was, and what would have been", body = WhatIfView),
        (status = 403, description = "Not an administrator or a reader", body = Problem),
        (status = 404, description = "This coordinator has no simulator", body = Problem),
        (status = 409, description = "No task that came in the last day has run to its end", body = Problem))
)]
pub(super) async fn what_if(
    State(api): State<Arc<Api>>,
    Caller(by): Caller,
    Document(keys): Document<PolicyKeys>,
) -> Result<Json<WhatIfView>, Refusal> {
    if !by.role.sees_all() {
        return Err(Refusal::forbidden(
            "only who sees everybody's jobs may ask what would have become of them",
        ));
    }
    let study = api.app.study.ok_or_else(|| Refusal::not_found("this coordinator has no simulator"))?;
    let in_force = api.look(|desk, _| desk.ledger().policy().clone()).await?;
    let asked = policy::asked(keys, &in_force).map_err(|error| Refusal::invalid(error.to_string()))?;
    let turn = turn(&api.studies, "other looks into the past").await?;
    let (app, now) = (Arc::clone(&api.app), api.app.desk.now());
    let since = Time::from_nanos(now.nanos().saturating_sub(DAY.nanos()));
    let look = move || {
        let mut found = Err(StudyError::Nothing);
        app.readers.read(|reader| {
            found = study(reader, since, &asked);
            Ok(())
        })?;
        Ok::<_, Refusal>(found)
    };
    match blocking("looking at the past", turn, look).await?? {
        Ok(view) => Ok(Json(view)),
        Err(error @ (StudyError::Nothing | StudyError::NothingSince { .. })) => {
            Err(Refusal::conflict(error.to_string()))
        }
        Err(StudyError::Journal(why)) => Err(Refusal::internal(why)),
    }
}
