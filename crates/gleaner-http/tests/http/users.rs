//! Users come, may do so much, and go.

use crate::agent::{Agent, profile};
use crate::world::World;
use axum::body::{Body, Bytes};
use futures_util::future::join;
use futures_util::{StreamExt as _, stream};
use gleaner_server::journal::Fact;
use gleaner_server::store::Seq;
use gleaner_server::told::told;
use gleaner_units::{Span, Time};
use gleaner_wire::api::{Actor, Enrolled, Enrolment, Role, UserList};
use serde_json::Value;
use std::io;
use std::time::Duration;
use tokio::sync::oneshot;

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

/// The coordinator was started once while its clock was a year ahead.
#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_good_for_as_long_as_they_say_though_a_clock_was_wrong() {
    let mut world = World::new().await;
    let half_a_year = token(&world, "name=eve&expires_s=15552000").await;
    let ahead = world.app.desk.now() + Span::from_nanos(365 * 86_400_000_000_000);
    world.restart_behind(ahead, Fact::UserRemoved { user: "nobody".to_owned(), by: Actor::Coordinator });
    assert!(world.app.desk.now() >= ahead);
    let reply = world.get("/api/v1/jobs", &half_a_year).await;
    assert_eq!(reply.status, 200, "{reply}");
    let second = token(&world, "name=rita&expires_s=1").await;
    assert_eq!(world.get("/api/v1/jobs", &second).await.status, 200);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    assert_eq!(world.get("/api/v1/jobs", &second).await.status, 401);
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
    assert_eq!((users.as_slice(), list.join_tokens.len()), (&expected[..], 1));
    assert_eq!(world.get("/api/v1/jobs", &eve).await.status, 200);
    let left = world.call("POST", "/api/v1/users/eve/remove", &world.root, Body::empty()).await;
    assert_eq!(left.json::<UserList>().users.len(), 3);
    assert_eq!(world.get("/api/v1/jobs", &eve).await.status, 401);
    for (path, status) in [
        ("/api/v1/users/eve/remove", 404),
        ("/api/v1/users/root/remove", 409),
        ("/api/v1/tokens/user?name=root&role=user", 409),
    ] {
        let reply = world.call("POST", path, &world.root, Body::empty()).await;
        assert_eq!(reply.status, status, "{path}: {reply}");
    }
    assert_eq!(world.get("/api/v1/jobs", &world.root).await.status, 200);
}

/// A body that is on its way until it is let go, when it was asked for.
fn held_back(text: &'static str) -> (Body, oneshot::Receiver<()>, oneshot::Sender<()>) {
    let (begins, begun) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let (first, last) = text.split_at(text.len() / 2);
    let first = stream::once(async move {
        begins.send(()).expect("somebody waits for it");
        Ok::<_, io::Error>(Bytes::from(first))
    });
    let last = stream::once(async move {
        released.await.expect("it is let go");
        Ok(Bytes::from(last))
    });
    (Body::from_stream(first.chain(last)), begun, release)
}

