//! What is over is told from the store as it was from memory, and can be run again from there.

use crate::agent::{Agent, exited};
use crate::world::{Reply, World};
use axum::body::Body;
use gleaner_server::desk::{Administration, Order, Requester, Terms};
use gleaner_wire::api::Role;
use gleaner_wire::session::Tail;
use serde_json::{Value, json};
use std::time::Duration;

const JOB: &str = "/api/v1/jobs/1";

fn tail(text: &str) -> Tail {
    Tail { offset: 0, bytes: text.as_bytes().to_vec(), dropped: 0 }
}

/// All that can be asked of a job and of two of its tasks.
async fn all_of_it(world: &World) -> Vec<(String, String)> {
    let of_tasks =
        ["", "/history", "/output", "/output?run=1", "/explain", "/explain?run=1", "/explain?at_s=NOW"]
            .iter()
            .flat_map(|what| [1, 2].map(|task| format!("{JOB}/tasks/{task}{what}")))
            .collect::<Vec<_>>();
    let of_jobs = [
        JOB.to_owned(),
        "/api/v1/jobs".to_owned(),
        "/api/v1/jobs?state=failed".to_owned(),
        "/api/v1/jobs?state=waiting".to_owned(),
        format!("{JOB}/failures"),
        format!("{JOB}/tasks"),
        format!("{JOB}/tasks?phase=failed"),
        format!("{JOB}/tasks?from=1&limit=1"),
        format!("{JOB}/tasks?limit=1"),
    ];
    let paths: Vec<String> = of_jobs.into_iter().chain(of_tasks).collect();
    told_at(world, &paths.iter().map(String::as_str).collect::<Vec<_>>()).await
}

async fn told_at(world: &World, paths: &[&str]) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for path in paths {
        let now = world.app.desk.now().seconds().to_string();
        let reply = world.get(&path.replace("NOW", &now), &world.alice).await;
        assert_eq!(reply.status, 200, "{path}: {reply}");
        let mut text = String::from_utf8_lossy(&reply.body).into_owned();
        // The moment of the question.
        if let Some(at) =
            text.find("\"at_s\":").filter(|_| path.ends_with("/explain") || path.ends_with("NOW"))
        {
            let end = text[at..].find(',').expect("more follows");
            text.replace_range(at..at + end, "");
        }
        told.push(((*path).to_owned(), text));
    }
    told
}

/// Nothing that is over stays in memory.
async fn forget(world: &mut World) {
    forget_with(world, Terms { over_max: 0, ..Terms::default() }).await;
}

