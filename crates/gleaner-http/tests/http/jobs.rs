//! Jobs from submission to end.

use crate::agent::{Agent, exited};
use crate::limits::documented;
use crate::retired::forget_with;
use crate::world::{World, request};
use axum::body::Body;
use gleaner_server::desk::Terms;
use gleaner_wire::api::{
    ExplanationView, History, JobList, JobView, KeepingView, Ordered, Preview, Submitted, TaskList,
    TaskPhase, TaskView,
};
use gleaner_wire::session::{End, Tail, Usage};
use serde_json::{Value, json};
use tokio::join;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_waited_for_until_its_last_task_ended() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 2).await;
    let path = format!("/api/v1/jobs/{job}?wait_s=60");
    let wait = world.get(&path, &world.alice);
    let work = async {
        for code in [0, 1] {
            let run = agent.start_next(&world).await;
            agent.end(&world, run, code, Tail::default()).await;
        }
    };
    let (reply, ()) = join!(wait, work);
    let view: JobView = reply.json();
    assert_eq!((view.state, view.tasks.done, view.tasks.failed), (TaskPhase::Failed, 1, 1));
    let again: JobView = world.get(&path, &world.alice).await.json();
    assert_eq!(again, view, "what is over is not waited for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_sees_the_end_of_many_tasks_at_once() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 5_000).await;
    let (path, cancel) = (format!("/api/v1/jobs/{job}?wait_s=60"), format!("/api/v1/jobs/{job}/cancel"));
    let nothing = json!({});
    let (waited, cancelled) =
        join!(world.get(&path, &world.alice), world.post(&cancel, &world.alice, &nothing));
    assert_eq!(cancelled.json::<Ordered>().tasks, 5_000);
    assert_eq!(waited.json::<JobView>().state, TaskPhase::Cancelled);
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_ends() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    let view: JobView = world.get(&format!("/api/v1/jobs/{job}?wait_s=1"), &world.alice).await.json();
    assert_eq!(view.state, TaskPhase::Waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_makes_a_submission_count_once() {
    let world = World::new().await;
    let submit = async |token: &str, key: &str, program: &str| {
        let body = Body::from(json!({"command": [program]}).to_string());
        let mut request = request("POST", "/api/v1/jobs", token, body);
        request.headers_mut().insert("idempotency-key", key.parse().unwrap());
        world.send(request).await
    };
    let first = submit(&world.alice, "k", "true").await;
    assert_eq!(first.status, 201, "{first}");
    let again: Submitted = submit(&world.alice, "k", "true").await.json();
    assert_eq!(again, first.json());
    for (token, key, program, status) in [
        (&world.alice, "k", "false", 409),
        (&world.alice, "not a key", "true", 422),
        (&world.alice, "\u{e9}", "true", 400),
        (&world.bob, "k", "false", 201),
    ] {
        let reply = submit(token, key, program).await;
        assert_eq!(reply.status, status, "{reply}");
        let is_named = reply.to_string().contains("the header Idempotency-Key");
        assert!(is_named || !["not a key", "\u{e9}"].contains(&key), "{reply}");
    }
    assert_eq!(world.get("/api/v1/jobs", &world.root).await.json::<JobList>().jobs.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_job_is_refused() {
    let world = World::new().await;
    let missing = "0".repeat(64);
    for (body, status, code) in [
        ("", 400, "malformed"),
        ("{", 400, "malformed"),
        ("{\"command\": [\"true\"]} x", 400, "malformed"),
        ("[]", 422, "invalid"),
        (r#"["name", ["true"]]"#, 422, "invalid"),
        ("{}", 422, "invalid"),
        (r#"{"command": []}"#, 422, "invalid"),
        (r#"{"command": ["true"], "composition": [0, 0, 1, 0]}"#, 422, "invalid"),
        (r#"{"command": 1, "#, 400, "malformed"),
        (r#"{"command": ["true"], "unknown": 1}"#, 422, "invalid"),
        (r#"{"command": ["true"], "requirements": "1 +"}"#, 422, "invalid"),
        (&format!(r#"{{"command": ["true"], "stdin": "{missing}"}}"#), 422, "invalid"),
    ] {
        let reply = world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body.to_owned())).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{body}: {reply}");
    }
    let mut request = request("POST", "/api/v1/jobs", &world.alice, Body::from("{}"));
    request.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(world.send(request).await.status, 415);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_finds_the_files_that_were_stored_before() {
    let world = World::new().await;
    let hash = blake3::hash(b"input").to_string();
    let stored = world.call("PUT", &format!("/api/v1/blobs/{hash}"), &world.alice, Body::from("input")).await;
    assert_eq!(stored.status, 200, "{stored}");
    let spec = json!({"command": ["cat"], "stdin": hash, "inputs": [{"path": "a", "blob": hash}]});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &spec).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_newest_first() {
    let world = World::new().await;
    for _ in 0..3 {
        world.submit(&world.alice, 1).await;
    }
    world.post("/api/v1/jobs/2/hold", &world.alice, &json!({})).await;
    let jobs = async |query: &str| {
        let list: JobList = world.get(&format!("/api/v1/jobs{query}"), &world.alice).await.json();
        list.jobs.iter().map(|job| job.job.0).collect::<Vec<_>>()
    };
    assert_eq!(jobs("").await, [3, 2, 1]);
    assert_eq!(jobs("?limit=1").await, [3]);
    assert_eq!(jobs("?state=held").await, [2]);
    assert_eq!(jobs("?before=3").await, [2, 1]);
    assert_eq!(jobs("?before=3&limit=1").await, [2]);
    assert_eq!(jobs("?before=1").await, [0; 0]);
}

/// A thousand jobs of a list may have a megabyte each.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_has_the_beginning_of_a_long_command() {
    let mut world = World::new().await;
    let most = documented("COMMAND_LISTED_MAX") as usize;
    let command = ["true".to_owned(), "a".repeat(4 * most), "b".to_owned()];
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &json!({ "command": command })).await.status, 201);
    world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    let expected = ["true".to_owned(), format!("{}…", "a".repeat(most - "true ".len()))];
    for is_retired in [false, true] {
        if is_retired {
            forget_with(&mut world, Terms { over_max: 0, ..Terms::default() }).await;
            let keeping: KeepingView = world.get("/api/v1/keeping", &world.alice).await.json();
            assert_eq!(keeping.next[0].command, expected);
        }
        let list: JobList = world.get("/api/v1/jobs", &world.alice).await.json();
        assert_eq!(list.jobs[0].command, expected, "left memory: {is_retired}");
        let job: JobView = world.get("/api/v1/jobs/1", &world.alice).await.json();
        assert_eq!(job.command, command, "left memory: {is_retired}");
    }
}

/// A value may have 128 KiB.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_has_the_beginning_of_its_own_command() {
    let mut world = World::new().await;
    let most = documented("COMMAND_LISTED_MAX") as usize;
    let long = "b".repeat(100 * most);
    let spec = json!({"command": ["render", "{scene}", "{GLEANER_INDEX}"],
        "tasks": {"rows": {"names": ["scene"], "values": ["a", long]}}, "priority": 100, "retries": 2,
        "requirements": format!("TARGET.Machine != \"{}\"", "b".repeat(most))});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &spec).await.status, 201);
    world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    let cut = format!("{}…", "b".repeat(most - "render ".len()));
    for is_retired in [false, true] {
        if is_retired {
            forget_with(&mut world, Terms { over_max: 0, ..Terms::default() }).await;
        }
        for (number, expected) in [(0, vec!["render", "a", "0"]), (1, vec!["render", cut.as_str()])] {
            let task: TaskView =
                world.get(&format!("/api/v1/jobs/1/tasks/{number}"), &world.alice).await.json();
            assert_eq!(task.command, expected, "left memory: {is_retired}");
            let asked = task.asked.expect("one task is told with it");
            assert_eq!(
                (asked.priority, asked.retries, asked.quorum),
                (100, 2, 1),
                "left memory: {is_retired}"
            );
            assert_eq!(asked.requirements.map(|text| text.len()), Some(most), "left memory: {is_retired}");
        }
        let list: TaskList = world.get("/api/v1/jobs/1/tasks", &world.alice).await.json();
        assert!(list.tasks.iter().all(|task| task.command.is_empty()), "left memory: {is_retired}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_a_user_are_listed_for_whoever_may_see_them() {
    let world = World::new().await;
    for user in [&world.alice, &world.bob, &world.alice] {
        world.submit(user, 1).await;
    }
    let list = async |user: &str, by: &str| {
        let reply = world.get(&format!("/api/v1/jobs?user={user}"), by).await;
        let listed = (reply.status == 200).then(|| reply.json::<JobList>().jobs);
        (reply.status, listed.unwrap_or_default().iter().map(|job| job.job.0).collect::<Vec<_>>())
    };
    assert_eq!(list("alice", &world.root).await, (200, vec![3, 1]));
    assert_eq!(list("bob", &world.root).await, (200, vec![2]));
    assert_eq!(list("alice", &world.alice).await, (200, vec![3, 1]));
    assert_eq!(list("bob", &world.alice).await.0, 403);
    assert_eq!(list("nobody", &world.root).await.0, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_names_a_task_that_is_not_there_is_told_which_are() {
    let mut world = World::new().await;
    world.submit(&world.alice, 3).await;
    world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    for is_retired in [false, true] {
        if is_retired {
            forget_with(&mut world, Terms { over_max: 0, ..Terms::default() }).await;
        }
        let asked = world.get("/api/v1/jobs/1/tasks/0", &world.alice).await;
        let ordered = world.post("/api/v1/jobs/1/hold", &world.alice, &json!({"tasks": [0]})).await;
        for reply in [asked, ordered] {
            let is_told = reply.to_string().contains("job 1 has no task 0; its tasks are 1-3");
            assert!(reply.status == 404 && is_told, "{reply}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_say_to_how_many_tasks_they_applied() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 3).await;
    for (order, choice, tasks) in [
        ("hold", json!({"tasks": [1, 2]}), 2),
        ("release", json!({"tasks": [2, 3]}), 1),
        ("cancel", json!({}), 3),
        ("rerun", json!({"failed": true}), 0),
        ("rerun", json!({}), 3),
    ] {
        let reply = world.post(&format!("/api/v1/jobs/{job}/{order}"), &world.alice, &choice).await;
        assert_eq!(reply.json::<Ordered>().tasks, tasks, "{order} {choice}: {reply}");
    }
    let reply = world.post(&format!("/api/v1/jobs/{job}/hold"), &world.alice, &json!({"tasks": [9]})).await;
    assert_eq!(reply.status, 404, "{reply}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_listed_in_pages() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 5).await;
    let page = async |query: &str| {
        let path = format!("/api/v1/jobs/{job}/tasks{query}");
        let list: TaskList = world.get(&path, &world.alice).await.json();
        (list.tasks.iter().map(|task| task.task).collect::<Vec<_>>(), list.next)
    };
    assert_eq!(page("?limit=2").await, (vec![1, 2], Some(2)));
    assert_eq!(page("?from=2&limit=3").await, (vec![3, 4, 5], None));
    assert_eq!(page("?phase=done").await, (vec![], None));
    let task: TaskView = world.get(&format!("/api/v1/jobs/{job}/tasks/5"), &world.alice).await.json();
    assert_eq!((task.task, task.phase), (5, TaskPhase::Waiting));
    assert_eq!(world.get(&format!("/api/v1/jobs/{job}/tasks/6"), &world.alice).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_has_a_history_and_an_explanation() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 2).await;
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 0, Tail::default()).await;
    agent.start_next(&world).await;
    let task = format!("/api/v1/jobs/{job}/tasks/1");
    let history: History = world.get(&format!("{task}/history"), &world.alice).await.json();
    let phases: Vec<TaskPhase> = history.transitions.iter().map(|step| step.phase).collect();
    assert_eq!(phases.first(), Some(&TaskPhase::Waiting), "{history:?}");
    assert_eq!(phases.last(), Some(&TaskPhase::Done), "{history:?}");

    let now: ExplanationView = world.get(&format!("{task}/explain"), &world.alice).await.json();
    let at = now.at_s;
    let then = world.get(&format!("{task}/explain?at_s={at}"), &world.alice).await;
    assert_eq!(then.status, 200, "{then}");
    let before = world.get(&format!("{task}/explain?at_s=1"), &world.alice).await;
    assert_eq!(before.status, 404, "{before}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_task_that_failed_the_explanation_says_how_its_last_run_ended() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 7, Tail::default()).await;
    let told: ExplanationView =
        world.get(&format!("/api/v1/jobs/{job}/tasks/1/explain"), &world.alice).await.json();
    assert_eq!(told.summary, "it failed; it ended on m1: its program ended with exit code 7");
}

/// Whoever counts from 0 where the job counts from 1 reads how it counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_not_there_is_answered_with_those_that_are() {
    let world = World::new().await;
    for (first, last, step, has) in [
        (1, 8, 1, "its tasks are 1-8"),
        (5, 9, 2, "its tasks are 5-9 in steps of 2"),
        (1, 1, 1, "its only task is 1"),
    ] {
        let array = json!({"first": first, "last": last, "step": step});
        let spec = json!({"command": ["true"], "hold": true, "tasks": {"array": array}});
        let job = world.post("/api/v1/jobs", &world.alice, &spec).await.json::<Submitted>().job;
        let expected = format!("job {job} has no task 0; {has}");
        let task = world.get(&format!("/api/v1/jobs/{job}/tasks/0"), &world.alice).await;
        let order =
            world.post(&format!("/api/v1/jobs/{job}/cancel"), &world.alice, &json!({"tasks": [0]})).await;
        for reply in [task, order] {
            assert_eq!(reply.status, 404, "{reply}");
            assert!(reply.to_string().contains(&expected), "{expected}: {reply}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_changes_nothing() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    let spec = json!({"command": ["true"], "tasks": {"array": {"first": 1, "last": 3, "step": 1}}});
    let preview: Preview = world.post("/api/v1/jobs/preview", &world.alice, &spec).await.json();
    assert_eq!((preview.starts.len(), preview.waiting), (1, 2), "{preview:?}");
    let mut held = spec.clone();
    held["hold"] = true.into();
    let preview: Preview = world.post("/api/v1/jobs/preview", &world.alice, &held).await.json();
    assert_eq!((preview.starts.len(), preview.waiting), (0, 3), "{preview:?}");
    assert!(preview.explanation.summary.starts_with("it would be held"), "{preview:?}");
    assert_eq!(world.post("/api/v1/jobs/preview", &world.alice, &json!({"command": []})).await.status, 422);
    assert_eq!(world.get("/api/v1/jobs", &world.alice).await.json::<Value>()["jobs"], json!([]));
}

/// Users and keys that an owner's rules name are shown to administrators only, in the list of machines and in what is said of a job.
#[tokio::test(flavor = "multi_thread")]
async fn whom_a_machine_takes_is_shown_to_administrators() {
    let world = World::new().await;
    let mut profile = crate::agent::profile();
    let takes = r#"member(TARGET.Owner, {"ann"})"#;
    profile.attributes.insert("Requirements".to_owned(), takes.to_owned());
    let _agent = Agent::join_with(&world, "lab", profile).await;
    let job = world.submit(&world.alice, 1).await;
    let shown = async |path: String, token: &str| world.get(&path, token).await.to_string();
    assert!(shown("/api/v1/machines".to_owned(), &world.root).await.contains("ann"));
    let task = format!("/api/v1/jobs/{job}/tasks/1/explain");
    let in_words = "run tasks of certain users only";
    for (path, has) in [
        ("/api/v1/machines".to_owned(), "TARGET.Owner"),
        (format!("/api/v1/jobs/{job}"), in_words),
        (task, in_words),
    ] {
        let said = shown(path.clone(), &world.alice).await;
        assert!(said.contains(has) && !said.contains("ann"), "{path}: {said}");
    }
}

/// Where answers are compared, a job that asks for that runs again only where they are; and who may not know of it hears nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_retired_job_with_a_quorum_is_not_run_again_where_nobody_compares() {
    let mut world = World::new().await;
    let spec = json!({"command": ["true"], "quorum": 2, "confinement": "sandbox"});
    let reply = world.post("/api/v1/jobs", &world.alice, &spec).await;
    assert_eq!(reply.status, 201, "{reply}");
    let cancelled = world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    assert_eq!(cancelled.status, 200, "{cancelled}");
    let easy = Body::from(json!({"preset": "queue/easy"}).to_string());
    let set = world.call("PUT", "/api/v1/policy", &world.root, easy).await;
    assert_eq!(set.status, 200, "{set}");
    for is_retired in [false, true] {
        if is_retired {
            forget_with(&mut world, Terms { over_max: 0, ..Terms::default() }).await;
        }
        let rerun = async |token: &str| world.post("/api/v1/jobs/1/rerun", token, &json!({})).await;
        let own = rerun(&world.alice).await;
        assert_eq!(own.status, 409, "{is_retired}: {own}");
        assert!(own.to_string().contains("quorum is 2"), "{own}");
        assert_eq!(rerun(&world.bob).await.status, 404, "{is_retired}: whose it is");
    }
    let view = world.get("/api/v1/jobs/1", &world.alice).await.json::<Value>();
    assert_eq!(view["state"], "cancelled", "{view}");
}

/// A program that asks to be run again would never end where each machine begins anew.
#[tokio::test(flavor = "multi_thread")]
async fn answers_are_not_compared_while_a_job_asks_to_be_run_again() {
    let world = World::new().await;
    let spec = json!({"command": ["true"], "checkpoint": {"folder": true, "exit_code": 85}});
    let reply = world.post("/api/v1/jobs", &world.alice, &spec).await;
    assert_eq!(reply.status, 201, "{reply}");
    let set = async || {
        let compares = json!({"preset": "bertasi/greedy", "relocate": "none", "replicate": {"quorum": 2}});
        world.call("PUT", "/api/v1/policy", &world.root, Body::from(compares.to_string())).await
    };
    let refused = set().await;
    assert_eq!(refused.status, 409, "{refused}");
    assert!(refused.to_string().contains("job 1 asks with exit code 85"), "{refused}");
    world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await;
    let taken = set().await;
    assert_eq!(taken.status, 200, "{taken}");
}

/// Of what a run did nothing is left, unless it kept a checkpoint.
#[tokio::test(flavor = "multi_thread")]
async fn a_job_says_how_much_time_it_lost() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = json!({"command": ["false"], "retries": 1});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 201);
    let lost = async || world.get("/api/v1/jobs/1", &world.alice).await.json::<Value>()["lost_s"].as_f64();
    let run = agent.start_next(&world).await;
    assert_eq!(lost().await, Some(0.0));
    let usage = Usage { elapsed_s: 0.5, ..Usage::default() };
    agent.end_with(&world, run, End { usage, ..exited(1, Tail::default()) }).await;
    assert_eq!(lost().await, Some(0.5));
}
