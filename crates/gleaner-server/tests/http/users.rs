//! Users come, may do so much, and go.

use crate::agent::Agent;
use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{Role, UserList};
use serde_json::Value;
use std::time::Duration;

async fn token(world: &World, query: &str) -> String {
    let path = format!("/api/v1/tokens/user?{query}");
    let reply = world.call("POST", &path, &world.root, Body::empty()).await;
    assert_eq!(reply.status, 201, "{reply}");
    reply.json::<Value>()["token"].as_str().expect("a token").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_with_an_end_says_what_to_do_behind_it() {
    let world = World::new().await;
    let token = token(&world, "name=eve&expires_s=1").await;
    let reply = loop {
        let reply = world.get("/api/v1/jobs", &token).await;
        if reply.status != 200 {
            break reply;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!((reply.status, reply.code().as_str()), (401, "expired"), "{reply}");
    assert!(reply.to_string().contains("gleaner token user eve"), "{reply}");
    for wrong in ["0", "315360001"] {
        let path = format!("/api/v1/tokens/user?name=eve&expires_s={wrong}");
        assert_eq!(world.call("POST", &path, &world.root, Body::empty()).await.status, 422, "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_sees_everything_and_changes_nothing() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let reader = token(&world, "name=rita&role=reader").await;
    for path in ["", "/tasks", "/tasks/1/history"] {
        let reply = world.get(&format!("/api/v1/jobs/{job}{path}"), &reader).await;
        assert_eq!(reply.status, 200, "{path}: {reply}");
    }
    let list: Value = world.get("/api/v1/jobs", &reader).await.json();
    assert_eq!(list["jobs"].as_array().expect("a list").len(), 1);
    let submission = r#"{"command": ["true"], "confinement": "sandbox"}"#;
    let blob = format!("/api/v1/blobs/{}", blake3::hash(b"x").to_hex());
    for (method, path, body) in [
        ("POST", "/api/v1/jobs", submission),
        ("POST", &format!("/api/v1/jobs/{job}/cancel"), "{}"),
        ("POST", &format!("/api/v1/jobs/{job}/hold"), "{}"),
        ("POST", "/api/v1/machines/m1/drain", "{}"),
        ("PUT", "/api/v1/policy", r#"{"preset": "bertasi/greedy"}"#),
        ("POST", "/api/v1/tokens/join", ""),
        ("POST", "/api/v1/users/alice/remove", ""),
        ("PUT", &blob, "x"),
    ] {
        let reply = world.call(method, path, &reader, Body::from(body.to_owned())).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "forbidden"), "{method} {path}: {reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn users_are_listed_without_secrets_and_removed() {
    let world = World::new().await;
    let eve = token(&world, "name=eve&expires_s=3600").await;
    world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
    let reply = world.get("/api/v1/users", &world.root).await;
    assert!(!reply.to_string().contains("gl"), "{reply}");
    let list: UserList = reply.json();
    let users: Vec<_> =
        list.users.iter().map(|user| (user.name.as_str(), user.role, user.expires_s.is_some())).collect();
    let expected = [
        ("alice", Role::User, false),
        ("bob", Role::User, false),
        ("eve", Role::User, true),
        ("root", Role::Admin, false),
    ];
    assert_eq!((users.as_slice(), list.join_tokens_expire_s.len()), (&expected[..], 1));
    assert_eq!(world.get("/api/v1/jobs", &eve).await.status, 200);
    let left = world.call("POST", "/api/v1/users/eve/remove", &world.root, Body::empty()).await;
    assert_eq!(left.json::<UserList>().users.len(), 3);
    assert_eq!(world.get("/api/v1/jobs", &eve).await.status, 401);
    for (path, status) in [
        ("/api/v1/users/eve/remove", 404),
        ("/api/v1/users/root/remove", 409),
        ("/api/v1/tokens/user?name=root", 409),
    ] {
        let reply = world.call("POST", path, &world.root, Body::empty()).await;
        assert_eq!(reply.status, status, "{path}: {reply}");
    }
    assert_eq!(world.get("/api/v1/jobs", &world.root).await.status, 200);
}
