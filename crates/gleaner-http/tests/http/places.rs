//! So many at a time, for all together and for each caller: whoever brings one more is told to try again.

use crate::limits::{documented, documented_share};
use crate::world::{World, request};
use axum::body::{Body, Bytes};
use axum::http::Request;
use futures_util::{FutureExt as _, stream};
use gleaner_net::{Token, TokenKind};
use gleaner_policy::PolicySpec;
use gleaner_server::desk::{Administration, Desk, Input, NewUser, Order, Requester};
use gleaner_server::store::Reader;
use gleaner_server::study::StudyError;
use gleaner_units::{MachineId, Time};
use gleaner_wire::api::Role;
use gleaner_wire::day::WhatIfView;
use serde_json::Value;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower::ServiceExt as _;

/// Longer than anything takes that is going to happen at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Long enough for what would happen at once.
pub(crate) const MOMENT: Duration = Duration::from_millis(100);

fn endless() -> Body {
    Body::from_stream(stream::pending::<io::Result<Bytes>>())
}

/// The desk does nothing until what is returned is dropped.
pub(crate) async fn block_desk(world: &World) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begins, begun) = tokio::sync::oneshot::channel();
    let desk = world.app.desk.clone();
    let look = move |_: &Desk, _| {
        begins.send(()).unwrap();
        // An error: the other end was dropped.
        released.recv().unwrap_err();
    };
    tokio::spawn(async move { desk.look(look).await });
    begun.await.unwrap();
    release
}

async fn administrator(world: &World, name: &str) -> String {
    let path = format!("/api/v1/tokens/user?name={name}&role=admin");
    let reply = world.call("POST", &path, &world.root, Body::empty()).await;
    assert_eq!(reply.status, 201, "{reply}");
    reply.json::<Value>()["token"].as_str().unwrap().to_owned()
}

async fn administrators(world: &World, count: usize) -> Vec<String> {
    let mut tokens = Vec::new();
    for number in 0..count {
        tokens.push(administrator(world, &format!("user{number}")).await);
    }
    tokens
}

fn agents(world: &World, count: usize) -> Vec<String> {
    let tokens = (0..count).map(|number| {
        let token = Token::generate(TokenKind::Session).unwrap();
        world.app.agents.add(&token, MachineId::new(number));
        token.reveal()
    });
    tokens.collect()
}

/// Requests that stay open, and the statuses of those that did not.
#[derive(Default)]
struct Open(JoinSet<u16>);

impl Open {
    fn ask(&mut self, world: &World, request: Request<Body>) {
        let router = world.router.clone();
        self.0.spawn(async move {
            let response = router.oneshot(request).await.unwrap();
            // What has begun goes on as long as somebody has it.
            if response.status().is_success() {
                pending::<()>().await;
            }
            response.status().as_u16()
        });
    }

    async fn expect_refused(&mut self, refused: usize, what: &str) {
        for number in 0..refused {
            let next = timeout(PATIENCE, self.0.join_next()).await;
            let status = next.unwrap_or_else(|_| panic!("{what}: {number} of {refused} are refused"));
            assert_eq!(status.unwrap().unwrap(), 503, "{what}");
        }
        if let Ok(more) = timeout(MOMENT, self.0.join_next()).await {
            panic!("{what}: more than {refused} are not let in: {more:?}");
        }
    }
}

/// Of one caller's requests as many stay as the limit says for each; of many callers' as many as it says for all.
async fn expect_share(world: &World, limit: &str, tokens: &[String], open: impl Fn(&str) -> Request<Body>) {
    let (all, each) = documented_share(limit);
    let mut requests = Open::default();
    let (first, others) = tokens.split_first().unwrap();
    for _ in 0..each + 3 {
        requests.ask(world, open(first));
    }
    requests.expect_refused(3, &format!("{limit}, each")).await;
    for token in others {
        (0..each.min(all)).for_each(|_| requests.ask(world, open(token)));
    }
    requests.expect_refused((others.len() + 1) * each - all, &format!("{limit}, all")).await;
    // Who is gone leaves a place to others.
    requests.0.shutdown().await;
    let mut again = Open::default();
    again.ask(world, open(first));
    while let Ok(Some(refused)) = timeout(MOMENT, again.0.join_next()).await {
        assert_eq!(refused.unwrap(), 503, "{limit}");
        again.ask(world, open(first));
    }
    // Its place is free before the next limit is tried.
    again.0.shutdown().await;
}

