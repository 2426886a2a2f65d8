//! The OpenAPI document. What each route answers stands beside its handler; what follows from the shape of a route is
//! added here, by rules, so that it cannot be forgotten.

use super::api::Api;
use super::caller::Caller;
use super::extract::API;
use axum::extract::State;
use axum::http::Method;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use gleaner_wire::api::{LiveEvent, Problem};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::{Operation, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Ref, RefOr, ResponseBuilder};
use utoipa::{Modify, OpenApi};

const JSON: &str = "application/json";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Gleaner",
        description = "The coordinator of a grid: jobs, tasks, machines, files and what happens to them. \
                       Times are seconds since 1970. A refusal of a request is a `Problem`; that of a method that a path does not have is a 405 \
                       with the header `Allow`. What is no HTTP request, or has headers that are too \
                       long, is answered with a status alone, or its connection is closed.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(Problem, LiveEvent)),
    modifiers(&Tokens),
    security(("user" = []))
)]
struct Begun;

struct Tokens;

impl Modify for Tokens {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, what) in [
            ("user", "A user's token, glu_…"),
            ("agent", "A connected agent's token, gls_…"),
            ("join", "A join token, glj_…, which lets one machine join"),
        ] {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(what)).build();
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

/// The document before the routes.
pub(super) fn begun() -> utoipa::openapi::OpenApi {
    Begun::openapi()
}

/// The document with the routes, as it is sent.
pub(super) fn finished(mut document: utoipa::openapi::OpenApi) -> String {
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            operation.operation_id = Some(operation_id(method, path));
            add_refusals(path, operation);
        }
    }
    let mut written = serde_json::to_value(document).expect("the document is plain data");
    bound_integers(&mut written);
    written.to_string()
}

/// The routes that take a query, by method and path.
pub(super) fn queried(document: &utoipa::openapi::OpenApi) -> HashSet<(Method, String)> {
    let mut all = HashSet::new();
    for (path, PathItem { get, put, post, .. }) in &document.paths.paths {
        let operations = [(Method::GET, get), (Method::PUT, put), (Method::POST, post)];
        for (method, operation) in operations {
            if operation.as_ref().is_some_and(|operation| has(operation, &ParameterIn::Query)) {
                all.insert((method, path.clone()));
            }
        }
    }
    all
}

/// Integers of the wire that cannot be negative go further than the signed ones by which the schemas are told.
fn bound_integers(value: &mut Value) {
    match value {
        Value::Object(schema)
            if schema.get("type") == Some(&"integer".into()) && schema.contains_key("minimum") =>
        {
            let most = match schema.get("format").and_then(Value::as_str) {
                Some("int32") => u64::from(u32::MAX),
                Some("int64") => u64::MAX,
                _ => return,
            };
            schema.remove("format");
            schema.entry("maximum").or_insert_with(|| most.into());
        }
        Value::Object(fields) => fields.values_mut().for_each(bound_integers),
        Value::Array(items) => items.iter_mut().for_each(bound_integers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn operations(path: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let PathItem { get, put, post, head, .. } = path;
    let all = [("get", get), ("put", put), ("post", post), ("head", head)];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Programs that make clients name functions so, and want each name once: `get_jobs_job_tasks`.
fn operation_id(method: &str, path: &str) -> String {
    let path = path.strip_prefix(API).map_or(path, |path| path.trim_start_matches("v1/"));
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(method.to_owned(), |id, word| format!("{id}_{word}"))
}

fn has(operation: &Operation, place: &ParameterIn) -> bool {
    let mut all = operation.parameters.iter().flatten();
    all.any(|parameter| matches!(parameter, RefOr::T(it) if it.parameter_in == *place))
}

fn add_refusals(route: &str, operation: &mut Operation) {
    let is_open =
        operation.security.as_deref().is_some_and(|all| all.contains(&SecurityRequirement::default()));
    let (path, query) = (has(operation, &ParameterIn::Path), has(operation, &ParameterIn::Query));
    let body = operation.request_body.as_ref();
    let document = body.is_some_and(|body| matches!(body, RefOr::T(body) if body.content.contains_key(JSON)));
    let rules = [
        (true, "403", "Who asks may not, or a page of another site asks"),
        (true, "421", "The coordinator does not go by the name that it is asked under"),
        (true, "431", "Its address and headers are too long"),
        (true, "500", "A defect, or damage to the coordinator's folder"),
        (true, "503", "The coordinator has stopped, or too much goes on; try again"),
        (!is_open, "401", "Nobody has this token, or none was given"),
        (!is_open, "429", "Who asks has made more requests in a second than their quota"),
        (route.starts_with(API), "400", "It cannot be read, or has a query where none is taken"),
        (path, "404", "It does not exist, or not for who asks"),
        (query || document, "422", "It has no meaning, or is more than is taken"),
        (document, "408", "The rest of it did not come"),
        (document, "413", "It is too large"),
        (document, "415", "It is not JSON, or is packed"),
    ];
    for (applies, status, what) in rules {
        if applies {
            let mut refusal = ResponseBuilder::new().description(what).content(JSON, problem());
            if matches!(status, "429" | "503") {
                refusal = refusal.header("Retry-After", retry_after());
            }
            let refusal = RefOr::from(refusal.build());
            operation.responses.responses.entry(status.to_owned()).or_insert(refusal);
        }
    }
}

fn retry_after() -> Header {
    let seconds = ObjectBuilder::new().schema_type(Type::Integer);
    HeaderBuilder::new()
        .schema(Some(seconds))
        .description(Some("After how many seconds to try again"))
        .build()
}

fn problem() -> utoipa::openapi::Content {
    ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build()
}

/// This document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "operation",
    responses((status = 200, description = "In the OpenAPI 3.1 format", content_type = "application/json",
        body = Object))
)]
pub(super) async fn openapi(State(api): State<Arc<Api>>, _: Caller) -> Response {
    ([(CONTENT_TYPE, JSON)], api.document.clone()).into_response()
}
