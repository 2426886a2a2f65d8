//! What is said of a job that waits: in its status, where it is explained, and where all that waits is told of.

use crate::agent::{Agent, exited, profile};
use crate::world::World;
use axum::body::Body;
use gleaner_wire::api::{ExplanationView, JobView, Preview, Submitted};
use gleaner_wire::day::WaitList;
use gleaner_wire::session::{Profile, Tail};
use serde_json::{Value, json};

async fn submit(world: &World, spec: Value) -> u32 {
    world.post("/api/v1/jobs", &world.alice, &spec).await.json::<Submitted>().job.0
}

async fn status(world: &World, job: u32) -> String {
    let job: JobView = world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await.json();
    job.waits_for.unwrap_or_default()
}

async fn explained(world: &World, path: &str) -> String {
    let told: ExplanationView = world.get(&format!("/api/v1/jobs/{path}"), &world.alice).await.json();
    told.summary
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_what_waits_says_how_long_nothing_begins() {
    let mut world = World::new().await;
    let agent = Agent::join(&world, "m1").await;
    let before = world.submit(&world.alice, 1).await;
    drop(agent);
    world.restore();
    let job = world.submit(&world.alice, 1).await;
    let pause = "the end of the pause after `gleaner journal restore`, in 6";
    for job in [before, job] {
        let told = status(&world, job).await;
        assert!(told.starts_with(pause), "{told}");
        let told = explained(&world, &format!("{job}/tasks/1/explain")).await;
        assert!(told.starts_with(&format!("it waits for {pause}")), "{told}");
        let now = world.app.desk.now().seconds();
        let told = explained(&world, &format!("{job}/tasks/1/explain?at_s={now}")).await;
        assert!(told.starts_with(&format!("it waits for {pause}")), "{told}");
    }
    let waits: WaitList = world.get("/api/v1/waits", &world.alice).await.json();
    assert!(waits.groups.iter().all(|group| group.explanation.summary.contains(pause)), "{waits:?}");
    let preview = world.post("/api/v1/jobs/preview", &world.alice, &json!({"command": ["true"]})).await;
    let told = preview.json::<Value>()["explanation"]["summary"].to_string();
    assert!(told.contains(pause), "{told}");
}

/// The first task of a job may be over, or held, while others wait.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_waits_for_is_what_a_task_waits_for_that_does() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 2).await;
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 0, Tail::default()).await;
    // The machine is sent the second task, and does not say that it begins.
    agent.take_next().await;
    assert_eq!(status(&world, job).await, "its start on m1, to which it was sent");
    assert_eq!(
        explained(&world, &format!("{job}/tasks/2/explain")).await,
        "it waits for its start on m1, to which it was sent"
    );

    let job = world.submit(&world.alice, 2).await;
    let hold = world.post(&format!("/api/v1/jobs/{job}/hold"), &world.alice, &json!({"tasks": [1]})).await;
    assert_eq!(hold.status, 200, "{hold}");
    let told = status(&world, job).await;
    assert!(told.starts_with("a machine: 1 of 1 machines have no core free"), "{told}");
}

/// What rests is not about to start.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_task_rests_says_so() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = submit(&world, json!({"command": ["false"], "retries": 3})).await;
    let run = agent.start_next(&world).await;
    agent.end_with(&world, run, exited(1, Tail::default())).await;
    let told = status(&world, job).await;
    assert!(told.starts_with("its next try, in 1 s: it failed a moment ago: "), "{told}");
    assert!(told.ends_with('1'), "its exit code: {told}");

    let spec = json!({"command": ["false"], "checkpoint": {"folder": true, "exit_code": 85}});
    let job = submit(&world, spec).await;
    let run = agent.start_next(&world).await;
    agent.end_with(&world, run, exited(85, Tail::default())).await;
    let told = status(&world, job).await;
    assert!(told.ends_with(" s: its program asked to be run again a moment ago, by exit code 85"), "{told}");
}

/// The clause that keeps a task from there is none that its user wrote.
#[tokio::test(flavor = "multi_thread")]
async fn where_a_try_failed_is_told_in_words() {
    let world = World::new().await;
    let mut agents = [Agent::join(&world, "m1").await, Agent::join(&world, "m2").await];
    let job = submit(&world, json!({"command": ["false"], "retries": 3})).await;
    let run = agents[0].start_next(&world).await;
    agents[0].end_with(&world, run, exited(1, Tail::default())).await;
    agents[1].take_next().await;
    let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
    let told: Value = world.get(&path, &world.alice).await.json();
    let rule = "failed it before, or could not start its program; others can take it";
    assert_eq!(told["ruled_out"][0], json!({"rule": rule, "count": 1, "machines": ["m1"]}), "{told}");
    assert!(!told.to_string().contains("TARGET"), "{told}");
}

