//! What administrators change, and the numbers for Prometheus.

use crate::agent::Agent;
use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{GridView, MachineState, MachineView, PolicyView};
use gleaner_wire::session::ToAgent;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn machines_hear_what_is_wanted_of_them() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    for (order, told, state) in [
        ("drain", vec![], MachineState::Closed),
        ("pause", vec![ToAgent::SetPaused { paused: true }], MachineState::Closed),
        ("unpause", vec![ToAgent::SetPaused { paused: false }], MachineState::Closed),
        ("resume", vec![ToAgent::SetPaused { paused: false }], MachineState::Open),
        ("measure", vec![ToAgent::Measure], MachineState::Open),
        ("revoke", vec![], MachineState::Revoked),
    ] {
        let path = format!("/api/v1/machines/m1/{order}");
        let reply = world.call("POST", &path, &world.root, Body::empty()).await;
        assert_eq!(reply.json::<MachineView>().state, state, "{order}");
        for expected in told {
            let heard = loop {
                let message = agent.hear().await;
                if !matches!(message, ToAgent::Welcome { .. } | ToAgent::Yours { .. }) {
                    break message;
                }
            };
            assert_eq!(heard, expected);
        }
    }
    for order in ["resume", "pause", "measure"] {
        let path = format!("/api/v1/machines/m1/{order}");
        let reply = world.call("POST", &path, &world.root, Body::empty()).await;
        assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{order}: {reply}");
    }
    let nowhere = world.call("POST", "/api/v1/machines/m2/drain", &world.root, Body::empty()).await;
    assert_eq!(nowhere.status, 404, "{nowhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_set_if_it_is_one() {
    let world = World::new().await;
    for (body, status) in [
        (r#"{"preset": "fifo"}"#, 422),
        (r#"{"preset": "none such"}"#, 422),
        (r#"{"preset": "bertasi/greedy"}"#, 200),
        ("{}", 422),
        ("", 400),
    ] {
        let reply = world.call("PUT", "/api/v1/policy", &world.root, Body::from(body)).await;
        assert!(reply.status == status || body.contains("fifo"), "{body}: {reply}");
    }
    let view: PolicyView = world.get("/api/v1/policy", &world.alice).await.json();
    assert_eq!((view.policy.preset.as_str(), view.policy.relocate), ("bertasi/greedy", None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_signs_in_and_a_new_token_replaces_the_old() {
    let world = World::new().await;
    let issue = async || {
        let reply = world.call("POST", "/api/v1/tokens/user?name=eve", &world.root, Body::empty()).await;
        assert_eq!(reply.status, 201, "{reply}");
        reply.json::<Value>()["token"].as_str().unwrap().to_owned()
    };
    let first = issue().await;
    assert_eq!(world.get("/api/v1/grid", &first).await.status, 200);
    let second = issue().await;
    assert_eq!(world.get("/api/v1/grid", &first).await.status, 401);
    assert_eq!(world.get("/api/v1/grid", &second).await.status, 200);
    for path in ["/api/v1/tokens/user?name=two%20words", "/api/v1/tokens/join?expires_s=0"] {
        assert_eq!(world.call("POST", path, &world.root, Body::empty()).await.status, 422, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_tell_of_requests_and_of_the_grid() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    world.submit(&world.alice, 3).await;
    world.get("/nowhere/at/all", &world.alice).await;
    let reply = world.get("/metrics", &world.alice).await;
    let text = String::from_utf8(reply.body).unwrap();
    for line in [
        r#"gleaner_tasks{state="waiting"} 3"#,
        r#"gleaner_machines{state="open"} 1"#,
        "gleaner_starts 1",
        r#"gleaner_http_requests_total{method="POST",route="/api/v1/jobs",status="201"} 1"#,
        r#"gleaner_http_requests_total{method="GET",route="none",status="404"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    let grid: GridView = world.get("/api/v1/grid", &world.alice).await.json();
    assert_eq!((grid.tasks.waiting, grid.machines["open"], grid.epoch), (3, 1, 1));
}
