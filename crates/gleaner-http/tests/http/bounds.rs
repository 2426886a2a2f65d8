//! What is more than anyone may ask for.

use crate::agent::Agent;
use crate::limits::documented;
use crate::world::{World, request};
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue};
use gleaner_wire::api::{JobList, Ordered};
use gleaner_wire::limits::{BODY_BYTES_MAX, JOB_BYTES_MAX, NAME_BYTES_MAX};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn numbers_in_queries_have_bounds() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    for (path, status) in [
        ("/api/v1/jobs?limit=0", 422),
        ("/api/v1/jobs?limit=1001", 422),
        ("/api/v1/jobs?limit=-1", 400),
        ("/api/v1/jobs?limit=", 400),
        ("/api/v1/jobs?limit=1&limit=2", 400),
        ("/api/v1/jobs?state=lost", 400),
        ("/api/v1/jobs?unknown=1", 400),
        ("/api/v1/jobs/1?wait_s=61", 422),
        ("/api/v1/jobs/one", 400),
        ("/api/v1/jobs/4294967296", 400),
        ("/api/v1/jobs/0", 404),
        ("/api/v1/jobs/1/tasks?limit=10001", 422),
        ("/api/v1/jobs/1/tasks/1/explain?at_s=NaN", 422),
        ("/api/v1/jobs/1/tasks/1/explain?at_s=1e300", 422),
        ("/api/v1/jobs/1/tasks/1/explain?at_s=1e10", 422),
        ("/api/v1/jobs/1/tasks/1/output?stream=stdin", 400),
        ("/api/v1/jobs/1/tasks/1/output?offset=67108864", 200),
        ("/api/v1/jobs/1/tasks/1/output?offset=67108865", 422),
        ("/api/v1/jobs/1/tasks/1/output?run=0", 422),
        ("/api/v1/jobs/1/tasks/1/output?run=1", 404),
        ("/api/v1/jobs/1/tasks/1/output?wait_s=61", 422),
        ("/api/v1/nothing", 404),
        ("/api/v1/jobs/1/", 404),
    ] {
        let reply = world.get(path, &world.alice).await;
        assert_eq!(reply.status, status, "{path}: {reply}");
    }
}

/// Whoever writes one there means something by it, that would not be done.
#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_refused_where_none_is_taken() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    for (method, path, status) in [
        ("POST", format!("/api/v1/jobs/{job}/cancel?tasks=1"), 400),
        ("POST", format!("/api/v1/jobs/{job}/hold?"), 200),
        ("GET", format!("/api/v1/jobs/{job}/tasks/1/history?limit=10"), 400),
        ("GET", format!("/api/v1/jobs/{job}/tasks?limit=1"), 200),
        ("GET", "/?from=a-bookmark".to_owned(), 200),
    ] {
        let body = if method == "POST" { "{}" } else { "" };
        let reply = world.call(method, &path, &world.alice, Body::from(body)).await;
        assert_eq!(reply.status, status, "{method} {path}: {reply}");
    }
    let reply = world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await;
    assert_eq!(reply.json::<Value>()["tasks"]["cancelled"], 0);
}

/// As much as a limit says is taken; one more is refused, and the refusal names the limit.
#[tokio::test(flavor = "multi_thread")]
async fn each_limit_of_a_query_is_kept_and_named() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    // It is over, and nobody waits for its end.
    let over = world.submit(&world.alice, 1).await;
    world.post(&format!("/api/v1/jobs/{over}/cancel"), &world.alice, &json!({})).await;
    for (limit, method, path) in [
        ("WAIT_MAX_S", "GET", "/api/v1/jobs/2?wait_s="),
        ("OUTPUT_BYTES_MAX", "GET", "/api/v1/jobs/1/tasks/1/output?offset="),
        ("JOBS_LISTED_MAX", "GET", "/api/v1/jobs?limit="),
        ("JOBS_LISTED_MAX", "GET", "/api/v1/keeping?limit="),
        ("TASKS_LISTED_MAX", "GET", "/api/v1/jobs/1/tasks?limit="),
        ("MACHINES_LISTED_MAX", "GET", "/api/v1/day/machines?limit="),
        ("RUNS_LISTED_MAX", "GET", "/api/v1/day/runs?limit="),
        ("JOIN_SECONDS_MAX", "POST", "/api/v1/tokens/join?expires_s="),
        ("JOIN_TOKEN_USES_MAX", "POST", "/api/v1/tokens/join?uses="),
        ("USER_TOKEN_SECONDS_MAX", "POST", "/api/v1/tokens/user?name=carol&expires_s="),
    ] {
        let most = documented(limit);
        let taken = world.call(method, &format!("{path}{most}"), &world.root, Body::empty()).await;
        assert!((200..300).contains(&taken.status), "{limit}: {taken}");
        let refused = world.call(method, &format!("{path}{}", most + 1), &world.root, Body::empty()).await;
        let said = refused.to_string();
        assert_eq!(refused.status, 422, "{limit}: {said}");
        assert!(said.contains(&format!("is {}; expected ", most + 1)), "{limit}: {said}");
        assert!(said.contains(&format!(" to {most}\"")), "{limit}: {said}");
    }
}

