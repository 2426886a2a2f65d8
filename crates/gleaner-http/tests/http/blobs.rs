//! Files in and out.

use crate::agent::{Agent, exited, left_by};
use crate::limits::documented;
use crate::world::{World, request};
use axum::body::{Body, Bytes, to_bytes};
use futures_util::stream;
use gleaner_net::{Token, TokenKind};
use gleaner_server::desk::Input;
use gleaner_server::tidying::tidy;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::api::{JobView, Swallowed};
use gleaner_wire::limits::{BLOB_BYTES_MAX, PROBE_BYTES_MAX};
use gleaner_wire::session::{End, Staging, Stored, Tail, ToAgent};
use serde_json::{Value, json};
use std::io;
use tower::ServiceExt as _;

fn path(content: &[u8]) -> String {
    format!("/api/v1/blobs/{}", blake3::hash(content))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_comes_back_as_it_went_in() {
    let world = World::new().await;
    let long: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    for content in [&b""[..], b"short", &long] {
        let path = path(content);
        assert_eq!(world.call("HEAD", &path, &world.alice, Body::empty()).await.status, 404);
        assert_eq!(world.get(&path, &world.alice).await.status, 404);
        let pieces: Vec<io::Result<Bytes>> =
            content.chunks(10_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let put = world.call("PUT", &path, &world.alice, Body::from_stream(stream::iter(pieces))).await;
        assert_eq!(put.json::<Stored>().size, content.len() as u64, "{put}");
        let head = world.call("HEAD", &path, &world.alice, Body::empty()).await;
        assert_eq!((head.status, head.header("content-length")), (200, content.len().to_string().as_str()));
        assert!(head.body.is_empty());
        let got = world.get(&path, &world.alice).await;
        assert_eq!((got.status, got.body.as_slice()), (200, content));
    }
}

/// What the disk changed is not sent as if it were whole, and after that it is not there, until somebody sends it again.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_put_aside_when_it_is_asked_for() {
    let world = World::new().await;
    let long: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
    let path = path(&long);
    let put = async || world.call("PUT", &path, &world.alice, Body::from(long.clone())).await.status;
    assert_eq!(put().await, 200);
    world.blobs.damage(blake3::hash(&long).into());
    let asked = request("GET", &path, &world.alice, Body::empty());
    let answer = world.router.clone().oneshot(asked).await.unwrap();
    assert_eq!(answer.status(), 200, "nothing is known of it yet");
    assert!(to_bytes(answer.into_body(), usize::MAX).await.is_err(), "its end is missing");
    let again = world.get(&path, &world.alice).await;
    assert_eq!(again.status, 404, "{again}");
    assert!(again.to_string().contains("submit it again"), "{again}");
    assert_eq!(world.call("HEAD", &path, &world.alice, Body::empty()).await.status, 404);
    assert_eq!(put().await, 200);
    assert_eq!(world.get(&path, &world.alice).await.body, long);
}

/// The first guess of many is another hash, and a packed body is none of what it unpacks to.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_under_another_hash_or_packed_is_told_why() {
    let world = World::new().await;
    let refused = world.call("PUT", &path(b"other"), &world.alice, Body::from("content")).await;
    assert!(refused.status == 422 && refused.to_string().contains("BLAKE3"), "{refused}");
    for (method, path, body) in [
        ("PUT", path(b"content"), "content"),
        ("POST", "/api/v1/jobs".to_owned(), "{\"command\": [\"true\"]}"),
    ] {
        for (coding, is_taken) in [("gzip", false), ("identity", true)] {
            let mut sent = request(method, &path, &world.alice, Body::from(body));
            sent.headers_mut().insert("content-encoding", coding.parse().unwrap());
            let reply = world.send(sent).await;
            assert_eq!(reply.status < 300, is_taken, "{path}: {reply}");
            if !is_taken {
                assert_eq!((reply.status, reply.header("accept-encoding")), (415, "identity"), "{reply}");
                assert!(reply.to_string().contains("Content-Encoding"), "{reply}");
            }
        }
    }
}