/// Who was let in when an order began to come is not let in any more when it is there.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_by_whoever_is_removed_or_has_another_role_is_not_done() {
    let world = World::new().await;
    let file = format!("/api/v1/blobs/{}", blake3::hash(b"content").to_hex());
    for change in ["/api/v1/users/eve/remove", "/api/v1/tokens/user?name=eve&role=user"] {
        for (method, path, body) in [
            ("POST", "/api/v1/jobs", r#"{"command": ["true"], "confinement": "sandbox"}"#),
            ("PUT", "/api/v1/policy", r#"{"preset": "bertasi/greedy"}"#),
            ("PUT", file.as_str(), "content"),
        ] {
            let eve = token(&world, "name=eve&role=admin").await;
            let (body, begun, release) = held_back(body);
            let changed = async {
                begun.await.expect("she was let in");
                let reply = world.call("POST", change, &world.root, Body::empty()).await;
                assert!(reply.status < 300, "{reply}");
                release.send(()).expect("it is waited for");
            };
            let (reply, ()) = join(world.call(method, path, &eve, body), changed).await;
            assert_eq!((reply.status, reply.code().as_str()), (401, "unauthorized"), "{path}: {reply}");
        }
    }
    let jobs: Value = world.get("/api/v1/jobs", &world.root).await.json();
    assert_eq!(jobs["jobs"].as_array().expect("a list").len(), 0);
    let policy: Value = world.get("/api/v1/policy", &world.root).await.json();
    assert_ne!(policy["preset"], "bertasi/greedy");
    // What came of it is not hers, nor of who has the name next.
    let eve = token(&world, "name=eve").await;
    assert_eq!(world.call("HEAD", &file, &eve, Body::empty()).await.status, 404);
}

/// The job was there, though its user was not let in any more when it was.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_with_a_token_that_expires_on_the_way_is_not_done() {
    let world = World::new().await;
    let mut was_let_in = false;
    // On a busy machine a token may be over before she is let in with it.
    for expires_s in [2, 8, 32, 128] {
        let eve = token(&world, &format!("name=eve-{expires_s}&expires_s={expires_s}")).await;
        let (body, begun, release) = held_back(r#"{"command": ["true"], "confinement": "sandbox"}"#);
        let expired = async {
            if begun.await.is_err() {
                return false;
            }
            while world.get("/api/v1/jobs", &eve).await.status == 200 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            release.send(()).expect("it is waited for");
            true
        };
        let (reply, is_let_in) = join(world.call("POST", "/api/v1/jobs", &eve, body), expired).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "expired"), "{reply}");
        was_let_in = is_let_in;
        if was_let_in {
            break;
        }
    }
    assert!(was_let_in, "no token was good for long enough");
    let jobs: Value = world.get("/api/v1/jobs", &world.root).await.json();
    assert_eq!(jobs["jobs"].as_array().expect("a list").len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_metrics_is_good_for_nothing_else() {
    let world = World::new().await;
    let token = token(&world, "name=prometheus&role=metrics").await;
    assert_eq!(world.get("/metrics", &token).await.status, 200);
    for path in ["/api/v1/jobs", "/api/v1/machines", "/api/v1/grid", "/api/v1/users", "/api/v1/labels"] {
        assert_eq!(world.get(path, &token).await.status, 403, "{path}");
    }
    let job = r#"{"command": ["true"]}"#;
    assert_eq!(world.call("POST", "/api/v1/jobs", &token, Body::from(job)).await.status, 403);
}

/// Whose answers count for whom, where some are compared, goes by that.
#[test]
fn a_join_token_says_for_whose_machines_it_was_made() {
    let told = |owner: Option<&str>| {
        let (token, owner, by) = ("1a2b3c4d5e".to_owned(), owner.map(str::to_owned), Actor::Coordinator);
        let fact = Fact::JoinTokenIssued { token, expires: Time::ZERO, uses: 2, owner, by };
        told(&fact, |_| String::new(), |_| String::new()).expect("it is told").about
    };
    assert_eq!(told(None), "1a2b3c4d, for 2");
    assert_eq!(told(Some("ada")), "1a2b3c4d, for 2, of ada's machines");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_lets_as_many_join_as_it_says_until_it_is_removed() {
    let world = World::new().await;
    let reply = world.call("POST", "/api/v1/tokens/join?uses=3", &world.root, Body::empty()).await;
    let token: Value = reply.json();
    let line = token["line"].as_str().expect("a line");
    let secret = token["token"].as_str().expect("a token");
    assert!(line.starts_with("gleaner work --join https://") && line.ends_with(secret), "{line}");
    let join = async |name: &str, key: &str, replace: bool| {
        let enrolment = Enrolment { name: name.into(), key: key.repeat(43), profile: profile(), replace };
        let reply = world.post("/api/v1/agents", secret, &enrolment).await;
        (reply.status, if reply.status < 300 { reply.json::<Enrolled>().name } else { reply.to_string() })
    };
    assert_eq!(join("pc-1", "A", false).await, (201, "pc-1".to_owned()));
    // Whose answer was lost asks again, and uses nothing up.
    assert_eq!(join("pc-1", "A", false).await, (201, "pc-1".to_owned()));
    // Set up anew, it takes its name back; else it gets a number.
    assert_eq!(join("pc-1", "E", true).await, (201, "pc-1".to_owned()));
    let list: UserList = world.get("/api/v1/users", &world.root).await.json();
    assert_eq!(list.join_tokens.iter().map(|token| token.uses).collect::<Vec<_>>(), [1]);
    let machines: Value = world.get("/api/v1/machines", &world.root).await.json();
    assert_eq!(machines["machines"].as_array().expect("a list").len(), 1, "{machines}");
    let remove = format!("/api/v1/tokens/join/{}/remove", list.join_tokens[0].id);
    let left: UserList = world.call("POST", &remove, &world.root, Body::empty()).await.json();
    assert!(left.join_tokens.is_empty());
    assert_eq!(join("pc-2", "I", false).await.0, 403);
    assert_eq!(world.call("POST", &remove, &world.root, Body::empty()).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_there_keeps_its_name_and_one_that_was_forgotten_frees_it() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "pc-1").await;
    let token: Value = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await.json();
    let secret = token["token"].as_str().expect("a token");
    let anew = Enrolment { name: "pc-1".into(), key: "E".repeat(43), profile: profile(), replace: true };
    let reply = world.post("/api/v1/agents", secret, &anew).await;
    assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{reply}");
    let left = world.call("POST", "/api/v1/machines/pc-1/forget", &world.root, Body::empty()).await;
    assert_eq!(left.json::<Value>()["machines"].as_array().expect("a list").len(), 0);
    let reply = world.post("/api/v1/agents", secret, &anew).await;
    assert_eq!((reply.status, reply.json::<Enrolled>().name.as_str()), (201, "pc-1"));
}

/// `gleaner token user root` made the only administrator a plain user, as soon as there was another with an expired token.
#[tokio::test(flavor = "multi_thread")]
async fn a_new_token_leaves_the_role_unless_another_is_named() {
    let world = World::new().await;
    let ask = async |query: &str| {
        let path = format!("/api/v1/tokens/user?{query}");
        let reply = world.call("POST", &path, &world.root, Body::empty()).await;
        let said: Value = reply.json();
        (reply.status, said["role"].clone(), said["was"].clone(), reply.to_string())
    };
    for (query, role, was) in [
        ("name=rita&role=reader", "reader", Value::Null),
        ("name=rita", "reader", "reader".into()),
        ("name=rita&role=admin&expires_s=1", "admin", "reader".into()),
        ("name=newcomer", "user", Value::Null),
    ] {
        let (status, now, before, _) = ask(query).await;
        assert_eq!((status, now, before), (201, role.into(), was), "{query}");
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let (status, _, _, why) = ask("name=root&role=user").await;
    assert!(status == 409 && why.contains("root is the only administrator whose token is good"), "{why}");
    let rows = world.app.readers.read(|reader| reader.read(Seq::FIRST, 1_000)).unwrap();
    let facts = rows.iter().map(|stored| serde_json::from_str::<Fact>(&stored.row.body).expect("a fact"));
    let facts: Vec<Fact> =
        facts.filter(|fact| matches!(fact, Fact::UserAdded { user, .. } if user == "rita")).collect();
    let audit =
        facts.iter().map(|fact| told(fact, |_| String::new(), |_| String::new()).expect("it is told"));
    let audit: Vec<String> = audit.map(|told| format!("{}: {}", told.what, told.about)).collect();
    assert_eq!(
        audit,
        [
            "a user was added: rita, reader",
            "a user's token was renewed: rita, reader",
            "a user's role was changed: rita, from reader to admin"
        ]
    );
}
