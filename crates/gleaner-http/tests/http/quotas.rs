//! What each user may have of the coordinator at a time.

use crate::agent::{Agent, left_by};
use crate::world::{World, request};
use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use futures_util::future::join_all;
use gleaner_net::{Token, TokenKind};
use gleaner_server::desk::Input;
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::BlobHash;
use gleaner_wire::api::{JobList, QuotaList};
use gleaner_wire::limits::{
    QUOTA_BYTES, QUOTA_CORES, QUOTA_DESCRIPTION_BYTES, QUOTA_REQUESTS_PER_S, QUOTA_REQUIREMENT_BYTES,
    QUOTA_TASKS, QUOTA_TASKS_EVER, TASKS_PER_JOB_MAX,
};
use gleaner_wire::session::{End, Outcome, Stored, Tail};
use serde_json::{Value, json};

fn job(tasks: u32) -> Value {
    json!({"command": ["true"], "tasks": {"array": {"first": 1, "last": tasks, "step": 1}}})
}

async fn set(world: &World, token: &str, user: Option<&str>, tasks: u64, requests: u32) -> u16 {
    let setting = json!({"user": user, "quota": {"tasks": tasks, "requests_per_s": requests}});
    world.call("PUT", "/api/v1/quotas", token, Body::from(setting.to_string())).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_so_many_tasks_and_hears_who_can_raise_it() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.root, Some("alice"), 10, 1_000).await, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(7)).await.status, 201);
    let reply = world.post("/api/v1/jobs", &world.alice, &job(4)).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
    let said = reply.to_string();
    let preview = world.post("/api/v1/jobs/preview", &world.alice, &job(4)).await;
    assert_eq!((preview.status, preview.to_string()), (403, said.clone()), "a preview says the same");
    assert!(
        said.contains("7 tasks") && said.contains("quota of 10") && said.contains("ask an administrator"),
        "{said}"
    );
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &job(4)).await.status, 201, "another's quota");
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(3)).await.status, 201);
    // What is over does not count, and to run it again does.
    assert_eq!(world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await.status, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(7)).await.status, 201);
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (403, "quota"), "{rerun}");
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    let seen: Vec<_> =
        list.users.iter().map(|view| (view.user.as_str(), view.quota.tasks, view.tasks)).collect();
    assert_eq!(seen, [("alice", 10, 10)]);
    let all: QuotaList = world.get("/api/v1/quotas", &world.root).await.json();
    assert_eq!(all.users.iter().map(|view| view.tasks).collect::<Vec<_>>(), [10, 4, 0]);
}

/// `QUOTA_TASKS`, `QUOTA_CORES` and `QUOTA_BYTES`; how often one may ask is tried where it is counted.
#[tokio::test(flavor = "multi_thread")]
async fn users_without_a_quota_of_their_own_have_these() {
    let world = World::new().await;
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    let quota = list.users[0].quota;
    assert_eq!((quota.tasks, quota.cores, quota.bytes), (QUOTA_TASKS, QUOTA_CORES, QUOTA_BYTES));
    assert_eq!(quota.requests_per_s, QUOTA_REQUESTS_PER_S);
    let mut held = job(TASKS_PER_JOB_MAX);
    held["hold"] = true.into();
    for _ in 0..QUOTA_TASKS / u64::from(TASKS_PER_JOB_MAX) {
        let reply = world.post("/api/v1/jobs", &world.alice, &held).await;
        assert_eq!(reply.status, 201, "{reply}");
    }
    let reply = world.post("/api/v1/jobs", &world.alice, &job(1)).await;
    let said = reply.to_string();
    assert!(reply.status == 403 && said.contains(&format!("quota of {QUOTA_TASKS}")), "{said}");
    for (used, more, is_within) in [(QUOTA_BYTES - 1, 1, true), (QUOTA_BYTES, 1, false)] {
        assert_eq!(quota.check_bytes("alice", used, more).is_ok(), is_within, "{more} above {used}");
    }
}

