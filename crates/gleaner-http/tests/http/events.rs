//! What happens, as it happens.

use crate::limits::documented_share;
use crate::world::{World, request};
use axum::body::{Body, BodyDataStream};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

struct Watcher {
    pieces: BodyDataStream,
    text: String,
}

impl Watcher {
    async fn new(world: &World, path: &str, token: &str) -> Self {
        let request = request("GET", path, token, Body::empty());
        let response = world.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { pieces: response.into_body().into_data_stream(), text: String::new() }
    }

    async fn next(&mut self) -> Value {
        loop {
            if let Some((event, _)) = self.text.split_once("\n\n") {
                let event_length = event.len() + 2;
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                let data = data.map(|data| serde_json::from_str(data).unwrap());
                self.text.drain(..event_length);
                if let Some(data) = data {
                    return data;
                }
            } else {
                let piece = self.pieces.next().await.unwrap().unwrap();
                self.text.push_str(std::str::from_utf8(&piece).unwrap());
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sees_what_is_theirs() {
    let world = World::new().await;
    let mut alice = Watcher::new(&world, "/api/v1/events", &world.alice).await;
    let mut root = Watcher::new(&world, "/api/v1/events", &world.root).await;
    let theirs = world.submit(&world.bob, 1).await;
    let hers = world.submit(&world.alice, 1).await;
    assert_eq!(alice.next().await["job"], hers);
    assert_eq!(root.next().await["job"], theirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_job_can_be_watched() {
    let world = World::new().await;
    let jobs = [world.submit(&world.alice, 1).await, world.submit(&world.alice, 1).await];
    let mut watcher = Watcher::new(&world, &format!("/api/v1/events?job={}", jobs[1]), &world.alice).await;
    for job in jobs {
        world.post(&format!("/api/v1/jobs/{job}/cancel"), &world.alice, &json!({})).await;
    }
    let event = watcher.next().await;
    assert_eq!((&event["job"], &event["phase"]), (&json!(jobs[1]), &json!("cancelled")));
    assert!(watcher.pieces.next().await.is_none(), "the job is over");
    for (job, token) in [(99, &world.alice), (jobs[0], &world.bob)] {
        assert_eq!(world.get(&format!("/api/v1/events?job={job}"), token).await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_a_job_ends_behind_its_last_event() {
    let world = World::new().await;
    for tasks in [1, 8, 250, 400] {
        let job = world.submit(&world.alice, tasks).await;
        let path = format!("/api/v1/events?job={job}");
        let mut watcher = Watcher::new(&world, &path, &world.alice).await;
        world.post(&format!("/api/v1/jobs/{job}/hold"), &world.alice, &json!({})).await;
        world.post(&format!("/api/v1/jobs/{job}/cancel"), &world.alice, &json!({})).await;
        let mut text = String::new();
        while let Some(piece) = watcher.pieces.next().await {
            text += std::str::from_utf8(&piece.unwrap()).unwrap();
        }
        let ends = text.matches(r#""phase":"cancelled""#).count() as u32;
        assert_eq!(ends, tasks.min(256), "{tasks} tasks");
        let mut after = Watcher::new(&world, &path, &world.alice).await;
        assert!(after.pieces.next().await.is_none(), "it is over already");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_all_streams_that_one_may_have_hears_how_many_these_are() {
    let world = World::new().await;
    let mut open = Vec::new();
    for _ in 0..documented_share("STREAMS").1 {
        open.push(Watcher::new(&world, "/api/v1/events", &world.alice).await);
    }
    let refused = world.get("/api/v1/events", &world.alice).await;
    let said = format!("{} of each caller", open.len());
    assert!(refused.status == 503 && refused.to_string().contains(&said), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_the_coordinator() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    let all = Watcher::new(&world, "/api/v1/events", &world.alice).await;
    let of_job = Watcher::new(&world, &format!("/api/v1/events?job={job}"), &world.alice).await;
    world.app.desk.stop();
    for mut watcher in [all, of_job] {
        let mut text = String::new();
        while let Some(piece) = watcher.pieces.next().await {
            text += std::str::from_utf8(&piece.unwrap()).unwrap();
        }
        assert_eq!(text, "event: stopped\ndata: the coordinator has stopped\n\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_falls_behind_hears_so() {
    let world = World::new().await;
    let mut watcher = Watcher::new(&world, "/api/v1/events", &world.root).await;
    let job = world.submit(&world.alice, 250).await;
    for _ in 0..12 {
        for order in ["hold", "release"] {
            world.post(&format!("/api/v1/jobs/{job}/{order}"), &world.alice, &json!({})).await;
        }
    }
    assert!(watcher.next().await.as_u64().is_some_and(|missed| missed > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_token_and_shows_nothing_more() {
    let world = World::new().await;
    for end in ["/api/v1/tokens/user?name=alice", "/api/v1/users/alice/remove"] {
        let token = world.post("/api/v1/tokens/user?name=alice", &world.root, &json!({})).await;
        let token = token.json::<Value>()["token"].as_str().unwrap().to_owned();
        let mut alice = Watcher::new(&world, "/api/v1/events", &token).await;
        assert!(world.post(end, &world.root, &json!({})).await.status < 300);
        assert!(alice.pieces.next().await.is_none(), "{end}");
    }
}
