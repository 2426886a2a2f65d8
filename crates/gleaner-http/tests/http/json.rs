//! What is said of a body that has no meaning.

use crate::world::World;
use axum::body::Body;

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_there_twice_is_refused_wherever_it_is() {
    let world = World::new().await;
    for (method, path, body, says) in [
        ("PUT", "policy", r#"{"preset": "bertasi/greedy", "preset": "bertasi/social"}"#, "`preset`"),
        (
            "PUT",
            "policy",
            r#"{"preset": "bertasi/greedy", "relocate": {"score": "a", "score": "b"}}"#,
            "relocate",
        ),
        ("POST", "what-if", r#"{"preset": "bertasi/greedy", "preset": "bertasi/social"}"#, "`preset`"),
        ("POST", "jobs", r#"{"command": ["a"], "env": {"A": "x", "A": "y"}}"#, "env: duplicate field `A`"),
        ("POST", "jobs", r#"{"command": ["a"], "command": ["b"]}"#, "duplicate field `command`"),
    ] {
        let reply = world.call(method, &format!("/api/v1/{path}"), &world.root, Body::from(body)).await;
        let told = reply.to_string();
        assert!(
            reply.status == 422 && told.contains("duplicate field") && told.contains(says),
            "{body}: {told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_told_with_its_field_and_in_words_of_json() {
    let world = World::new().await;
    let deep = format!(r#"{{"preset": {}1{}}}"#, "[".repeat(130), "]".repeat(130));
    for (path, body, says) in [
        (
            "jobs",
            r#"{"command": ["a"], "length": "5"}"#,
            r#"length: invalid type: string \"5\", expected a number"#,
        ),
        ("jobs", r#"{"command": null}"#, "command: invalid type: null, expected a list"),
        ("jobs", r#"{"command": ["a"], "needs": {"cores": -1}}"#, "needs.cores: "),
        ("jobs", r#"{"command": ["a"], "priority": 1.0}"#, "expected a whole number"),
        ("jobs", r#"{"command": ["a"], "tasks": null}"#, "tasks: it has none of the forms"),
        (
            "jobs",
            r#"{"command": ["a"], "tasks": {"array": {"first": 0, "last": 1, "step": 1, "x": 1}}}"#,
            "unknown field `x`",
        ),
        ("jobs", "null", "the request's body: invalid type: null, expected an object"),
        ("what-if", "null", "the request's body: invalid type: null, expected an object"),
        ("what-if", &deep, "it is nested too deep"),
    ] {
        let reply =
            world.call("POST", &format!("/api/v1/{path}"), &world.root, Body::from(body.to_owned())).await;
        let told = reply.to_string();
        assert!(reply.status == 422 && told.contains(says), "{body}: {told}");
        assert!(!told.contains("column"), "{body}: {told}");
    }
    let unfinished = world.call("POST", "/api/v1/jobs", &world.root, Body::from("{\n  \"command\"")).await;
    assert!(unfinished.status == 400 && unfinished.to_string().contains("line 2"), "{unfinished}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_number_in_an_address_is_told_so() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    for path in ["1/tasks/1/output?offset=-1", "1/tasks/x", "last", "?limit="] {
        let path = if path.starts_with('?') {
            format!("/api/v1/jobs{path}")
        } else {
            format!("/api/v1/jobs/{path}")
        };
        let reply = world.get(&path, &world.alice).await;
        let told = reply.to_string();
        assert!(reply.status == 400 && told.contains("expected a whole number"), "{path}: {told}");
        assert!(!told.contains("u32") && !told.contains("digit"), "{path}: {told}");
    }
}