/// `QUOTA_REQUIREMENT_BYTES` and `CLASS_BYTES`: equal requirements count once, those of jobs that are over do not.
#[tokio::test(flavor = "multi_thread")]
async fn requirements_of_unfinished_jobs_count_in_a_quota() {
    let world = World::new().await;
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    assert_eq!(list.users[0].quota.requirement_bytes, QUOTA_REQUIREMENT_BYTES);
    let quota = json!({"tasks": 100, "requirement_bytes": 1_000, "requests_per_s": 1_000});
    let setting = json!({"user": "alice", "quota": quota});
    let set = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await;
    assert_eq!(set.status, 200, "{set}");
    let asking = |number: usize| {
        let requirements = format!("{number:0244} < 1");
        json!({"command": ["true"], "hold": true, "requirements": requirements, "rank": "1"})
    };
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &asking(1)).await.status, 201);
    for _ in 0..2 {
        assert_eq!(world.post("/api/v1/jobs", &world.alice, &asking(1)).await.status, 201, "the same");
    }
    let used = |list: QuotaList| list.users[0].requirement_bytes;
    assert_eq!(used(world.get("/api/v1/quotas", &world.alice).await.json()), 256 + 248 + 1);
    let reply = world.post("/api/v1/jobs", &world.alice, &asking(2)).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
    let said = reply.to_string();
    assert!(said.contains("requirements") && said.contains("quota of 1000"), "{said}");
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &asking(2)).await.status, 201, "another's quota");
    for job in 1..=3 {
        let path = format!("/api/v1/jobs/{job}/cancel");
        assert_eq!(world.post(&path, &world.alice, &json!({})).await.status, 200);
    }
    assert_eq!(used(world.get("/api/v1/quotas", &world.alice).await.json()), 0);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &asking(2)).await.status, 201);
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (403, "quota"), "{rerun}");
}

/// Numbers of tasks are not used twice: whoever submits and cancels again and again cannot use up everybody's.
#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_a_user_ever_submitted_count_in_a_quota() {
    let world = World::new().await;
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    assert_eq!((list.users[0].quota.tasks_ever, list.users[0].tasks_ever), (QUOTA_TASKS_EVER, 0));
    let quota = json!({"tasks": 100, "tasks_ever": 5, "requests_per_s": 1_000});
    let setting = json!({"user": "alice", "quota": quota});
    let set = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await;
    assert_eq!(set.status, 200, "{set}");
    let two =
        json!({"command": ["true"], "hold": true, "tasks": {"array": {"first": 1, "last": 2, "step": 1}}});
    for job in 1..=2 {
        let reply = world.post("/api/v1/jobs", &world.alice, &two).await;
        assert_eq!(reply.status, 201, "{reply}");
        let path = format!("/api/v1/jobs/{job}/cancel");
        assert_eq!(world.post(&path, &world.alice, &json!({})).await.status, 200);
    }
    let reply = world.post("/api/v1/jobs", &world.alice, &two).await;
    assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
    let said = reply.to_string();
    assert!(said.contains("has submitted 4 tasks so far") && said.contains("--tasks-ever"), "{said}");
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &two).await.status, 201, "another's quota");
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    assert_eq!((list.users[0].tasks, list.users[0].tasks_ever), (0, 4));
}

