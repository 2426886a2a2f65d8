//! What the page is told beside lists: who asks, why things wait and fail, and the last day. Everybody sees what is theirs.

use crate::agent::{Agent, exited};
use crate::world::{Reply, World};
use gleaner_wire::api::{ExplanationView, Role};
use gleaner_wire::day::{
    DayView, FailureList, MachineDayList, Me, PresetList, RunList, RunState, UseList, WaitList,
};
use gleaner_wire::session::{End, Tail};
use serde_json::json;

async fn ends(world: &World, agent: &mut Agent, end: End) {
    let run = agent.start_next(world).await;
    agent.end_with(world, run, end).await;
}

fn used(code: i32, seconds: f64) -> End {
    let mut end = exited(code, Tail::default());
    (end.usage.elapsed_s, end.usage.cpu_s, end.usage.memory_bytes) = (seconds, seconds / 2.0, 1 << 20);
    end
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_is_told_who_they_are() {
    let world = World::new().await;
    for (token, user, role) in [(&world.root, "root", Role::Admin), (&world.bob, "bob", Role::User)] {
        let me: Me = world.get("/api/v1/me", token).await.json();
        assert_eq!((me.user.as_str(), me.role), (user, role));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_the_same_is_told_together() {
    let world = World::new().await;
    for token in [&world.alice, &world.alice, &world.bob] {
        world.submit(token, 3).await;
    }
    let large = json!({"command": ["true"], "needs": {"cores": 1, "memory": 1_u64 << 50, "disk": 0, "time_limit_s": 0.0}});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &large).await.status, 201);
    let _agent = Agent::join(&world, "m1").await;
    for (token, expected) in [(&world.root, 9), (&world.alice, 6), (&world.bob, 3)] {
        let waits: WaitList = world.get("/api/v1/waits", token).await.json();
        let tasks: u64 = waits.groups.iter().map(|group| group.tasks).sum();
        // One of them was sent to the machine, and counts as waiting until it starts.
        assert!(tasks >= expected, "{waits:?}");
        let group = waits.groups.iter().find(|group| group.jobs.contains(&gleaner_wire::JobId(4)));
        assert_eq!(group.is_some(), token != &world.bob, "{waits:?}");
        if let Some(group) = group {
            assert!(group.explanation.ruled_out[0].rule.contains("memory"), "{group:?}");
            assert!(!group.explanation.remedies.is_empty(), "{group:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_told_by_reason() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 4).await;
    let mut agent = Agent::join(&world, "m1").await;
    for code in [3, 0, 3, 4] {
        ends(&world, &mut agent, used(code, 1.0)).await;
    }
    let path = format!("/api/v1/jobs/{job}/failures");
    let told: FailureList = world.get(&path, &world.alice).await.json();
    let told: Vec<(&str, u32)> =
        told.failures.iter().map(|group| (group.reason.as_str(), group.tasks)).collect();
    assert_eq!(told, [("its program ended with exit code 3", 2), ("its program ended with exit code 4", 1)]);
    assert_eq!(world.get(&path, &world.bob).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_day_has_runs_and_use_for_whom_they_are() {
    let world = World::new().await;
    world.submit(&world.alice, 2).await;
    let mut agent = Agent::join(&world, "m1").await;
    for code in [0, 1] {
        ends(&world, &mut agent, used(code, 8.0)).await;
    }
    world.submit(&world.bob, 1).await;
    agent.start_next(&world).await;
    let seen = async |path: &str, token: &str| -> Reply {
        // What was said before is committed when the desk answers, and is in the day then.
        assert_eq!(world.get("/healthz", token).await.status, 200);
        world.get(path, token).await
    };
    let runs: RunList = seen("/api/v1/day/runs", &world.root).await.json();
    let mut states: Vec<_> = runs.runs.iter().map(|run| (run.job.0, run.state)).collect();
    states.sort_by_key(|(job, state)| (*job, *state == RunState::Failed));
    assert_eq!(states, [(1, RunState::Done), (1, RunState::Failed), (2, RunState::Running)]);
    for (token, jobs) in [(&world.alice, vec![1, 1]), (&world.bob, vec![2])] {
        let runs: RunList = seen("/api/v1/day/runs", token).await.json();
        assert_eq!(runs.runs.iter().map(|run| run.job.0).collect::<Vec<_>>(), jobs);
    }
    let latest: RunList = seen("/api/v1/day/runs?limit=1", &world.root).await.json();
    assert_eq!((latest.runs.len(), latest.runs[0].job.0, latest.left_out), (1, 2, 2));
    let all: UseList = seen("/api/v1/day/use", &world.root).await.json();
    let of_alice = &all.users[0];
    assert_eq!((of_alice.runs, of_alice.done, of_alice.failed), (2, 1, 1));
    assert_eq!((of_alice.machine_s, of_alice.core_s, of_alice.wasted_core_s), (16.0, 16.0, 8.0));
    assert_eq!(of_alice.memory_bytes, 1 << 20);
    assert_eq!((all.jobs[0].time_mean_s, all.jobs[0].cores_used, all.jobs[0].times[7]), (8.0, 0.5, 2));
    let none: UseList = seen("/api/v1/day/use", &world.bob).await.json();
    assert!(none.users.is_empty() && none.jobs.is_empty(), "{none:?}");
    let machines: MachineDayList = seen("/api/v1/day/machines", &world.bob).await.json();
    assert_eq!((machines.machines[0].machine.as_str(), machines.next), ("m1", None));
    let day: DayView = seen("/api/v1/day", &world.bob).await.json();
    assert_eq!(day.queue.len(), 1, "the first sample, of the start");
    assert_eq!(seen("/api/v1/day/runs?limit=20001", &world.bob).await.status, 422);
}

/// By a snapshot and by the rows behind it, one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn the_day_is_there_again_after_a_start() {
    let mut world = World::new().await;
    world.submit(&world.alice, 3).await;
    let mut agent = Agent::join(&world, "m1").await;
    for code in [0, 1] {
        ends(&world, &mut agent, used(code, 8.0)).await;
    }
    agent.start_next(&world).await;
    let seen = async |world: &World| -> (RunList, UseList, MachineDayList, DayView) {
        // What was said before is committed when the desk answers, and is in the day then.
        assert_eq!(world.get("/healthz", &world.root).await.status, 200);
        (
            world.get("/api/v1/day/runs", &world.root).await.json(),
            world.get("/api/v1/day/use", &world.root).await.json(),
            world.get("/api/v1/day/machines", &world.root).await.json(),
            world.get("/api/v1/day", &world.root).await.json(),
        )
    };
    let before = seen(&world).await;
    for start in 1..=2 {
        world.restart();
        let after = seen(&world).await;
        assert_eq!((&after.0, &after.1), (&before.0, &before.1), "start {start}");
        assert_eq!(after.2.machines[0].machine, "m1", "start {start}: {:?}", after.2);
        assert!(after.3.queue.len() >= before.3.queue.len(), "start {start}: {:?}", after.3);
        assert_eq!(after.3.began_s, before.3.began_s, "start {start}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_would_have_been_is_for_who_sees_all() {
    let world = World::new().await;
    let presets: PresetList = world.get("/api/v1/policy/presets", &world.bob).await.json();
    assert!(presets.presets.iter().any(|preset| preset.name == "bertasi/greedy"), "{presets:?}");
    let asked = json!({"preset": "bertasi/social"});
    assert_eq!(world.post("/api/v1/what-if", &world.bob, &asked).await.status, 403);
    // The tests' coordinator has no simulator.
    assert_eq!(world.post("/api/v1/what-if", &world.root, &asked).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_task_was_placed_is_told_as_it_stood_just_before() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    ends(&world, &mut agent, used(0, 1.0)).await;
    let path = format!("/api/v1/jobs/{job}/tasks/1/explain");
    let told: ExplanationView = world.get(&format!("{path}?run=1"), &world.alice).await.json();
    assert_eq!(told.ratings[0].machine, "m1", "it was free then: {told:?}");
    assert!(told.summary.contains("waits"), "{told:?}");
    for (query, status) in [("run=2", 404), ("run=1&at_s=1", 422), ("run=0", 422)] {
        assert_eq!(world.get(&format!("{path}?{query}"), &world.alice).await.status, status, "{query}");
    }
    assert_eq!(world.get(&format!("{path}?run=1"), &world.bob).await.status, 404);
}