pub(crate) async fn forget_with(world: &mut World, terms: Terms) {
    world.restart_with(terms);
    while world.app.desk.look(|desk, _| desk.ledger().in_memory()).await.unwrap() != (0, 0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Of a compacted journal all is told as before, but why a run was given that began before.
async fn expect_told_but_for_decisions(world: &World, before: &[(String, String)]) {
    let is_decision = |path: &str| path.ends_with("/explain?run=1");
    for (path, _) in before.iter().filter(|(path, _)| is_decision(path)) {
        let reply = world.get(path, &world.alice).await;
        assert!(
            reply.status == 404 && reply.to_string().contains("the journal was compacted at row"),
            "{reply}"
        );
    }
    let told = |(path, _): &&(String, String)| !is_decision(path);
    let past = world.get(&format!("{JOB}/tasks/1/explain?at_s=1"), &world.alice).await;
    assert!(past.status == 404 && past.to_string().contains("the journal was compacted at row"), "{past}");
    let paths: Vec<&str> = before.iter().filter(told).map(|(path, _)| path.as_str()).collect();
    let after = told_at(world, &paths).await;
    assert!(after.iter().eq(before.iter().filter(told)), "{after:#?}");
}

async fn submit_under_key(world: &World, spec: &Value) -> Reply {
    let body = Body::from(serde_json::to_vec(spec).unwrap());
    let mut request = crate::world::request("POST", "/api/v1/jobs", &world.alice, body);
    request.headers_mut().insert("idempotency-key", "mine".parse().unwrap());
    world.send(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_over_is_told_as_before_and_runs_again() {
    let mut world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let spec = json!({"command": ["true"], "confinement": "sandbox", "name": "two",
        "tasks": {"array": {"first": 1, "last": 2, "step": 1}}});
    assert_eq!(submit_under_key(&world, &spec).await.status, 201);
    let one = agent.start_next(&world).await;
    agent.end(&world, one, 0, tail("fine\n")).await;
    let two = agent.start_next(&world).await;
    agent.end_with(&world, two, exited(3, tail("alas\n"))).await;
    let state = async |world: &World| {
        let view = world.get(&format!("{JOB}?wait_s=60"), &world.alice).await.json::<Value>();
        view["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&world).await, "failed");
    let before = all_of_it(&world).await;

    forget(&mut world).await;
    assert_eq!(all_of_it(&world).await, before);
    assert_eq!(world.get(JOB, &world.bob).await.status, 404, "another's job is nobody's business");
    let again = submit_under_key(&world, &spec).await;
    assert_eq!(
        (again.status, again.json::<Value>()["job"].as_u64()),
        (201, Some(1)),
        "a key counts once: {again}"
    );
    let other = submit_under_key(&world, &json!({"command": ["false"]})).await;
    assert_eq!(other.status, 409, "{other}");
    for order in ["cancel", "hold", "release"] {
        let reply = world.post(&format!("{JOB}/{order}"), &world.alice, &json!({})).await;
        assert_eq!(
            (reply.status, reply.json::<Value>()["tasks"].as_u64()),
            (200, Some(0)),
            "{order}: {reply}"
        );
    }
    // A table that was lost, or an older copy of it, is made of the journal again.
    world.disk().lose_past();
    forget(&mut world).await;
    assert_eq!(all_of_it(&world).await, before);

    assert!(world.compact() > 0, "agents' reports go");
    forget(&mut world).await;
    expect_told_but_for_decisions(&world, &before).await;

    // Its lease goes on for a while, and it is not there.
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    world
        .app
        .desk
        .order(
            by,
            Order::Administer(Administration::SetOpen { machine: "m1".to_owned(), open: false, why: None }),
        )
        .await
        .unwrap()
        .unwrap();
    let reply = world.post(&format!("{JOB}/rerun"), &world.alice, &json!({"failed": true})).await;
    assert_eq!((reply.status, reply.json::<Value>()["tasks"].as_u64()), (200, Some(1)), "{reply}");
    let view = world.get(JOB, &world.alice).await.json::<Value>();
    assert_eq!(view["state"], "waiting", "{view}");
    let mut agent = Agent::join(&world, "m2").await;
    let run = agent.start_next(&world).await;
    assert_eq!((run.task, run.number), (two.task, 2), "runs are numbered on");
    agent.end(&world, run, 0, tail("better\n")).await;
    assert_eq!(state(&world).await, "done");
    forget(&mut world).await;
    assert_eq!(state(&world).await, "done");
    let runs = world.get(&format!("{JOB}/tasks/2"), &world.alice).await.json::<Value>()["runs"].as_u64();
    assert_eq!(runs, Some(2));
    for (run, text) in [("", "better\n"), ("?run=1", "alas\n")] {
        let output = world.get(&format!("{JOB}/tasks/2/output{run}"), &world.alice).await;
        assert_eq!(output.body, text.as_bytes(), "{output}");
    }
}

/// It was over where the journal begins, ran again, and is over once more.
#[tokio::test(flavor = "multi_thread")]
async fn between_two_ends_of_a_task_the_first_is_explained() {
    let mut world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    agent.end_with(&world, run, exited(3, tail("alas\n"))).await;
    assert_eq!(world.get(&format!("{JOB}?wait_s=60"), &world.alice).await.status, 200);
    forget(&mut world).await;
    // Its last row stays, and that is to be no row about the task.
    world.restart();
    assert!(world.compact() > 0);
    forget(&mut world).await;
    let path = format!("{JOB}/tasks/1/explain?at_s={}", world.app.desk.now().seconds());
    let before = told_at(&world, &[path.as_str()]).await;
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    let close =
        Order::Administer(Administration::SetOpen { machine: "m1".to_owned(), open: false, why: None });
    world.app.desk.order(by, close).await.unwrap().unwrap();
    assert_eq!(world.post(&format!("{JOB}/rerun"), &world.alice, &json!({})).await.status, 200);
    let mut agent = Agent::join(&world, "m2").await;
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 0, tail("better\n")).await;
    assert_eq!(world.get(&format!("{JOB}?wait_s=60"), &world.alice).await.status, 200);
    forget(&mut world).await;
    assert_eq!(told_at(&world, &[path.as_str()]).await, before);
}