/// Two jobs of 8,000 bytes fit into 20,000, and no third: neither such a one, nor one with variables or a table.
#[tokio::test(flavor = "multi_thread")]
async fn descriptions_of_unfinished_jobs_count_in_a_quota() {
    let world = World::new().await;
    let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
    assert_eq!(list.users[0].quota.description_bytes, QUOTA_DESCRIPTION_BYTES);
    let quota = json!({"tasks": 100_000, "description_bytes": 20_000, "requests_per_s": 1_000});
    let setting = json!({"user": "alice", "quota": quota});
    let set = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await;
    assert_eq!(set.status, 200, "{set}");
    let held = |command: &str| json!({"command": ["true", command], "hold": true});
    let long = "x".repeat(8_000);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &held(&long)).await.status, 201);
    let used = |list: QuotaList| list.users[0].description_bytes;
    let one = used(world.get("/api/v1/quotas", &world.alice).await.json());
    assert!((8_500..10_000).contains(&one), "{one} bytes");
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &held(&long)).await.status, 201);
    let large = [
        held(&long),
        json!({"command": ["true"], "hold": true, "env": { "a": long }}),
        json!({"command": ["true"], "hold": true, "tasks": {"rows": {"names": ["a"], "values": vec!["xy"; 2_000]}}}),
    ];
    for job in &large {
        let reply = world.post("/api/v1/jobs", &world.alice, job).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
        let said = reply.to_string();
        let used = format!("take {} bytes", 2 * one);
        assert!(said.contains(&used) && said.contains("quota of 20000"), "{said}");
        assert!(said.contains("gleaner quota set --user alice --descriptions"), "{said}");
    }
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &large[0]).await.status, 201, "another's quota");
    assert_eq!(world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await.status, 200);
    assert_eq!(used(world.get("/api/v1/quotas", &world.alice).await.json()), one);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &large[1]).await.status, 201);
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (403, "quota"), "{rerun}");
}

/// Else anybody goes before all others. What was submitted before the quota stays, and does not run again with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_gives_no_higher_priority_than_that_and_an_administrator_any() {
    let world = World::new().await;
    let urgent = |priority: i32| json!({"command": ["true"], "hold": true, "priority": priority});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &urgent(i32::MAX)).await.status, 201, "no bound");
    for most in [0, -5] {
        let quota = json!({"tasks": 100, "requests_per_s": 1_000, "priority": most});
        let setting = json!({"user": null, "quota": quota});
        let set = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await;
        assert_eq!(set.json::<QuotaList>().everyone.priority, Some(most));
        assert_eq!(world.post("/api/v1/jobs", &world.alice, &urgent(most)).await.status, 201);
        let reply = world.post("/api/v1/jobs", &world.alice, &urgent(most + 1)).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "quota"), "{reply}");
        let said = reply.to_string();
        assert!(
            said.contains(&format!("gleaner submit --priority={most}`, or `priority = {most}` in its")),
            "{said}"
        );
        assert!(said.contains("gleaner quota set --user alice --priority"), "{said}");
        assert_eq!(world.post("/api/v1/jobs", &world.root, &urgent(7)).await.status, 201);
    }
    assert_eq!(world.post("/api/v1/jobs/1/cancel", &world.alice, &json!({})).await.status, 200);
    let rerun = world.post("/api/v1/jobs/1/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (403, "quota"), "{rerun}");
    assert!(rerun.to_string().contains("a job keeps its priority, also when it is run again"), "{rerun}");
    assert_eq!(world.post("/api/v1/jobs/1/rerun", &world.root, &json!({})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_asks_so_often() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.root, Some("alice"), 10, 1).await, 200);
    let mut refused = None;
    for _ in 0..50 {
        let reply = world.get("/api/v1/jobs", &world.alice).await;
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("fifty requests take less than a minute");
    assert_eq!((refused.code().as_str(), refused.header("retry-after")), ("quota", "1"), "{refused}");
    let _: JobList = world.get("/api/v1/jobs", &world.bob).await.json();
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_are_an_administrators() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.alice, None, 10, 10).await, 403);
    assert_eq!(set(&world, &world.root, Some("a b"), 10, 10).await, 404);
    let setting = json!({"user": "alise", "quota": {"tasks": 1, "requests_per_s": 10}});
    let reply = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await;
    let said = reply.to_string();
    assert!(
        said.contains("no user is called \\\"alise\\\"") && said.contains("did you mean alice?"),
        "{said}"
    );
    assert_eq!(set(&world, &world.root, None, 10, 0).await, 422);
    assert_eq!(set(&world, &world.root, None, 10, 10).await, 200);
    assert_eq!(world.post("/api/v1/jobs", &world.bob, &job(11)).await.status, 403, "everyone's");
}