/// What others sent is not there for who knows its hash only: not to look for, not to read, and not to name in a job.
#[tokio::test(flavor = "multi_thread")]
async fn a_hash_opens_nothing() {
    let world = World::new().await;
    let secret = path(b"secret");
    let put = async |token: &str| world.call("PUT", &secret, token, Body::from("secret")).await.status;
    let seen_by = async |token: &str| {
        let head = world.call("HEAD", &secret, token, Body::empty()).await;
        assert_eq!(head.body.len(), 0);
        let got = world.get(&secret, token).await;
        assert_eq!(got.status, head.status);
        got.status
    };
    let job = json!({"command": ["cat", "x"], "inputs": [{"path": "x", "blob": blake3::hash(b"secret").to_hex().as_str()}]});
    let submit = async |token: &str| world.post("/api/v1/jobs", token, &job).await;
    let before = (seen_by(&world.bob).await, submit(&world.bob).await.to_string());
    assert_eq!(put(&world.alice).await, 200);
    assert_eq!((seen_by(&world.alice).await, seen_by(&world.root).await), (200, 200));
    let after = (seen_by(&world.bob).await, submit(&world.bob).await.to_string());
    assert_eq!(after, before, "bob can tell that somebody sent it");
    assert_eq!(before.0, 404);
    assert!(before.1.contains("is not stored here"), "{}", before.1);
    let left = world.get(&secret, &world.bob).await.to_string();
    assert!(left.contains("What a task left is at /api/v1/jobs/JOB/tasks/TASK/files"), "{left}");
    assert_eq!(submit(&world.root).await.status, 201, "who may read it may name it");
    assert_eq!(submit(&world.alice).await.status, 201);
    assert_eq!(submit(&world.bob).await.status, 422);
    assert_eq!(put(&world.bob).await, 200, "who has it may send it");
    assert_eq!((seen_by(&world.bob).await, submit(&world.bob).await.status), (200, 201));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_gets_what_its_runs_need_and_nothing_else() {
    let world = World::new().await;
    let put = async |content: &'static str| {
        let sent = world.call("PUT", &path(content.as_bytes()), &world.alice, Body::from(content)).await;
        sent.json::<Stored>().blob
    };
    let (input, stdin, other) = (put("input").await, put("stdin").await, put("other").await);
    let mut agent = Agent::join(&world, "m1").await;
    let tokens = [0, 1].map(|number| {
        let token = Token::generate(TokenKind::Session).unwrap();
        world.app.agents.add(&token, MachineId::new(number));
        token.reveal()
    });
    let job = json!({"command": ["true"], "inputs": [{"path": "a", "blob": input}], "stdin": stdin});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 201);
    let run = agent.start_next(&world).await;
    let _other = Agent::join(&world, "m2").await;
    let got =
        async |token: &str, blob: &BlobHash| world.get(&format!("/api/v1/blobs/{blob}"), token).await.status;
    for (blob, first, second) in [(&input, 200, 404), (&stdin, 200, 404), (&other, 404, 404)] {
        assert_eq!((got(&tokens[0], blob).await, got(&tokens[1], blob).await), (first, second));
    }
    agent.end(&world, run, 0, Tail::default()).await;
    while world.get("/api/v1/jobs/1?wait_s=60", &world.alice).await.json::<JobView>().tasks.done == 0 {}
    assert_eq!(got(&tokens[0], &input).await, 404, "its run is over");
}

/// The files that a task left are had under its name.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_task_left_is_its_users() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let files = format!("/api/v1/jobs/{job}/tasks/1/files");
    assert_eq!(world.get(&files, &world.alice).await.status, 404, "it left none yet");
    let session = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&session, MachineId::new(0));
    let content = vec![7; 200_000];
    let run = agent.start_next(&world).await;
    let to = left_by(run, &path(&content));
    let sent = world.call("PUT", &to, &session.reveal(), Body::from(content.clone())).await;
    let end = End { files: Some(sent.json()), ..exited(0, Tail::default()) };
    agent.end_with(&world, run, end).await;
    while world.get(&format!("/api/v1/jobs/{job}?wait_s=60"), &world.alice).await.json::<JobView>().tasks.done
        == 0
    {}
    let got = world.get(&files, &world.alice).await;
    assert_eq!((got.status, got.body), (200, content.clone()));
    assert_eq!(world.get(&files, &world.bob).await.status, 404);
    assert_eq!(world.get(&path(&content), &world.bob).await.status, 404);
}

/// Whoever has a machine and is a user would get another's file by its hash as what their own task left.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_left_what_its_agent_sent_and_nothing_else() {
    let world = World::new().await;
    let session = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&session, MachineId::new(0));
    let mut agent = Agent::join(&world, "m1").await;
    let secret = world.call("PUT", &path(b"secret"), &world.alice, Body::from("secret")).await;
    let secret: Stored = secret.json();
    let job = world.submit(&world.bob, 1).await;
    let files = format!("/api/v1/jobs/{job}/tasks/1/files");
    let run = agent.start_next(&world).await;
    let left = End { files: Some(secret.clone()), ..exited(0, Tail::default()) };
    let kept = End { checkpoint: Some(secret.clone()), ..exited(0, Tail::default()) };
    for claim in [&left, &kept] {
        agent.end_with(&world, run, claim.clone()).await;
        while !matches!(agent.hear().await, ToAgent::StoreAgain { run: again } if again == run) {}
        assert_eq!(world.get(&files, &world.bob).await.status, 404);
        assert_eq!(world.get(&path(b"secret"), &world.bob).await.status, 404);
    }
    // Who has it may send it.
    let to = left_by(run, &path(b"secret"));
    let sent = world.call("PUT", &to, &session.reveal(), Body::from("secret")).await;
    assert_eq!(sent.status, 200, "{sent}");
    agent.end_with(&world, run, left).await;
    while !matches!(agent.hear().await, ToAgent::Settled { run: settled, accepted: true } if settled == run) {
    }
    assert_eq!(world.get(&files, &world.bob).await.body, b"secret");
}

