//! A queue's rule on a live grid.

use crate::agent::{Agent, profile};
use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{ExplanationView, Submitted};
use gleaner_wire::session::{Profile, Tail};
use serde_json::json;

/// A task of so many cores and of that length; its job.
async fn submit(world: &World, cores: u32, length: Option<f64>) -> String {
    let body = json!({ "command": ["run"], "needs": { "cores": cores }, "length": length });
    let reply = world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body.to_string())).await;
    assert_eq!(reply.status, 201, "{reply}");
    reply.json::<Submitted>().job.to_string()
}

/// Two of three cores are taken. A wide task has its moment, which one that would last longer must not delay.
#[tokio::test(flavor = "multi_thread")]
async fn a_wide_task_is_not_starved_by_narrow_ones() {
    let world = World::new().await;
    let body = Body::from(r#"{"preset": "queue/easy"}"#);
    assert_eq!(world.call("PUT", "/api/v1/policy", &world.root, body).await.status, 200);
    let mut agent = Agent::join_with(&world, "m1", Profile { slots: 3, cores: 3, ..profile() }).await;
    submit(&world, 2, Some(1e12)).await;
    let first = agent.start_next(&world).await;
    let wide = submit(&world, 3, Some(1e9)).await;
    let long = submit(&world, 1, Some(1e15)).await;
    let explained = async |job: &str| {
        let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
        world.get(&path, &world.alice).await.json::<ExplanationView>().summary
    };
    let told = explained(&wide).await;
    assert!(told.contains("it waits for cores that are kept for it on m1, in"), "{told}");
    let told = explained(&long).await;
    assert!(told.contains(&format!("would delay {wide}/0, for which cores are kept on m1")), "{told}");
    submit(&world, 1, Some(1e9)).await;
    let filler = agent.start_next(&world).await;
    assert_eq!(filler.task.index(), 3, "the short one fills the gap");
    agent.end(&world, filler, 0, Tail::default()).await;
    agent.end(&world, first, 0, Tail::default()).await;
    let next = agent.start_next(&world).await;
    assert_eq!(next.task.index(), 1, "the wide one has its turn");
}
