//! What takes long is done beside the desk's thread, a few at a time, also where nobody waits for it any more.

use crate::agent::{Agent, exited, left_by};
use crate::limits::{documented, documented_share};
use crate::memory_blobs::MemoryBlobs;
use crate::places::{MOMENT, PATIENCE, block_desk};
use crate::retired::forget_with;
use crate::world::{World, request};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::Request;
use futures_util::{FutureExt as _, StreamExt as _};
use gleaner_http::http::router;
use gleaner_net::{Token, TokenKind};
use gleaner_server::app::{AgentTokens, App, Readers};
use gleaner_server::blobs::{Blob, BlobError, Blobs, Put, PutError, Removed, Terms as BlobTerms};
use gleaner_server::desk::{Desk, Terms};
use gleaner_server::store::{
    MemoryDisk, MemoryStore, Past, PastJob, PastReader as _, Seq, Store as _, Wanted,
};
use gleaner_server::tidying::tidy;
use gleaner_units::{MachineId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::{End, Stored, Tail};
use serde_json::json;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tower::ServiceExt as _;

/// Whoever comes waits until it is opened.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
    came: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        self.came.fetch_add(1, Ordering::SeqCst);
        let is_open = self.is_open.lock().unwrap();
        drop(self.opened.wait_while(is_open, |is_open| !*is_open).unwrap());
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    async fn expect_came(&self, expected: usize, what: &str) {
        let came = || self.came.load(Ordering::SeqCst);
        let all = async {
            while came() < expected {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(timeout(PATIENCE, all).await.is_ok(), "{what}: {} of {expected} came", came());
        tokio::time::sleep(MOMENT).await;
        assert_eq!(came(), expected, "{what}");
    }
}

/// What is to happen before files are opened, or removed.
type Before = Box<dyn Fn() + Send + Sync>;

struct Hooked {
    blobs: MemoryBlobs,
    before_get: Option<Before>,
    before_removal: Option<Before>,
}

impl Blobs for Hooked {
    fn put(&self, body: &mut dyn Read, terms: BlobTerms) -> Result<Put, PutError> {
        self.blobs.put(body, terms)
    }

    fn get(&self, id: BlobHash) -> Result<Option<Blob>, BlobError> {
        self.before_get.iter().for_each(|before| before());
        self.blobs.get(id)
    }

    fn size(&self, id: BlobHash) -> Result<Option<u64>, BlobError> {
        self.blobs.size(id)
    }

    fn renew(&self, id: BlobHash, at: Time) -> Result<Option<u64>, BlobError> {
        self.blobs.renew(id, at)
    }

    fn put_aside(&self, id: BlobHash) -> Result<bool, BlobError> {
        self.blobs.put_aside(id)
    }

    fn remove_unreferenced(
        &self,
        keep: &dyn Fn(BlobHash) -> bool,
        before: Time,
    ) -> Result<Removed, BlobError> {
        self.before_removal.iter().for_each(|before| before());
        self.blobs.remove_unreferenced(keep, before)
    }
}

/// The same coordinator, with other ways to its files and its store.
fn with(world: &World, blobs: Arc<dyn Blobs>, before_reading: impl Fn() + Send + Sync + 'static) -> Arc<App> {
    reading(world, world.disk().clone(), blobs, before_reading)
}

/// Likewise, and what left memory is read on another disk.
fn reading(
    world: &World,
    disk: MemoryDisk,
    blobs: Arc<dyn Blobs>,
    before_reading: impl Fn() + Send + Sync + 'static,
) -> Arc<App> {
    let app = &world.app;
    Arc::new(App {
        desk: app.desk.clone(),
        blobs,
        readers: Readers::new(move || {
            before_reading();
            Ok(Box::new(disk.clone()))
        }),
        home: app.home.clone(),
        agents: AgentTokens::default(),
        authority: app.authority,
        address: app.address.clone(),
        names: Arc::clone(&app.names),
        study: app.study,
    })
}

fn ask(router: &Router, request: Request<Body>) -> JoinHandle<u16> {
    let router = router.clone();
    tokio::spawn(async move {
        let response = router.oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        to_bytes(response.into_body(), usize::MAX).await.map_or(status, |_| status)
    })
}

/// Alice's first job: two tasks that failed, and left memory.
async fn retired_job(world: &mut World) {
    let mut agent = Agent::join(world, "m1").await;
    world.submit(&world.alice, 2).await;
    for _ in 0..2 {
        let run = agent.start_next(world).await;
        agent.end_with(world, run, exited(3, Tail::default())).await;
    }
    assert_eq!(world.get("/api/v1/jobs/1?wait_s=60", &world.alice).await.status, 200);
    forget_with(world, Terms { over_max: 0, ..Terms::default() }).await;
}

/// However much a user asks of it, the desk goes on.
#[tokio::test(flavor = "multi_thread")]
async fn what_left_memory_is_read_beside_the_desk() {
    let mut world = World::new().await;
    retired_job(&mut world).await;
    let job = "/api/v1/jobs/1";
    for path in [
        job.to_owned(),
        "/api/v1/jobs".to_owned(),
        "/api/v1/jobs?state=failed".to_owned(),
        format!("{job}/failures"),
        format!("{job}/tasks?limit=10000"),
        format!("{job}/tasks/1"),
        format!("{job}/tasks/1/output"),
        format!("{job}/tasks/1/files"),
        format!("{job}/tasks/1/history"),
        format!("{job}/tasks/1/explain"),
        "/api/v1/keeping".to_owned(),
        format!("{job}/cancel"),
    ] {
        let gate = Arc::new(Gate::default());
        let at_gate = Arc::clone(&gate);
        let router = router(with(&world, Arc::new(world.blobs.clone()), move || at_gate.pass()));
        let method = if path.ends_with("/cancel") { "POST" } else { "GET" };
        let mut asked = ask(&router, request(method, &path, &world.alice, Body::from("{}")));
        assert!(timeout(MOMENT, &mut asked).await.is_err(), "{path}: it is not read beside the desk");
        assert_eq!(world.get("/api/v1/grid", &world.alice).await.status, 200, "{path}: the desk waits");
        gate.open();
        let status = timeout(PATIENCE, asked).await.unwrap().unwrap();
        assert_eq!(status, if path.ends_with("/files") { 404 } else { 200 }, "{path}");
    }
}

/// The jobs that left memory, without their descriptions: whoever reads one gets an error.
fn without_descriptions(disk: &MemoryDisk) -> MemoryDisk {
    let mut found = Vec::new();
    disk.past_jobs(&Wanted { limit: usize::MAX, ..Wanted::default() }, &mut |job| found.push(job)).unwrap();
    let jobs = found.into_iter().map(|found| PastJob {
        job: found.job,
        user: "alice".to_owned(),
        key: None,
        state: TaskPhase::Failed,
        ended: Time::ZERO,
        files: Vec::new(),
        results: found.results,
        bytes: found.bytes,
        removed: found.removed,
        body: found.body,
        spec: Vec::new(),
    });
    let short = MemoryDisk::default();
    let past = Past { upto: Seq::FIRST, jobs: jobs.collect(), ..Past::default() };
    MemoryStore::open(&short).commit_with(&[], Some(&past)).unwrap();
    short
}

#[tokio::test(flavor = "multi_thread")]
async fn how_a_job_stands_is_said_without_its_description() {
    let mut world = World::new().await;
    retired_job(&mut world).await;
    let short = without_descriptions(world.disk());
    let router = router(reading(&world, short, Arc::new(world.blobs.clone()), || ()));
    for (method, path, body, expected) in [
        ("GET", "/api/v1/jobs/1", "", 200),
        ("GET", "/api/v1/jobs/1?wait_s=1", "", 200),
        ("GET", "/api/v1/events?job=1", "", 200),
        ("POST", "/api/v1/jobs/1/cancel", "{}", 200),
        ("PUT", "/api/v1/jobs/1/results", "{\"keep\": true}", 200),
        ("GET", "/api/v1/jobs/1/tasks", "", 500),
    ] {
        let asked = ask(&router, request(method, path, &world.alice, Body::from(body)));
        assert_eq!(timeout(PATIENCE, asked).await.unwrap().unwrap(), expected, "{method} {path}");
    }
}

/// `PAST_READS_MAX`: also where those who asked are gone.
#[tokio::test(flavor = "multi_thread")]
async fn what_left_memory_is_read_by_so_many_at_a_time() {
    let mut world = World::new().await;
    retired_job(&mut world).await;
    let most = documented("PAST_READS_MAX") as usize;
    let gate = Arc::new(Gate::default());
    let at_gate = Arc::clone(&gate);
    let router = router(with(&world, Arc::new(world.blobs.clone()), move || at_gate.pass()));
    let failures = || request("GET", "/api/v1/jobs/1/failures", &world.alice, Body::empty());
    let gone: Vec<_> = (0..most).map(|_| ask(&router, failures())).collect();
    gate.expect_came(most, "as many as there are turns").await;
    for gone in gone {
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
    }
    let waits = ask(&router, failures());
    gate.expect_came(most, "what is read for those who are gone has its turn").await;
    gate.open();
    assert_eq!(timeout(PATIENCE, waits).await.unwrap().unwrap(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_nobody_waits_for_is_left_out() {
    let world = World::new().await;
    let desk = block_desk(&world).await;
    let looked = Arc::new(AtomicBool::new(false));
    let by_gone = Arc::clone(&looked);
    let mut gone = Box::pin(world.app.desk.look(move |_: &Desk, _| by_gone.store(true, Ordering::SeqCst)));
    assert!(gone.as_mut().now_or_never().is_none());
    drop(gone);
    drop(desk);
    world.app.desk.look(|_, _| ()).await.unwrap();
    assert!(!looked.load(Ordering::SeqCst));
}

/// A user's file, stored; its hash.
async fn put(world: &World, content: &'static str) -> String {
    let hash = blake3::hash(content.as_bytes()).to_string();
    let sent = world.call("PUT", &format!("/api/v1/blobs/{hash}"), &world.alice, Body::from(content)).await;
    assert_eq!(sent.status, 200, "{sent}");
    hash
}

/// What a retired job reads is named by the store, until it runs again: then it is named by memory, which was looked at before.
#[tokio::test(flavor = "multi_thread")]
async fn what_runs_again_while_files_are_removed_keeps_its_inputs() {
    let mut world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let hash = put(&world, "input").await;
    let job = json!({"command": ["true"], "inputs": [{"path": "a", "blob": hash}]});
    assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 201);
    let run = agent.start_next(&world).await;
    agent.end(&world, run, 0, Tail::default()).await;
    assert_eq!(world.get("/api/v1/jobs/1?wait_s=60", &world.alice).await.status, 200);
    forget_with(&mut world, Terms { over_max: 0, ..Terms::default() }).await;
    // It is as old as anything that is removed.
    let old = world.app.desk.now();
    let (router, runtime, alice) =
        (world.router.clone(), tokio::runtime::Handle::current(), world.alice.clone());
    let rerun = move || {
        let rerun = request("POST", "/api/v1/jobs/1/rerun", &alice, Body::from("{}"));
        let reply = runtime.block_on(router.clone().oneshot(rerun)).unwrap();
        assert_eq!(reply.status(), 200);
    };
    let before_removal: Option<Before> = Some(Box::new(rerun));
    let blobs = Hooked { blobs: world.blobs.clone(), before_get: None, before_removal };
    let app = with(&world, Arc::new(blobs), || ());
    assert_eq!(tidy(&app, old).await.unwrap().blobs, 0, "its input is gone");
    let head = world.call("HEAD", &format!("/api/v1/blobs/{hash}"), &world.alice, Body::empty()).await;
    assert_eq!(head.status, 200);
}

/// A large file may be on its way for days.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_as_old_as_its_end() {
    let world = World::new().await;
    let hash = blake3::hash(b"slow").to_string();
    let (rest, comes) = tokio::sync::oneshot::channel::<()>();
    let (begins, begun) = tokio::sync::oneshot::channel::<()>();
    let first = async move {
        begins.send(()).unwrap();
        Ok::<_, io::Error>(Bytes::from("sl"))
    };
    let second = async move {
        comes.await.unwrap();
        Ok(Bytes::from("ow"))
    };
    let pieces = Body::from_stream(first.into_stream().chain(second.into_stream()));
    let put = ask(&world.router, request("PUT", &format!("/api/v1/blobs/{hash}"), &world.alice, pieces));
    begun.await.unwrap();
    let meanwhile = world.app.desk.now();
    rest.send(()).unwrap();
    assert_eq!(put.await.unwrap(), 200);
    assert_eq!(tidy(&world.app, meanwhile).await.unwrap().blobs, 0, "it is younger than that");
}

/// An agent's only task leaves a file; where the archive of it is.
async fn left(world: &World, content: &[u8]) -> &'static str {
    let mut agent = Agent::join(world, "m1").await;
    world.submit(&world.alice, 1).await;
    let session = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&session, MachineId::new(0));
    let path = format!("/api/v1/blobs/{}", blake3::hash(content));
    let run = agent.start_next(world).await;
    let path = left_by(run, &path);
    let sent = world.call("PUT", &path, &session.reveal(), Body::from(content.to_vec())).await;
    let files: Stored = sent.json();
    agent.end_with(world, run, End { files: Some(files), ..exited(0, Tail::default()) }).await;
    assert_eq!(world.get("/api/v1/jobs/1?wait_s=60", &world.alice).await.status, 200);
    "/api/v1/jobs/1/tasks/1/files"
}

/// Of a short result it is said at once, of a long one when it is asked for again: what was sent of that has no end.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_a_damaged_result_hears_it() {
    for (bytes, breaks_off) in [(1, false), (65_536, false), (65_537, true), (300_000, true)] {
        let world = World::new().await;
        let content = vec![7; bytes];
        let files = left(&world, &content).await;
        assert_eq!(world.get(files, &world.alice).await.body, content);
        world.blobs.damage(blake3::hash(&content).into());
        if breaks_off {
            let asked = request("GET", files, &world.alice, Body::empty());
            let answer = world.router.clone().oneshot(asked).await.unwrap();
            assert_eq!(answer.status(), 200, "nothing is known of it yet");
            assert!(to_bytes(answer.into_body(), usize::MAX).await.is_err(), "its end is missing");
        }
        let said = world.get(files, &world.alice).await;
        assert_eq!((said.status, said.code().as_str()), (500, "damaged"), "{bytes}: {said}");
        assert!(said.to_string().contains("are not what the task left"), "{said}");
        let gone = world.get(files, &world.alice).await;
        assert!(gone.code() == "damaged" && gone.to_string().contains("folder any more"), "{gone}");
    }
}

/// Whoever asks for files and goes away has no more of them read at a time than one who stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_opened_has_its_place_though_nobody_waits_for_it() {
    let world = World::new().await;
    let files = left(&world, b"result").await;
    let (_, each) = documented_share("FILES_OF_USERS");
    let gate = Arc::new(Gate::default());
    let at_gate = Arc::clone(&gate);
    let before_get: Option<Before> = Some(Box::new(move || at_gate.pass()));
    let blobs = Hooked { blobs: world.blobs.clone(), before_get, before_removal: None };
    let router = router(with(&world, Arc::new(blobs), || ()));
    let files = || request("GET", files, &world.alice, Body::empty());
    let gone: Vec<_> = (0..each).map(|_| ask(&router, files())).collect();
    gate.expect_came(each, "as many as one may have").await;
    for gone in gone {
        gone.abort();
        assert!(gone.await.unwrap_err().is_cancelled());
    }
    assert_eq!(timeout(PATIENCE, ask(&router, files())).await.expect("it is refused").unwrap(), 503);
    gate.open();
    // The last of those who are gone leaves its place.
    let again = async { while ask(&router, files()).await.unwrap() != 200 {} };
    timeout(PATIENCE, again).await.unwrap();
}
