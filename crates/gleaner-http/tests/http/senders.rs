//! Senders that are slow, or many, or nobody.

use crate::limits::documented;
use crate::world::{Reply, World, request};
use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::time::timeout;

/// Longer than anything takes that is going to happen at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body that never comes to its end.
fn endless() -> Body {
    Body::from_stream(stream::pending::<io::Result<Bytes>>())
}

async fn answered(world: &World, method: &str, path: &str, token: &str) -> Reply {
    let call = world.call(method, path, token, endless());
    timeout(PATIENCE, call).await.unwrap_or_else(|_| panic!("{method} {path} waits for its body"))
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_has_no_token_that_is_good_is_answered_before_the_body_is_read() {
    let world = World::new().await;
    let document: Value = world.get("/api/v1/openapi.json", &world.alice).await.json();
    let unknown = ["glu_", "gls_", "glj_"].map(|kind| format!("{kind}{}", "A".repeat(43)));
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let path = path.replace("{hash}", &"0".repeat(64)).replace("{name}", "m1");
            let path = path.replace("{job}", "1").replace("{task}", "1");
            for token in unknown.iter().map(String::as_str).chain(["", "nonsense"]) {
                let reply = answered(&world, &method.to_uppercase(), &path, token).await;
                let is_open = operation["security"] == serde_json::json!([{}]);
                assert!(is_open || matches!(reply.status, 401 | 403), "{method} {path}: {reply}");
            }
        }
    }
}

/// However many a user sends, or lets wait, others get through.
#[tokio::test(flavor = "multi_thread")]
async fn one_caller_does_not_take_the_places_of_others() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    let mut waiting = tokio::task::JoinSet::new();
    let blob = format!("/api/v1/blobs/{}", blake3::hash(b"x"));
    let wait = format!("/api/v1/jobs/{job}?wait_s=60");
    for (method, path) in [("PUT", blob.as_str()), ("GET", wait.as_str()), ("POST", "/api/v1/jobs")] {
        let mut refused = 0;
        for _ in 0..600 {
            let (router, body) =
                (world.router.clone(), if method == "GET" { Body::empty() } else { endless() });
            let request = request(method, path, &world.alice, body);
            waiting.spawn(async move { tower::ServiceExt::oneshot(router, request).await.unwrap().status() });
        }
        // Until all that have no place have heard so.
        while let Ok(Some(status)) = timeout(Duration::from_millis(500), waiting.join_next()).await {
            assert_eq!(status.unwrap(), 503);
            refused += 1;
        }
        assert!(refused > 0, "{method} {path}: one user had as many places as they wanted");
    }
    let put = world.call("PUT", &blob, &world.bob, Body::from("x")).await;
    assert_eq!(put.status, 200, "{put}");
    let theirs = world.submit(&world.bob, 1).await;
    assert_eq!(world.get(&format!("/api/v1/jobs/{theirs}?wait_s=1"), &world.bob).await.status, 200);
}

/// A text that comes in as many pieces, and some time before each.
fn dribbled(text: String, pieces: usize, before_each: Duration) -> Body {
    let length = text.len().div_ceil(pieces);
    Body::from_stream(stream::unfold(text.into_bytes(), move |mut left| async move {
        if left.is_empty() {
            return None;
        }
        tokio::time::sleep(before_each).await;
        let rest = left.split_off(length.min(left.len()));
        Some((Ok::<_, io::Error>(Bytes::from(left)), rest))
    }))
}

/// Whoever sends as many bytes in that time as they have to is heard out, however long it takes.
#[tokio::test(start_paused = true)]
async fn who_sends_less_than_the_limit_is_given_up() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    let windows = 2;
    let pieces = windows * documented("PATIENCE") as usize;
    for (limit, path, (begin, end), status) in [
        ("BODY_BYTES_MIN", "/api/v1/jobs/1/hold", ("{\"tasks\": [", "]}"), 200),
        ("LARGE_JOB_BYTES_MIN", "/api/v1/jobs", ("{\"command\": [", "\"true\"]}"), 201),
    ] {
        let blanks = windows * documented(limit) as usize - begin.len() - end.len();
        for (before_each, status) in [(990, status), (1_010, 408)] {
            let text = format!("{begin}{}{end}", " ".repeat(blanks));
            let body = dribbled(text, pieces, Duration::from_millis(before_each));
            let reply = world.call("POST", path, &world.alice, body).await;
            assert_eq!(reply.status, status, "{limit}, a piece in {before_each} ms: {reply}");
        }
    }
}
