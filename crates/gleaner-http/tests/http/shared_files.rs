//! Files that jobs name, and those that they leave: each is there as long as the results of one of these jobs are.

use crate::agent::{Agent, exited, left_by};
use crate::retired::forget_with;
use crate::world::World;
use axum::body::Body;
use gleaner_net::{Token, TokenKind};
use gleaner_server::desk::{Administration, Keeping, Order, Requester, Terms};
use gleaner_server::tidying::{remove_due, tidy};
use gleaner_units::{MachineId, Span, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::api::Role;
use gleaner_wire::session::{End, Stored, Tail};
use serde_json::json;

const AT_ONCE: Option<Span> = Some(Span::from_nanos(1));

fn terms(results: Option<Span>, records: Option<Span>) -> Terms {
    Terms { over_max: 0, keeping: Keeping { results, records }, ..Terms::default() }
}

async fn put(world: &World, content: &'static str, token: &str) -> Stored {
    let path = format!("/api/v1/blobs/{}", blake3::hash(content.as_bytes()));
    world.call("PUT", &path, token, Body::from(content)).await.json()
}

/// Whether a file is on the disk, once what nobody needs is not.
async fn is_there(world: &World, file: &BlobHash) -> bool {
    tidy(&world.app, Time::NEVER).await.unwrap();
    world.get(&format!("/api/v1/blobs/{file}"), &world.root).await.status == 200
}

async fn submit(world: &World, token: &str, input: Option<&BlobHash>) {
    let inputs: Vec<_> = input.iter().map(|input| json!({"path": "a", "blob": input})).collect();
    let job = json!({"command": ["true"], "inputs": inputs, "outputs": ["out"]});
    let reply = world.post("/api/v1/jobs", token, &job).await;
    assert_eq!(reply.status, 201, "{reply}");
}

/// An agent that has joined, and what it may send and get files by.
async fn agent(world: &World, name: &str, number: usize) -> (Agent, String) {
    let agent = Agent::join(world, name).await;
    let session = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&session, MachineId::new(number));
    (agent, session.reveal())
}

/// Runs the next task, which leaves a file.
async fn run_next(world: &World, (agent, session): &mut (Agent, String), left: &'static str) {
    let run = agent.start_next(world).await;
    let path = left_by(run, &format!("/api/v1/blobs/{}", blake3::hash(left.as_bytes())));
    let files = world.call("PUT", &path, session, Body::from(left)).await.json();
    agent.end_with(world, run, End { files: Some(files), ..exited(0, Tail::default()) }).await;
}

async fn over(world: &World, job: u32, token: &str) {
    assert_eq!(world.get(&format!("/api/v1/jobs/{job}?wait_s=60"), token).await.status, 200);
}

/// Its agent is not there after a restart, though its lease goes on.
async fn close(world: &World, machine: &str) {
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    let close =
        Order::Administer(Administration::SetOpen { machine: machine.to_owned(), open: false, why: None });
    world.app.desk.order(by, close).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_again_after_its_results_were_removed_leaves_new_ones() {
    let mut world = World::new().await;
    let input = put(&world, "input", &world.alice).await.blob;
    let mut m1 = agent(&world, "m1", 0).await;
    for (job, reads) in [(1, None), (2, Some(&input))] {
        submit(&world, &world.alice, reads).await;
        run_next(&world, &mut m1, "old").await;
        over(&world, job, &world.alice).await;
    }
    close(&world, "m1").await;
    let old = BlobHash::of(b"old");
    assert!(is_there(&world, &old).await && is_there(&world, &input).await);

    forget_with(&mut world, terms(AT_ONCE, None)).await;
    assert_eq!(remove_due(&world.app).await.unwrap().jobs, 2);
    assert!(!is_there(&world, &old).await && !is_there(&world, &input).await);
    let files = "/api/v1/jobs/1/tasks/0/files";
    assert_eq!(world.get(files, &world.alice).await.status, 410);

    // What a job read is not had back, so it is not begun.
    let refused = world.post("/api/v1/jobs/2/rerun", &world.alice, &json!({})).await;
    assert!(refused.status == 409 && refused.to_string().contains("submit"), "{refused}");
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!(rerun.status, 200, "{rerun}");
    let mut m2 = agent(&world, "m2", 1).await;
    run_next(&world, &mut m2, "new").await;
    over(&world, 1, &world.alice).await;
    close(&world, "m2").await;
    for _ in 0..2 {
        tidy(&world.app, Time::NEVER).await.unwrap();
        let got = world.get(files, &world.alice).await;
        assert_eq!((got.status, got.body.as_slice()), (200, &b"new"[..]), "{got}");
        forget_with(&mut world, terms(None, None)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_of_several_jobs_goes_with_the_last_of_them() {
    let mut world = World::new().await;
    let input = put(&world, "input", &world.alice).await.blob;
    put(&world, "input", &world.bob).await;
    let mut m1 = agent(&world, "m1", 0).await;
    let owners = [world.alice.clone(), world.alice.clone(), world.bob.clone()];
    for (job, token) in (1..).zip(&owners) {
        submit(&world, token, Some(&input)).await;
        run_next(&world, &mut m1, "left").await;
        over(&world, job, token).await;
    }
    close(&world, "m1").await;
    let set_kept = async |world: &World, job: u32, keep: bool| {
        let (path, token) = (format!("/api/v1/jobs/{job}/results"), &owners[job as usize - 1]);
        let body = Body::from(json!({ "keep": keep }).to_string());
        assert_eq!(world.call("PUT", &path, token, body).await.status, 200);
    };
    // What is kept stays; the results of the others are removed, one after the other.
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    for job in 1..=3 {
        set_kept(&world, job, true).await;
    }
    for job in 1..=3 {
        remove_due(&world.app).await.unwrap();
        assert!(is_there(&world, &input).await, "job {job} names it");
        set_kept(&world, job, false).await;
    }
    remove_due(&world.app).await.unwrap();
    assert!(!is_there(&world, &input).await, "nobody names it");
}
