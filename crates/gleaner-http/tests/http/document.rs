//! The document and the routes are the same.

use crate::world::{World, request};
use axum::body::Body;
use gleaner_wire::limits::QUOTA_BYTES;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use tower::ServiceExt as _;

const METHODS: [&str; 4] = ["get", "put", "post", "head"];

async fn document(world: &World) -> Value {
    world.get("/api/v1/openapi.json", &world.alice).await.json()
}

/// Method, path and what is said of it.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    let of_paths = paths.flat_map(|(path, item)| {
        let operations = item.as_object().unwrap().iter();
        operations.map(move |(method, operation)| (method.as_str(), path.as_str(), operation))
    });
    of_paths.collect()
}

/// With values for its parameters that lead nowhere.
fn filled(path: &str) -> String {
    path.replace("{hash}", &"0".repeat(64))
        .replace("{name}", "m1")
        .replace("{job}", "1")
        .replace("{task}", "1")
}

/// The names under which the types of a folder stand in the document.
fn schemas_below(folder: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            schemas_below(&path, names);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().map(str::trim);
        while lines.by_ref().any(|line| line.starts_with("#[") && line.contains("ToSchema")) {
            let said = lines.by_ref().find_map(|line| {
                let own = line.split_once("schema(as = ").map(|(_, rest)| rest);
                let plain = || line.split_once("struct ").or_else(|| line.split_once("enum "));
                own.or_else(|| Some(plain().filter(|_| line.starts_with("pub"))?.1))
            });
            let name = said.unwrap().split(|c: char| !c.is_alphanumeric()).next().unwrap();
            names.push(name.to_owned());
        }
    }
}

/// Of two types of one name the document would have the last.
#[test]
fn no_two_types_have_one_name_in_the_document() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for folder in ["src", "../gleaner-wire/src"] {
        schemas_below(&root.join(folder), &mut names);
    }
    assert!(names.len() > 80 && names.iter().any(|name| name == "JobTasks"), "{names:?}");
    names.sort_unstable();
    let twice: Vec<&String> = names.windows(2).filter(|two| two[0] == two[1]).map(|two| &two[0]).collect();
    assert_eq!(twice, Vec::<&String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_is_a_route_and_no_other_method_is() {
    let world = World::new().await;
    let document = document(&world).await;
    let operations = operations(&document);
    assert_eq!(operations.len(), 58);
    let documented: BTreeSet<(&str, &str)> =
        operations.iter().map(|&(method, path, _)| (method, path)).collect();
    for path in document["paths"].as_object().unwrap().keys() {
        for method in METHODS {
            let request = request(&method.to_uppercase(), &filled(path), &world.root, Body::empty());
            // The head is enough, and all there is of a stream of events.
            let status = world.router.clone().oneshot(request).await.unwrap().status();
            // A GET answers HEAD too, as HTTP has it.
            let answers = documented.contains(&(method, path.as_str()))
                || (method == "head" && documented.contains(&("get", path.as_str())));
            assert_eq!(status != 405, answers, "{method} {path}: {status}");
        }
    }
}

/// Programs that make clients of the document need that.
#[tokio::test(flavor = "multi_thread")]
async fn each_operation_has_a_name_of_its_own() {
    let world = World::new().await;
    let document = document(&world).await;
    let operations = operations(&document);
    let names: BTreeSet<&str> =
        operations.iter().filter_map(|(_, _, operation)| operation["operationId"].as_str()).collect();
    assert_eq!(names.len(), operations.len(), "{names:?}");
    for name in ["get_jobs", "get_jobs_job_tasks_task", "post_what_if", "get_openapi_json", "get_healthz"] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_names_nobody_is_documented_and_when_to_try_again() {
    let world = World::new().await;
    let document = document(&world).await;
    for (method, path, query, body) in [
        ("get", "/api/v1/jobs", "?user=nobody", ""),
        ("put", "/api/v1/quotas", "", r#"{"user": "nobody", "quota": null}"#),
        ("get", "/api/v1/events", "?job=999", ""),
    ] {
        let address = format!("{path}{query}");
        let reply = world.call(&method.to_uppercase(), &address, &world.root, Body::from(body)).await;
        assert_eq!(reply.status, 404, "{address}: {reply}");
        let responses = &document["paths"][path][method]["responses"];
        assert!(responses["404"].is_object(), "{address}");
        for status in ["429", "503"] {
            assert!(responses[status]["headers"]["Retry-After"].is_object(), "{address}: {status}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_of_the_tour_is_documented() {
    let world = World::new().await;
    let document = document(&world).await;
    for (method, path, operation) in operations(&document) {
        // It does not end.
        if path == "/api/v1/events" {
            continue;
        }
        for (token, body) in
            [(&world.root, ""), (&world.root, "{}"), (&world.alice, "{}"), (&String::new(), "")]
        {
            let method = method.to_uppercase();
            let reply = world.call(&method, &filled(path), token, Body::from(body)).await;
            let documented = &operation["responses"][reply.status.to_string()];
            assert!(documented.is_object(), "{method} {path} answers {reply}");
            let kind = reply.header("content-type").split(';').next().unwrap_or_default();
            let is_told = documented["content"].get(kind).is_some() || method == "HEAD";
            assert!(is_told, "{method} {path} answers {kind}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_says_whom_it_answers_and_what_it_is_for() {
    let world = World::new().await;
    let document = document(&world).await;
    let schemes = document["components"]["securitySchemes"].as_object().unwrap();
    assert_eq!(schemes.keys().collect::<Vec<_>>(), ["agent", "join", "user"]);
    assert_eq!(document["security"], serde_json::json!([{"user": []}]));
    let open: Vec<&str> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation["security"] == serde_json::json!([{}]))
        .map(|(_, path, _)| path)
        .collect();
    assert_eq!(open, ["/", "/healthz"]);
    for (method, path, operation) in operations(&document) {
        assert!(operation["summary"].is_string(), "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_is_made_of_is_no_page_of_tasks() {
    let world = World::new().await;
    let document = document(&world).await;
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["JobSpec"]["properties"]["tasks"]["$ref"], "#/components/schemas/JobTasks");
    assert!(schemas["JobTasks"]["oneOf"].to_string().contains("array"), "{}", schemas["JobTasks"]);
    assert!(schemas["TaskList"]["properties"]["next"].is_object(), "{}", schemas["TaskList"]);
}

/// Who changes one quantity of a quota has to know what becomes of the others.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_out_of_a_quota_has_a_default_that_is_told() {
    let world = World::new().await;
    let document = document(&world).await;
    let schema = &document["components"]["schemas"]["Quota"];
    let fields = schema["properties"].as_object().unwrap();
    let is_needed = |name: &str| schema["required"].as_array().unwrap().iter().any(|needed| needed == name);
    // What may be null is so where it is left out.
    let may_be_null =
        |field: &Value| field["type"].as_array().is_some_and(|all| all.iter().any(|kind| kind == "null"));
    for (name, field) in fields {
        let is_told = field["default"].is_u64() || may_be_null(field);
        assert_eq!(is_told, !is_needed(name), "{name}: {field}");
    }
    assert_eq!(fields["bytes"]["default"], QUOTA_BYTES);
}

/// The page's types are generated from the file: `GLEANER_WRITE=1` writes it anew.
#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_made_for_this_document() {
    let world = World::new().await;
    let mut written = serde_json::to_string_pretty(&document(&world).await).unwrap();
    written.push('\n');
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/openapi.json");
    if std::env::var_os("GLEANER_WRITE").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == written,
        "web/openapi.json is another: GLEANER_WRITE=1 cargo test -p gleaner-http, then web/build"
    );
}