async fn set_bytes(world: &World, user: &str, bytes: u64) -> u16 {
    let setting = json!({"user": user, "quota": {"tasks": 100, "bytes": bytes, "requests_per_s": 1_000}});
    world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await.status
}

async fn upload(world: &World, token: &str, content: &[u8]) -> (u16, String) {
    let path = format!("/api/v1/blobs/{}", blake3::hash(content).to_hex());
    upload_to(world, &path, token, content).await
}

/// What a run left.
async fn upload_left(world: &World, run: RunId, session: &str, content: &[u8]) -> (u16, String) {
    let path = left_by(run, &format!("/api/v1/blobs/{}", blake3::hash(content).to_hex()));
    upload_to(world, &path, session, content).await
}

async fn upload_to(world: &World, path: &str, token: &str, content: &[u8]) -> (u16, String) {
    let mut request = request("PUT", path, token, Body::from(content.to_vec()));
    request.headers_mut().insert(CONTENT_LENGTH, content.len().into());
    let reply = world.send(request).await;
    (reply.status, reply.to_string())
}

async fn stored(world: &World, user: &str) -> u64 {
    let all: QuotaList = world.get("/api/v1/quotas", &world.root).await.json();
    all.users.iter().find(|view| view.user == user).expect("a user").bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_so_many_bytes_stored_and_hears_which_quota_it_is() {
    let world = World::new().await;
    assert_eq!(set_bytes(&world, "alice", 100).await, 200);
    assert_eq!(upload(&world, &world.alice, &[1; 60]).await.0, 200);
    assert_eq!(upload(&world, &world.alice, &[1; 60]).await.0, 403, "what no job named counts, too");
    let (status, said) = upload(&world, &world.alice, &[2; 41]).await;
    assert_eq!(status, 403, "{said}");
    assert!(
        said.contains("60 bytes are kept for alice")
            && said.contains("quota of 100")
            && said.contains("--bytes"),
        "{said}"
    );
    assert_eq!(upload(&world, &world.bob, &[2; 41]).await.0, 200, "another's quota");
    let input = json!({"path": "in", "blob": blake3::hash(&[1; 60]).to_hex().to_string()});
    let job = json!({"command": ["true"], "tasks": {"array": {"first": 1, "last": 1, "step": 1}}, "inputs": [input]});
    let reply = world.post("/api/v1/jobs", &world.alice, &job).await;
    assert_eq!(reply.status, 201, "{reply}");
    assert_eq!(stored(&world, "alice").await, 60);
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 201, "it is there already");
    assert_eq!(stored(&world, "alice").await, 60, "it counts once");
    assert_eq!(set_bytes(&world, "alice", 120).await, 200);
    assert_eq!(upload(&world, &world.alice, &[1; 60]).await.0, 200, "it is let in");
    assert_eq!(set_bytes(&world, "alice", 100).await, 200);
    assert_eq!(upload(&world, &world.alice, &[3; 40]).await.0, 200, "the rest: what came again counts once");
    assert_eq!(upload(&world, &world.alice, &[4; 1]).await.0, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_files_at_once_do_not_pass_the_quota() {
    let world = World::new().await;
    assert_eq!(set_bytes(&world, "alice", 100_000).await, 200);
    let files: Vec<Vec<u8>> = (0..12).map(|number| vec![number; 40_000]).collect();
    let sent = files.iter().map(|file| upload(&world, &world.alice, file));
    let accepted = join_all(sent).await.into_iter().filter(|(status, _)| *status == 200).count();
    assert_eq!(accepted, 2, "of 12 that come at once");
    let unsaid = files.iter().map(|file| {
        let path = format!("/api/v1/blobs/{}", blake3::hash(file).to_hex());
        world.send(request("PUT", &path, &world.alice, Body::from(file.clone())))
    });
    assert!(
        join_all(unsaid).await.iter().all(|reply| reply.status == 403),
        "nor if nobody says how long it is"
    );
    let sent_bytes = async || {
        let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
        list.users[0].sent_bytes
    };
    assert_eq!(sent_bytes().await, 80_000, "they see why");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_agent_fills_a_quota_with_output_that_nobody_has() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "lab").await;
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(1)).await.status, 201);
    let run = agent.start_next(&world).await;
    let claimed = Tail { offset: 1 << 62, bytes: vec![b'x'], dropped: 0 };
    let end = End { stdout: claimed.clone(), stderr: claimed, ..End::of(Outcome::Exited { code: 0 }) };
    agent.end_with(&world, run, end).await;
    let task: Value = world.get("/api/v1/jobs/1/tasks", &world.alice).await.json();
    assert_eq!(task["tasks"][0]["phase"], "done", "{task}");
    assert_eq!(stored(&world, "alice").await, 2, "what came");
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job(1)).await.status, 201);
}

