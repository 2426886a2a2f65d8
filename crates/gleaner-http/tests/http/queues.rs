//! A queue's rule on a live grid.

use crate::agent::{Agent, profile};
use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{ExplanationView, Submitted};
use gleaner_wire::session::{Profile, Tail};
use serde_json::json;

/// How long a task is said to be.
#[derive(Clone, Copy)]
enum Said {
    Length(f64),
    Limit(f64),
}

/// A task of so many cores; its job.
async fn submit(world: &World, cores: u32, said: Said) -> String {
    let (length, limit_s) = match said {
        Said::Length(length) => (Some(length), 0.0),
        Said::Limit(limit_s) => (None, limit_s),
    };
    let needs = json!({ "cores": cores, "time_limit_s": limit_s });
    let body = json!({ "command": ["run"], "needs": needs, "length": length });
    let reply = world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body.to_string())).await;
    assert_eq!(reply.status, 201, "{reply}");
    reply.json::<Submitted>().job.to_string()
}

/// Two of three cores are taken. A wide task has its moment, which one that would last longer must not delay.
#[tokio::test(flavor = "multi_thread")]
async fn a_wide_task_is_not_starved_by_narrow_ones() {
    // The machine does 1e15 operations a second: what is declared must last longer than this test.
    let [first, wide, long, short] = [1e21, 1e9, 1e23, 1e9].map(Said::Length);
    fill_behind(first, wide, long, short).await;
}

/// Nobody declares anything: a run takes as long as it may.
#[tokio::test(flavor = "multi_thread")]
async fn time_limits_are_lengths() {
    let [first, wide, long, short] = [7_200.0, 60.0, 86_400.0, 3_600.0].map(Said::Limit);
    fill_behind(first, wide, long, short).await;
}

async fn fill_behind(first: Said, wide: Said, long: Said, short: Said) {
    let world = World::new().await;
    let body = Body::from(r#"{"preset": "queue/easy"}"#);
    assert_eq!(world.call("PUT", "/api/v1/policy", &world.root, body).await.status, 200);
    let mut agent = Agent::join_with(&world, "m1", Profile { slots: 3, cores: 3, ..profile() }).await;
    submit(&world, 2, first).await;
    let first = agent.start_next(&world).await;
    let wide = submit(&world, 3, wide).await;
    let long = submit(&world, 1, long).await;
    let explained = async |job: &str| {
        let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
        world.get(&path, &world.alice).await.json::<ExplanationView>()
    };
    let ExplanationView { summary: told, starts, at_s, scores_are, ratings, .. } = explained(&wide).await;
    let starts = starts.expect("cores are kept for it");
    assert!(starts.machine == "m1" && starts.at_s.is_some_and(|starts_s| starts_s > at_s), "{starts:?}");
    // Without a length nobody knows when it would be done.
    let are = scores_are.unwrap_or_default();
    assert_eq!(are.contains("seconds until it would be done"), !ratings.is_empty(), "{are}");
    assert!(told.contains("it waits for its turn: cores are kept for it on m1 in"), "{told}");
    let ExplanationView { summary: told, starts, .. } = explained(&long).await;
    assert_eq!(starts, None, "what is kept is another's");
    assert!(told.contains(&format!("may not delay {wide}/0, for which cores are kept on m1")), "{told}");
    submit(&world, 1, short).await;
    let filler = agent.start_next(&world).await;
    assert_eq!(filler.task.index(), 3, "the short one fills the gap");
    agent.end(&world, filler, 0, Tail::default()).await;
    agent.end(&world, first, 0, Tail::default()).await;
    let next = agent.start_next(&world).await;
    assert_eq!(next.task.index(), 1, "the wide one has its turn");
}