/// Nobody has to find out by waiting that there are too few machines.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_still_answer_a_task_of_several_machines_is_told() {
    let world = World::new().await;
    let mut agents = [Agent::join(&world, "m1").await, Agent::join(&world, "m2").await];
    let few = |told: &Value| {
        told["remedies"].to_string().contains("3 have to give the same answer, and 2 machines")
    };
    let on_m1 = "TARGET.Machine == \"m1\"";
    for (quorum, requirements, lacking) in [
        (2, None, None),
        (3, None, Some("3 have to give the same answer, and 2 machines can take it")),
        (2, Some(on_m1), Some("2 have to give the same answer, and 1 machine can take it")),
    ] {
        let spec = json!({"command": ["true"], "quorum": quorum, "requirements": requirements});
        let preview: Preview = world.post("/api/v1/jobs/preview", &world.alice, &spec).await.json();
        let told = preview.explanation.find_too_few();
        let is_so =
            lacking.map_or(told.is_none(), |lacking| told.is_some_and(|told| told.starts_with(lacking)));
        assert!(is_so, "{quorum} {requirements:?}: {preview:?}");
    }
    let job = submit(&world, json!({"command": ["true"], "quorum": 3})).await;
    for agent in &mut agents {
        agent.start_next(&world).await;
    }
    let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
    let told: Value = world.get(&path, &world.alice).await.json();
    let ruled_out = told["ruled_out"].as_array().and_then(|all| all.last()).expect("two machines");
    assert_eq!(ruled_out["machines"], json!(["m1", "m2"]), "{told}");
    assert!(ruled_out["rule"].to_string().contains("have answered it, are at it"), "{told}");
    assert_eq!((&told["ratings"], few(&told)), (&json!([]), true), "{told}");
    Agent::join(&world, "m3").await;
    let told: Value = world.get(&path, &world.alice).await.json();
    assert!(!few(&told), "{told}");
}

/// Whoever waits for days would cancel a job that no machine could ever take.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_waits_for_the_only_machine_that_could_take_it_while_that_is_closed() {
    let world = World::new().await;
    let _small = Agent::join_with(&world, "small", Profile { slots: 2, cores: 2, ..profile() }).await;
    let mut large = Agent::join_with(&world, "large", Profile { slots: 8, cores: 8, ..profile() }).await;
    let filling = json!({"command": ["true"], "needs": {"cores": 8}});
    submit(&world, filling.clone()).await;
    large.start_next(&world).await;
    let drained = world.post("/api/v1/machines/large/drain", &world.root, &json!({})).await;
    assert_eq!(drained.status, 200, "{drained}");
    for policy in ["queue/easy", "bertasi/greedy"] {
        let body = Body::from(json!({"preset": policy}).to_string());
        assert_eq!(world.call("PUT", "/api/v1/policy", &world.root, body).await.status, 200);
        let job = submit(&world, filling.clone()).await;
        let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
        let told: ExplanationView = world.get(&path, &world.alice).await.json();
        let why = "large, which takes no tasks now: closed by user root, since 20";
        assert!(told.summary.starts_with(&format!("it waits for {why}")), "{policy}: {told:?}");
        assert!(!told.summary.contains("ever"), "{policy}: {told:?}");
        assert_eq!(told.ruled_out.iter().map(|ruled| ruled.count).sum::<usize>(), 2, "{policy}: {told:?}");
        let again = "once it takes tasks again and once 8 of its cores are free, on 1 machine";
        assert!(told.remedies.iter().any(|remedy| remedy == again), "{policy}: {told:?}");
        let told = status(&world, job).await;
        assert!(told.starts_with(why) && told.contains("1 of 2 machines take no tasks now"), "{told}");
        assert!(!told.contains("cores free"), "{policy}: each machine once: {told}");
    }
    let never = submit(&world, json!({"command": ["true"], "needs": {"cores": 9}})).await;
    let path = format!("/api/v1/jobs/{never}/tasks/0/explain");
    assert!(!explained(&world, &path.replace("/api/v1/jobs/", "")).await.contains("large"));
}