/// A machine sends no more than the quotas of those whose tasks it runs have room for, and checkpoints.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_sends_what_its_runs_may_leave() {
    let world = World::new().await;
    assert_eq!(set_bytes(&world, "alice", 100).await, 200);
    let mut agent = Agent::join(&world, "lab").await;
    let session = Token::generate(TokenKind::Session).expect("randomness");
    world.app.agents.add(&session, MachineId::new(0));
    let session = session.reveal();
    let submit = async |token: &str, checkpoint: bool| {
        let wanted = json!({"command": ["true"], "outputs": ["out"], "checkpoint": {"folder": checkpoint, "grace_s": 1.0}});
        let reply = world.post("/api/v1/jobs", token, &wanted).await;
        assert_eq!(reply.status, 201, "{reply}");
    };
    let none = RunId { task: TaskId::new(0), number: 1 };
    assert_eq!(upload_left(&world, none, &session, &[1; 60]).await.0, 403, "it has no run");
    submit(&world.alice, false).await;
    let run = agent.start_next(&world).await;
    let files = [[1; 60], [2; 60], [3; 60]];
    let sent = join_all(files.iter().map(|file| upload_left(&world, run, &session, file))).await;
    assert_eq!(sent.iter().filter(|(status, _)| *status == 200).count(), 1, "of three that come at once");
    let (status, said) = upload_left(&world, run, &session, &[2; 60]).await;
    assert!(status == 413 && said.contains("quota of alice has room for 40 more bytes"), "{status} {said}");
    // What an end names is counted once.
    let blob = BlobHash::of(&[1; 60]);
    let files = Some(Stored { blob, size: 60 });
    agent.end_with(&world, run, End { files, ..End::of(Outcome::Exited { code: 0 }) }).await;
    submit(&world.alice, false).await;
    let run = agent.start_next(&world).await;
    assert_eq!(upload_left(&world, run, &session, &[3; 41]).await.0, 413);
    assert_eq!(upload_left(&world, run, &session, &[3; 40]).await.0, 200);
    agent.end_with(&world, run, End::of(Outcome::Exited { code: 0 })).await;
    submit(&world.alice, true).await;
    let run = agent.start_next(&world).await;
    assert_eq!(
        upload_left(&world, run, &session, &[4; 500]).await.0,
        200,
        "its checkpoint is kept in any case"
    );
    agent.end_with(&world, run, End::of(Outcome::Exited { code: 0 })).await;

    // What came to nothing counts for whose it was, and for nobody else.
    assert_eq!(set_bytes(&world, "bob", 50).await, 200);
    submit(&world.bob, false).await;
    let run = agent.start_next(&world).await;
    assert_eq!(upload_left(&world, run, &session, &[5; 50]).await.0, 200);
    let blob = BlobHash::of(&[5; 50]);
    assert_eq!(set_bytes(&world, "bob", 49).await, 200);
    let files = Some(Stored { blob, size: 50 });
    agent.end_with(&world, run, End { files, ..End::of(Outcome::Exited { code: 0 }) }).await;
    assert_eq!(stored(&world, "bob").await, 0, "it was more than the quota by then");
    submit(&world.bob, false).await;
    let run = agent.start_next(&world).await;
    let (status, said) = upload_left(&world, run, &session, &[6; 1]).await;
    assert!(status == 413 && said.contains("quota of bob has room for 0 more bytes"), "{status} {said}");
}