/// Of more files than `UPLOADS_OF_AGENT_MAX`, the oldest has to be sent again.
#[tokio::test(flavor = "multi_thread")]
async fn so_many_uploads_of_an_agent_are_remembered() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    world.submit(&world.bob, 2).await;
    let most = documented("UPLOADS_OF_AGENT_MAX");
    let hash = |number: u64| BlobHash::of(&number.to_le_bytes());
    let send = async |number: u64| {
        let blob = hash(number);
        let run = RunId { task: TaskId::new(0), number: 1 };
        let stored = Input::Stored { agent: MachineId::new(0), run, blob, bytes: 1 };
        world.app.desk.input(stored).await.unwrap();
    };
    let left = |number: u64| {
        let files = Some(Stored { blob: hash(number), size: 1 });
        End { files, ..exited(0, Tail::default()) }
    };
    for number in 0..most {
        send(number).await;
    }
    let first = agent.start_next(&world).await;
    agent.end_with(&world, first, left(0)).await;
    while !matches!(agent.hear().await, ToAgent::Settled { run, accepted: true } if run == first) {}
    send(most).await;
    let second = agent.start_next(&world).await;
    agent.end_with(&world, second, left(0)).await;
    while !matches!(agent.hear().await, ToAgent::StoreAgain { run } if run == second) {}
    agent.end_with(&world, second, left(1)).await;
    while !matches!(agent.hear().await, ToAgent::Settled { run, accepted: true } if run == second) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_get_files_while_they_are_connected() {
    let world = World::new().await;
    let token = Token::generate(TokenKind::Session).unwrap();
    let first = RunId { task: TaskId::new(0), number: 1 };
    let put_at = async |path: &str| world.call("PUT", path, &token.reveal(), Body::from("x")).await.status;
    let put = async || put_at(&left_by(first, &path(b"x"))).await;
    assert_eq!(put().await, 401);
    let mut agent = Agent::join(&world, "m1").await;
    world.app.agents.add(&token, MachineId::new(0));
    assert_eq!(put().await, 403, "it has no run that could leave a file");
    world.submit(&world.bob, 1).await;
    let run = agent.start_next(&world).await;
    assert_eq!(run, first);
    assert_eq!(put().await, 200);
    assert_eq!(put_at(&path(b"x")).await, 400, "of nobody knows which run");
    for other in [RunId { number: 2, ..run }, RunId { task: TaskId::new(u32::MAX as usize), number: 1 }] {
        assert_eq!(put_at(&left_by(other, &path(b"x"))).await, 403, "{other}");
    }
    agent.end(&world, run, 0, Tail::default()).await;
    while !matches!(agent.hear().await, ToAgent::Settled { .. }) {}
    assert_eq!(put().await, 403, "its run is over");
    world.app.agents.remove(&token);
    assert_eq!(put().await, 401);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_kept_is_refused() {
    let world = World::new().await;
    let more_than_space = vec![7; 2 << 20];
    let broken = stream::iter([Ok(Bytes::from("x")), Err(io::Error::other("gone"))]);
    for (path, body, status) in [
        (path(b"x"), Body::from("y"), 422),
        ("/api/v1/blobs/nonsense".to_owned(), Body::from("y"), 400),
        (path(b"x").to_uppercase().replace("/API/V1/BLOBS", "/api/v1/blobs"), Body::from("x"), 400),
        (path(&more_than_space), Body::from(more_than_space), 507),
        (path(b"x"), Body::from_stream(broken), 400),
    ] {
        let reply = world.call("PUT", &path, &world.alice, body).await;
        assert_eq!(reply.status, status, "{reply}");
    }
    // Who says that as much comes as may be is let in.
    for (content, bytes, status) in [("y", BLOB_BYTES_MAX, 200), ("x", BLOB_BYTES_MAX + 1, 413)] {
        let to = path(content.as_bytes());
        let mut request = request("PUT", &to, &world.alice, Body::from(content));
        request.headers_mut().insert("content-length", bytes.into());
        assert_eq!(world.send(request).await.status, status, "{bytes}");
    }
    assert_eq!(world.get(&path(b"x"), &world.alice).await.status, 404, "nothing is left of it");
}

/// A run whose files find no space stays until they do, and everybody who asks is told why.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_files_find_no_space_says_why_it_stays() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let token = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&token, MachineId::new(0));
    let job = world.submit(&world.bob, 2).await;
    let run = agent.start_next(&world).await;
    let put = async |content: Vec<u8>| {
        let to = left_by(run, &path(&content));
        world.call("PUT", &to, &token.reveal(), Body::from(content)).await.status
    };
    let said = async || {
        let get = async |path: &str| world.get(path, &world.bob).await.json::<Value>();
        let [job, task, why] = [
            get(&format!("/api/v1/jobs/{job}")).await["waits_for"].take(),
            get(&format!("/api/v1/jobs/{job}/tasks/1")).await["open_runs"][0]["why"].take(),
            get(&format!("/api/v1/jobs/{job}/tasks/1/explain")).await["summary"].take(),
        ];
        [job, task, why].map(|text| text.as_str().unwrap_or_default().to_owned())
    };
    let is_said = |texts: &[String; 3]| {
        texts.each_ref().map(|text| text.contains("space") && text.contains("coordinator's disk"))
    };
    agent.beat(&world, 1, vec![(run, Staging::Out)]).await;
    assert_eq!(is_said(&said().await), [false; 3]);
    for _ in 0..3 {
        assert_eq!(put(vec![7; 2 << 20]).await, 507);
        agent.beat(&world, 2, vec![(run, Staging::Out)]).await;
        let told = said().await;
        assert_eq!(is_said(&told), [true; 3], "{told:?}");
        assert!(told[1].contains("m1 keeps that"), "{told:?}");
    }
    // Another file says nothing of this one; that no file is on its way any more does.
    assert_eq!(put(b"small".to_vec()).await, 200);
    assert_eq!(is_said(&said().await), [true; 3]);
    agent.beat(&world, 3, Vec::new()).await;
    assert_eq!(is_said(&said().await), [false; 3]);
    // One whose space was found, too; and an agent that is gone says it again when it is back.
    let taken = Input::Stored {
        agent: MachineId::new(0),
        run,
        blob: BlobHash::of(&vec![7; 2 << 20]),
        bytes: 2 << 20,
    };
    for until in [taken, Input::Disconnected { session: agent.session() }] {
        assert_eq!(put(vec![7; 2 << 20]).await, 507);
        agent.beat(&world, 4, vec![(run, Staging::Out)]).await;
        assert_eq!(is_said(&said().await), [true; 3]);
        world.app.desk.input(until).await.unwrap();
        assert_eq!(is_said(&said().await), [false; 3]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_nobody_can_ask_for_are_removed() {
    let world = World::new().await;
    let put = async |content: &'static str| {
        let reply = world.call("PUT", &path(content.as_bytes()), &world.alice, Body::from(content)).await;
        reply.json::<Stored>().blob
    };
    let (input, stdin, stray) = (put("input").await, put("stdin").await, put("stray").await);
    let job = json!({"command": ["true"], "inputs": [{"path": "a", "blob": input}], "stdin": stdin});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 201);
    let now = world.app.desk.now();
    let gone = async |before| tidy(&world.app, before).await.unwrap();
    assert_eq!(gone(Time::ZERO).await.blobs, 0, "all are young");
    let later = Time::from_nanos(now.nanos() + 1_000_000_000);
    assert_eq!(gone(later).await.blobs, 1);
    for (blob, status) in [(input, 200), (stdin, 200), (stray, 404)] {
        let found = world.call("HEAD", &format!("/api/v1/blobs/{blob}"), &world.alice, Body::empty()).await;
        assert_eq!(found.status, status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_to_measure_with_are_counted_and_bounded() {
    let world = World::new().await;
    for (bytes, status) in [(0, 200), (70_000, 200), (PROBE_BYTES_MAX, 200), (PROBE_BYTES_MAX + 1, 413)] {
        let reply = world.call("PUT", "/api/v1/probe", &world.alice, Body::from(vec![1; bytes])).await;
        assert_eq!(reply.status, status, "{reply}");
        if status == 200 {
            assert_eq!(reply.json::<Swallowed>().bytes, bytes as u64);
        }
    }
    let reply = world.call("PUT", "/api/v1/probe", "glu_nobody", Body::from("x")).await;
    assert_eq!(reply.status, 401, "{reply}");
}
