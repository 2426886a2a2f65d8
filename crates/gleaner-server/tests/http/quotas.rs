//! What each user may have of the coordinator at a time.

use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{JobList, QuotaList};
use serde_json::{Value, json};

fn job(tasks: u32) -> Value {
    json!({"command": ["true"], "tasks": {"array": {"first": 1, "last": tasks, "step": 1}}})
}

async fn set(world: &World, token: &str, user: Option<&str>, tasks: u64, requests: u32) -> u16 {
    let setting = json!({"user": user, "quota": {"tasks": tasks, "requests_per_s": requests}});
    world.call("PUT", "/api/v1/quotas", token, Body::from(setting.to_string())).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_so_many_tasks_and_hears_who_can_raise_it() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.root, Some("alice"), 10, 1_000).await, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(7)).await.status, 201);
    let reply = world.post("/api/v1/jobs", &world.alice, &job(4)).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
    let said = reply.to_string();
    assert!(
        said.contains("7 tasks") && said.contains("quota of 10") && said.contains("ask an administrator"),
        "{said}"
    );
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &job(4)).await.status, 201, "another's quota");
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(3)).await.status, 201);
    // What is over does not count, and to run it again does.
    assert_eq!(world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await.status, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(7)).await.status, 201);
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (403, "quota"), "{rerun}");
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    let seen: Vec<_> =
        list.users.iter().map(|view| (view.user.as_str(), view.quota.tasks, view.tasks)).collect();
    assert_eq!(seen, [("alice", 10, 10)]);
    let all: QuotaList = world.get("/api/v1/quotas", &world.root).await.json();
    assert_eq!(all.users.iter().map(|view| view.tasks).collect::<Vec<_>>(), [10, 4, 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_asks_so_often() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.root, Some("alice"), 10, 1).await, 200);
    let mut refused = None;
    for _ in 0..50 {
        let reply = world.get("/api/v1/jobs", &world.alice).await;
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("fifty requests take less than a minute");
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("quota", "1"), "{refused}");
    let _: JobList = world.get("/api/v1/jobs", &world.bob).await.json();
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_are_an_administrators() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.alice, None, 10, 10).await, 403);
    assert_eq!(set(&world, &world.root, Some("a b"), 10, 10).await, 422);
    assert_eq!(set(&world, &world.root, None, 10, 0).await, 422);
    assert_eq!(set(&world, &world.root, None, 10, 10).await, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &job(11)).await.status, 403, "everyone's");
}