/// The run fails and says why; what it would have left is not kept, and others notice nothing.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_a_run_left_and_that_do_not_fit_are_not_kept_and_it_is_said() {
    let world = World::new().await;
    assert_eq!(set_bytes(&world, "alice", 100).await, 200);
    let mut agent = Agent::join(&world, "lab").await;
    // What the agent says of the size is nothing.
    for (job, size, phase, kept) in [(1, 90, "done", 90), (2, 11, "failed", 90)] {
        let blob = blake3::hash(&[job]);
        let wanted = json!({"command": ["true"], "outputs": ["out"]});
        assert_eq!(world.post("/api/v1/jobs", &world.alice, &wanted).await.status, 201);
        let run = agent.start_next(&world).await;
        let files = Stored { blob: blob.into(), size: 1_u64 << (20 * (job - 1)) };
        let sent = blob.into();
        let sent = Input::Stored { agent: MachineId::new(0), run, blob: sent, bytes: size };
        world.app.desk.input(sent).await.expect("it runs");
        let end = End { files: Some(files), ..End::of(Outcome::Exited { code: 0 }) };
        agent.end_with(&world, run, end).await;
        let task: Value = world.get(&format!("/api/v1/jobs/{job}/tasks"), &world.alice).await.json();
        let said = task.to_string();
        assert_eq!(task["tasks"][0]["phase"], phase, "{said}");
        assert_eq!(said.contains("quota of 100 and were not kept"), phase == "failed", "{said}");
        assert_eq!(stored(&world, "alice").await, kept);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_users_own_quota_is_taken_back() {
    let world = World::new().await;
    assert_eq!(set(&world, &world.root, Some("alice"), 3, 1_000).await, 200);
    let tasks = async || {
        let list: QuotaList = world.get("/api/v1/quotas", &world.alice).await.json();
        list.users[0].quota.tasks
    };
    assert_eq!(tasks().await, 3);
    let put = async |setting: Value| {
        world.call("PUT", "/api/v1/quotas", &world.root, Body::from(setting.to_string())).await.status
    };
    let everyone = async || world.get("/api/v1/quotas", &world.root).await.json::<Value>()["everyone"].take();
    let at_first = everyone().await;
    assert_eq!(set(&world, &world.root, None, 7, 1_000).await, 200);
    assert_eq!(everyone().await["tasks"], 7);
    assert_eq!(put(json!({"quota": null})).await, 200, "as it was at first");
    assert_eq!(everyone().await, at_first);
    assert_eq!(put(json!({"user": "alice"})).await, 422, "what is forgotten takes nothing back");
    assert_eq!(tasks().await, 3);
    assert_eq!(put(json!({"user": "alice", "quota": null})).await, 200);
    assert_eq!(tasks().await, QUOTA_TASKS);
    assert_eq!(set(&world, &world.root, None, 5, 1_000).await, 200);
    assert_eq!(tasks().await, 5, "what everyone may have holds for her");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_more_cores_than_the_quota_is_told_so() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    let quota = json!({"user": "alice", "quota": {"tasks": 10, "cores": 1, "requests_per_s": 1_000}});
    let status = world.call("PUT", "/api/v1/quotas", &world.root, Body::from(quota.to_string())).await.status;
    assert_eq!(status, 200);
    let wide = json!({"command": ["true"], "needs": {"cores": 2}});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &wide).await.status, 201);
    let job: Value = world.get("/api/v1/jobs/1", &world.alice).await.json();
    let waits_for = job["waits_for"].as_str().unwrap_or_default();
    assert_eq!(
        waits_for,
        "a larger quota: it needs 2 cores, and all runs of alice together may take no more than 1"
    );
}