/// As many callers as it takes to have all places, and one more.
fn callers(limit: &str) -> usize {
    let (all, each) = documented_share(limit);
    all.div_ceil(each) + 1
}

#[tokio::test(flavor = "multi_thread")]
async fn users_have_so_many_places_each_and_together() {
    let world = World::new().await;
    world.submit(&world.root, 1).await;
    let users = administrators(&world, callers("REQUESTS_OF_USERS")).await;
    for (limit, method, path, has_body) in [
        ("REQUESTS_OF_USERS", "POST", "/api/v1/jobs/1/hold", true),
        ("WAITS", "GET", "/api/v1/jobs/1?wait_s=60", false),
        ("STREAMS", "GET", "/api/v1/events", false),
        ("FILES_OF_USERS", "PUT", "/api/v1/probe", true),
        ("LARGE_JOBS", "POST", "/api/v1/jobs", true),
    ] {
        let open =
            |token: &str| request(method, path, token, if has_body { endless() } else { Body::empty() });
        expect_share(&world, limit, &users[..callers(limit)], open).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_have_so_many_places_each_and_together() {
    let world = World::new().await;
    let [requests, files] = ["REQUESTS_OF_AGENTS", "FILES_OF_AGENTS"];
    let mut machines = Vec::new();
    for number in 0..callers(requests).max(callers(files)) {
        machines.push(crate::agent::Agent::join(&world, &format!("m{number}")).await);
    }
    let probe = |token: &str| request("PUT", "/api/v1/probe", token, endless());
    expect_share(&world, files, &agents(&world, callers(files)), probe).await;
    // It is asked whether there is a file: no place among files is needed for that.
    let desk = block_desk(&world).await;
    let path = format!("/api/v1/blobs/{}", blake3::hash(b"x"));
    let head = |token: &str| request("HEAD", &path, token, Body::empty());
    expect_share(&world, requests, &agents(&world, callers(requests)), head).await;
    drop(desk);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_have_so_many_places_together() {
    let world = World::new().await;
    let desk = block_desk(&world).await;
    let open = |token: &str| request("GET", "/healthz", token, Body::empty());
    expect_share(&world, "REQUESTS_OF_STRANGERS", &["nobody".to_owned()], open).await;
    drop(desk);
}

async fn join_token(world: &World) -> String {
    let reply = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
    assert_eq!(reply.status, 201, "{reply}");
    reply.json::<Value>()["token"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_joins_has_so_many_places_with_each_token_and_with_all() {
    let world = World::new().await;
    let mut tokens = Vec::new();
    for _ in 0..callers("REQUESTS_OF_JOINING") {
        tokens.push(join_token(&world).await);
    }
    let open = |token: &str| request("POST", "/api/v1/agents", token, endless());
    expect_share(&world, "REQUESTS_OF_JOINING", &tokens, open).await;
}

/// Of a used token nothing is read once its machine is turned away, and whoever may still join takes no stranger's place.
#[tokio::test(flavor = "multi_thread")]
async fn who_may_join_no_more_keeps_no_stranger_out() {
    let world = World::new().await;
    let [used, good] = [join_token(&world).await, join_token(&world).await];
    let reply = world.post("/api/v1/agents", &used, &crate::agent::enrolment("m1")).await;
    assert_eq!(reply.status, 201, "{reply}");
    let reply = world.call("POST", "/api/v1/machines/m1/revoke", &world.root, Body::empty()).await;
    assert_eq!(reply.status, 200, "{reply}");
    let (all, _) = documented_share("REQUESTS_OF_STRANGERS");
    let mut requests = Open::default();
    (0..all).for_each(|_| requests.ask(&world, request("POST", "/api/v1/agents", &used, endless())));
    for number in 0..all {
        let answered = timeout(PATIENCE, requests.0.join_next()).await;
        let status = answered.unwrap_or_else(|_| panic!("{number} of {all} are answered")).unwrap().unwrap();
        assert_eq!(status, 403);
    }
    let (_, each) = documented_share("REQUESTS_OF_JOINING");
    (0..each.max(all))
        .for_each(|_| requests.ask(&world, request("POST", "/api/v1/agents", &good, endless())));
    requests.expect_refused(each.max(all) - each, "with a token that is good").await;
    let reply = world.get("/healthz", "nobody").await;
    assert_eq!(reply.status, 200, "{reply}");
}

type Ask = fn(&str) -> Request<Body>;

/// Bytes whose number nobody said beforehand, as of a large job.
fn streamed(text: &'static str) -> Body {
    Body::from_stream(stream::iter([Ok::<_, io::Error>(Bytes::from(text))]))
}

/// What takes long waits for its turn and is not refused. Those that have their turn wait for the desk here.
#[tokio::test(flavor = "multi_thread")]
async fn what_takes_long_takes_turns() {
    let world = World::new().await;
    let users = administrators(&world, 2).await;
    // What waits for the desk in its turn, and what needs a turn and no desk.
    let kinds: [(&str, Ask, Ask); 2] = [
        (
            "DAYS_MAX",
            |token| request("GET", "/api/v1/waits", token, Body::empty()),
            |token| request("GET", "/api/v1/day", token, Body::empty()),
        ),
        (
            "LARGE_JOBS_READ_MAX",
            |token| request("POST", "/api/v1/jobs", token, streamed(r#"{"command": ["true"]}"#)),
            |token| request("POST", "/api/v1/jobs", token, streamed("nonsense")),
        ),
    ];
    for (limit, open, ask) in kinds {
        let is_answered = async || {
            let answer = world.router.clone().oneshot(ask(&users[1]));
            timeout(10 * MOMENT, answer).await.is_ok()
        };
        let desk = block_desk(&world).await;
        let most = documented(limit);
        let mut requests = Open::default();
        for number in 0..most {
            assert!(is_answered().await, "{limit}: {number} of {most}");
            requests.ask(&world, open(&users[0]));
            tokio::time::sleep(MOMENT).await;
        }
        assert!(!is_answered().await, "{limit}: more than {most}");
        drop(desk);
        assert!(is_answered().await, "{limit}: nobody is in the way");
    }
}

/// As many as `LONG_LOOKS_MAX` wait for the desk at a time, whoever asks for more.
#[tokio::test(flavor = "multi_thread")]
async fn long_looks_take_turns() {
    let world = World::new().await;
    let users = administrators(&world, 1).await;
    let most = documented("LONG_LOOKS_MAX");
    for path in [
        "/api/v1/grid",
        "/api/v1/labels",
        "/api/v1/quotas",
        "/api/v1/budget",
        "/api/v1/machines",
        "/api/v1/jobs",
        "/api/v1/jobs/1/tasks?limit=1001",
        "/api/v1/jobs/1/tasks/1/history",
        "/api/v1/jobs/1/failures",
        "/metrics",
    ] {
        let desk = block_desk(&world).await;
        let mut requests = Open::default();
        for _ in 0..most + 3 {
            requests.ask(&world, request("GET", path, &users[0], Body::empty()));
        }
        tokio::time::sleep(MOMENT).await;
        // Without the budget after which a runtime lets others go on.
        let put = || tokio::task::unconstrained(world.app.desk.input(Input::Tick));
        // The look that blocks it has the first place.
        for number in 1 + most..documented("QUEUE_MAX") {
            assert!(put().now_or_never().is_some(), "{path}: place {number}");
        }
        assert!(put().now_or_never().is_none(), "{path}: more than {most} are there");
        drop(desk);
        drop(requests);
        assert!(put().await.is_ok(), "{path}: nobody is in the way");
    }
}

static STUDIES: AtomicU64 = AtomicU64::new(0);
static MOST_STUDIES: AtomicU64 = AtomicU64::new(0);

/// A look into the past that takes a moment, and finds nothing.
fn slow_study(_: &dyn Reader, _: Time, _: &PolicySpec) -> Result<WhatIfView, StudyError> {
    MOST_STUDIES.fetch_max(STUDIES.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    std::thread::sleep(MOMENT);
    STUDIES.fetch_sub(1, Ordering::SeqCst);
    Err(StudyError::Nothing)
}

/// So many at a time, `STUDIES_MAX`, and each has its turn.
#[tokio::test(flavor = "multi_thread")]
async fn looks_into_the_past_take_turns() {
    let world = World::with_study(slow_study).await;
    let keys = serde_json::json!({"preset": "bertasi/social"});
    let looks = (0..5).map(|_| world.post("/api/v1/what-if", &world.root, &keys));
    for look in futures_util::future::join_all(looks).await {
        assert_eq!(look.status, 409, "{look}");
    }
    assert_eq!(MOST_STUDIES.load(Ordering::SeqCst), documented("STUDIES_MAX"));
}

/// As many as `QUEUE_MAX` wait for the desk's thread; whoever brings one more waits, and is not refused.
#[tokio::test(flavor = "multi_thread")]
async fn so_much_waits_for_the_desk() {
    let world = World::new().await;
    let desk = block_desk(&world).await;
    let most = documented("QUEUE_MAX");
    // Without the budget after which a runtime lets others go on.
    let put = || tokio::task::unconstrained(world.app.desk.input(Input::Tick));
    // The look that blocks it has the first place.
    for number in 1..most {
        assert!(put().now_or_never().is_some(), "{number} of {most}");
    }
    let mut waiting = Box::pin(put());
    assert!(waiting.as_mut().now_or_never().is_none(), "more than {most}");
    drop(desk);
    timeout(PATIENCE, waiting).await.unwrap().unwrap();
}

/// `BATCH_MAX`: what is ordered is committed when the inputs with it were taken in.
#[tokio::test(flavor = "multi_thread")]
async fn so_many_inputs_share_a_commit() {
    let world = World::new().await;
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    let role = Some(Role::User);
    let order = Order::Administer(Administration::AddUser(NewUser {
        user: "carol".to_owned(),
        token: "t".to_owned(),
        role,
        expires: None,
        again: false,
    }));
    let before = world.disk().last().unwrap();
    let desk = block_desk(&world).await;
    let mut first = Box::pin(world.app.desk.order(by, order));
    assert!(first.as_mut().now_or_never().is_none());
    let most = documented("BATCH_MAX");
    // The look that blocks the desk and the first have two places.
    let mut looks = Vec::new();
    for _ in 2..=most {
        let disk = world.disk().clone();
        let look = move |_: &Desk, _| disk.last().unwrap() > before;
        let mut look = Box::pin(tokio::task::unconstrained(world.app.desk.look(look)));
        assert!(look.as_mut().now_or_never().is_none());
        looks.push(look);
    }
    drop(desk);
    let mut seen = Vec::new();
    for look in looks {
        seen.push(timeout(PATIENCE, look).await.unwrap().unwrap());
    }
    let together = seen.iter().take_while(|is_done| !**is_done).count() as u64;
    assert_eq!((together + 2, seen.len() as u64), (most, most - 1));
}

/// Of more events than `LIVE_BACKLOG_MAX` the oldest are missed.
#[tokio::test(flavor = "multi_thread")]
async fn who_watches_slowly_hears_how_much_was_missed() {
    let world = World::new().await;
    let _agent = crate::agent::Agent::join(&world, "m1").await;
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    let most = documented("LIVE_BACKLOG_MAX");
    // What it said before is told of by then.
    world.app.desk.look(|_, _| ()).await.unwrap();
    let mut watched = [world.app.desk.live(), world.app.desk.live()];
    for number in 0..=most {
        if number == most {
            assert!(watched[0].recv().await.is_ok(), "{most} are kept");
        }
        let order = Order::Administer(Administration::SetOpen {
            machine: "m1".to_owned(),
            open: number % 2 == 1,
            why: None,
        });
        world.app.desk.order(by.clone(), order).await.unwrap().unwrap();
    }
    let missed = watched[1].recv().await;
    assert!(matches!(missed, Err(RecvError::Lagged(1))), "{missed:?}");
}