/// A name of an owner is one as machines have, and what is no name is refused.
#[tokio::test(flavor = "multi_thread")]
async fn a_join_token_can_say_whose_the_machines_are() {
    let world = World::new().await;
    let join = |owner: &str| format!("/api/v1/tokens/join?owner={owner}");
    let long = |bytes: usize| "x".repeat(bytes);
    let owners = [
        ("ada".to_owned(), 201),
        (long(NAME_BYTES_MAX), 201),
        (long(NAME_BYTES_MAX + 1), 422),
        (String::new(), 422),
        ("a%0Ab".to_owned(), 422),
    ];
    for (owner, status) in owners {
        let reply = world.call("POST", &join(&owner), &world.root, Body::empty()).await;
        assert_eq!(reply.status, status, "{owner:?}: {reply}");
    }
    let users: Value = world.get("/api/v1/users", &world.root).await.json();
    let owners = users["join_tokens"].as_array().unwrap().iter().filter(|token| token["owner"] == "ada");
    assert_eq!(owners.count(), 1, "{users}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_bounds() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    let long = |bytes: usize| Body::from(format!("{{\"tasks\": [{}]}}", " ".repeat(bytes - 13)));
    for (bytes, status, code) in [(BODY_BYTES_MAX, 200, ""), (BODY_BYTES_MAX + 1, 413, "too_large")] {
        let reply = world.call("POST", "/api/v1/jobs/1/hold", &world.alice, long(bytes)).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{reply}");
    }
    // Said beforehand, so that nothing of it is read.
    for (bytes, status) in [(JOB_BYTES_MAX, 422), (JOB_BYTES_MAX + 1, 413)] {
        let mut said = request("POST", "/api/v1/jobs", &world.alice, Body::from("{}"));
        said.headers_mut().insert("content-length", bytes.into());
        assert_eq!(world.send(said).await.status, status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_job_is_read_all_the_same() {
    let world = World::new().await;
    let values: Vec<String> = (0..200_000).map(|number| format!("value {number}")).collect();
    let spec = json!({"command": ["echo", "{x}"], "tasks": {"rows": {"names": ["x"], "values": values}}});
    let body = serde_json::to_vec(&spec).unwrap();
    assert!(body.len() > BODY_BYTES_MAX);
    let reply = world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body)).await;
    assert_eq!(reply.status, 201, "{reply}");
    let list: JobList = world.get("/api/v1/jobs", &world.alice).await.json();
    assert_eq!(list.jobs[0].tasks.waiting, 200_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_and_methods_have_bounds() {
    let world = World::new().await;
    let request = || request("GET", "/api/v1/grid", &world.alice, Body::empty());
    let names = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    let usual = "/api/v1/grid".len() + request().headers().iter().map(names).sum::<usize>() + "x-long".len();
    for (more, status) in [(0, 200), (1, 431)] {
        let mut request = request();
        let left = documented("HEAD_MAX") as usize - usual + more;
        request.headers_mut().insert("x-long", "x".repeat(left).parse().unwrap());
        assert_eq!(world.send(request).await.status, status);
    }
    let path = format!("/api/v1/jobs?state={}", "x".repeat(17 << 10));
    assert_eq!(world.get(&path, &world.alice).await.status, 431);
    let reply = world.call("DELETE", "/api/v1/policy", &world.alice, Body::empty()).await;
    assert_eq!((reply.status, reply.code().as_str()), (405, "method_not_allowed"));
    assert!(reply.header("allow").contains("PUT"), "{:?}", reply.headers);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_that_stopped_says_so() {
    let world = World::new().await;
    world.app.desk.stop();
    let reply = loop {
        let reply = world.get("/healthz", "").await;
        if reply.status != 200 {
            break reply;
        }
    };
    assert_eq!((reply.status, reply.code().as_str()), (503, "stopped"));
    assert_eq!(reply.header("retry-after"), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_hears_that_the_coordinator_stopped() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    agent.start_next(&world).await;
    let paths =
        [format!("/api/v1/jobs/{job}?wait_s=60"), format!("/api/v1/jobs/{job}/tasks/1/output?wait_s=60")];
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        world.app.desk.stop();
    };
    let (first, second, ()) =
        tokio::join!(world.get(&paths[0], &world.alice), world.get(&paths[1], &world.alice), stop);
    for reply in [first, second] {
        assert_eq!((reply.status, reply.code().as_str(), reply.header("retry-after")), (503, "stopped", "1"));
    }
}

/// Else one order about all of them keeps the desk's thread for as long as somebody likes, and is more than a row can hold.
#[tokio::test(flavor = "multi_thread")]
async fn orders_about_single_tasks_leave_so_many_pieces_at_most() {
    const PIECES_MAX: u32 = 16_384;
    const EACH: u32 = 10_000;
    let world = World::new().await;
    let tasks = 4 * EACH + 10;
    let array = json!({ "first": 0, "last": tasks - 1, "step": 1 });
    let job = json!({ "command": ["true"], "hold": true, "tasks": { "array": array } });
    let submitted = world.post("/api/v1/jobs", &world.alice, &job).await;
    assert_eq!(submitted.status, 201, "{submitted}");
    let odd = |from: u32| (0..EACH).map(|number| 2 * (from + number) + 1).collect::<Vec<u32>>();
    for (from, status) in [(0, 200), (EACH, 200), (0, 409)] {
        let answer = world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({ "tasks": odd(from) })).await;
        assert_eq!(answer.status, status, "{from}: {answer}");
        if status == 409 {
            assert!(answer.to_string().contains(&format!("into {PIECES_MAX} stretches or more")), "{answer}");
        }
    }
    let rest = world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    assert_eq!(rest.json::<Ordered>().tasks, tasks - 2 * EACH, "all of it, in several rows");
    let again = world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({ "tasks": [5] })).await;
    assert_eq!(again.json::<Ordered>().tasks, 0, "what is over is in nobody's way");
}
