//! Results are kept for so long, or until somebody has had enough of them; removed ones are said to be.

use crate::agent::Agent;
use crate::limits::documented;
use crate::retired::forget_with;
use crate::world::{Reply, World};
use axum::body::Body;
use gleaner_server::desk::{Administration, Keeping, Order, Requester, Terms};
use gleaner_server::journal::Fact;
use gleaner_server::outputs;
use gleaner_server::store::Seq;
use gleaner_server::tidying::remove_due;
use gleaner_units::{RunId, Span};
use gleaner_wire::api::{JobView, KeepingView, QuotaList, Role};
use gleaner_wire::session::{Stream, Tail};
use serde_json::json;

fn terms(results: Option<Span>, records: Option<Span>) -> Terms {
    Terms { over_max: 0, keeping: Keeping { results, records }, ..Terms::default() }
}

const AT_ONCE: Option<Span> = Some(Span::from_nanos(1));

async fn stored(world: &World) -> u64 {
    let all: QuotaList = world.get("/api/v1/quotas", &world.root).await.json();
    all.users.iter().find(|view| view.user == "alice").expect("a user").bytes
}

async fn keep(world: &World, job: u32, token: &str, keep: bool) -> Reply {
    let body = Body::from(json!({ "keep": keep }).to_string());
    world.call("PUT", &format!("/api/v1/jobs/{job}/results"), token, body).await
}

async fn job(world: &World, job: u32) -> JobView {
    world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await.json()
}

async fn output(world: &World, job: u32, query: &str) -> Reply {
    world.get(&format!("/api/v1/jobs/{job}/tasks/1/output{query}"), &world.alice).await
}

/// Whether anything of a run's is in a file.
fn is_on_disk(world: &World, run: RunId) -> bool {
    let (home, began) = (world.app.home.folder(), world.app.desk.began());
    outputs::length(home, began, run, Stream::Stdout).unwrap() > 0
}

/// One job with a short output, and one with a long one.
async fn two_jobs(world: &World) -> [RunId; 2] {
    let mut agent = Agent::join(world, "m1").await;
    let mut runs = Vec::new();
    for text in [&b"short"[..], b"long"] {
        let job = world.submit(&world.alice, 1).await;
        let run = agent.start_next(world).await;
        if text == b"long" {
            agent.write(world, run, 0, b"very ").await;
        }
        let offset = if text == b"long" { 5 } else { 0 };
        agent.end(world, run, 0, Tail { offset, bytes: text.to_vec(), dropped: 0 }).await;
        assert_eq!(world.get(&format!("/api/v1/jobs/{job}?wait_s=60"), &world.alice).await.status, 200);
        runs.push(run);
    }
    let by = Requester { user: "root".to_owned(), role: Role::Admin, token: None };
    let close =
        Order::Administer(Administration::SetOpen { machine: "m1".to_owned(), open: false, why: None });
    world.app.desk.order(by, close).await.unwrap().unwrap();
    [runs[0], runs[1]]
}

#[tokio::test(flavor = "multi_thread")]
async fn results_go_when_they_are_due_and_it_is_said() {
    let mut world = World::new().await;
    let [short, long] = two_jobs(&world).await;
    assert_eq!(stored(&world).await, 14);
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    let keeping: KeepingView = world.get("/api/v1/keeping", &world.alice).await.json();
    assert_eq!((keeping.due.jobs, keeping.due.bytes, keeping.next.len()), (2, 14, 2));
    let others: KeepingView = world.get("/api/v1/keeping", &world.bob).await.json();
    assert_eq!(others.due.jobs, 0, "another's jobs are nobody's business");

    assert_eq!(keep(&world, 1, &world.bob, true).await.status, 404);
    assert_eq!(keep(&world, 1, &world.alice, true).await.status, 200);
    let removed = remove_due(&world.app).await.unwrap();
    assert_eq!((removed.jobs, removed.bytes), (1, 9));
    assert_eq!((job(&world, 1).await.results_kept, stored(&world).await), (true, 5));
    assert_eq!(output(&world, 1, "").await.body, b"short", "what is kept is there");
    assert!(!is_on_disk(&world, long), "what is removed is not");
    let gone = output(&world, 2, "").await;
    assert_eq!((gone.status, gone.code().as_str()), (410, "removed"), "{gone}");
    assert!(gone.to_string().contains("the results of job 2 were removed on 20"), "{gone}");
    assert_eq!(world.get("/api/v1/jobs/2/tasks/1/files", &world.alice).await.status, 410);
    let view = job(&world, 2).await;
    assert_eq!((view.tasks.done, view.bytes, view.results_until_s), (1, 0, None), "all else is known");
    assert!(view.results_removed.is_some());
    assert_eq!(keep(&world, 2, &world.alice, true).await.status, 409, "too late");

    // What the rows make again is the same.
    world.disk().lose_past();
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    assert_eq!(job(&world, 2).await, view);
    assert_eq!((job(&world, 1).await.results_kept, stored(&world).await), (true, 5));

    assert_eq!(keep(&world, 1, &world.alice, false).await.status, 200);
    assert_eq!(remove_due(&world.app).await.unwrap().jobs, 1);
    assert_eq!((output(&world, 1, "").await.status, stored(&world).await), (410, 0), "{short:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_again_is_there_again() {
    let mut world = World::new().await;
    two_jobs(&world).await;
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    remove_due(&world.app).await.unwrap();
    let rerun = world.post("/api/v1/jobs/2/rerun", &world.alice, &json!({})).await;
    assert_eq!(rerun.status, 200, "{rerun}");
    let mut agent = Agent::join(&world, "m2").await;
    let run = agent.start_next(&world).await;
    agent.write(&world, run, 0, b"very ").await;
    agent.end(&world, run, 0, Tail { offset: 5, bytes: b"new".to_vec(), dropped: 0 }).await;
    assert_eq!(world.get("/api/v1/jobs/2?wait_s=60", &world.alice).await.status, 200);
    for _ in 0..2 {
        assert_eq!(output(&world, 2, "").await.body, b"very new");
        assert_eq!(output(&world, 2, "?run=1").await.status, 410, "that of the run before stays removed");
        assert_eq!(stored(&world).await, 8);
        forget_with(&mut world, terms(None, None)).await;
    }
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    assert_eq!(remove_due(&world.app).await.unwrap().bytes, 8, "it is due as any other");
    assert!(!is_on_disk(&world, run));
}

/// The fact comes first: a coordinator that ends before the files are gone removes them when it is back, and until then nothing
/// runs again that would write them.
#[tokio::test(flavor = "multi_thread")]
async fn a_removal_that_broke_off_is_gone_on_with() {
    let mut world = World::new().await;
    let [_, long] = two_jobs(&world).await;
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    let own = Requester { user: String::new(), role: Role::Admin, token: None };
    let order = Order::RemoveResults(vec![gleaner_wire::JobId(2)]);
    world.app.desk.order(own, order).await.unwrap().unwrap();
    assert!(is_on_disk(&world, long));
    let rerun = world.post("/api/v1/jobs/2/rerun", &world.alice, &json!({})).await;
    assert_eq!((rerun.status, rerun.code().as_str()), (409, "conflict"), "{rerun}");
    assert_eq!(output(&world, 2, "").await.status, 410);
    world.restart_with(terms(None, None));
    remove_due(&world.app).await.unwrap();
    assert!(!is_on_disk(&world, long));
    assert_eq!(world.post("/api/v1/jobs/2/rerun", &world.alice, &json!({})).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_of_so_many_jobs_go_by_one_fact() {
    let mut world = World::new().await;
    let most = documented("REMOVED_AT_ONCE") as usize;
    for _ in 0..=most {
        let job = world.submit(&world.alice, 1).await;
        world.post(&format!("/api/v1/jobs/{job}/cancel"), &world.alice, &json!({})).await;
    }
    forget_with(&mut world, terms(AT_ONCE, None)).await;
    assert_eq!(remove_due(&world.app).await.unwrap().jobs, most as u64 + 1);
    let rows = world.app.readers.read(|reader| reader.read(Seq::FIRST, 100_000)).unwrap();
    let facts = rows.iter().filter_map(|stored| serde_json::from_str::<Fact>(&stored.row.body).ok());
    let removed = facts.filter_map(|fact| match fact {
        Fact::ResultsRemoved { jobs, .. } => Some(jobs.len()),
        _ => None,
    });
    assert_eq!(removed.collect::<Vec<_>>(), [most, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn at_last_nothing_is_known_of_a_job() {
    let mut world = World::new().await;
    two_jobs(&world).await;
    forget_with(&mut world, terms(AT_ONCE, AT_ONCE)).await;
    assert_eq!(keep(&world, 1, &world.alice, true).await.status, 200);
    remove_due(&world.app).await.unwrap();
    let gone = world.get("/api/v1/jobs/2", &world.alice).await;
    assert_eq!(gone.status, 404);
    assert!(gone.to_string().contains("--keep-for"), "{gone}");
    assert_eq!(job(&world, 1).await.tasks.done, 1, "what is kept is known");
    let jobs = world.get("/api/v1/jobs", &world.alice).await;
    assert_eq!(jobs.json::<serde_json::Value>()["jobs"].as_array().unwrap().len(), 1);
    world.disk().lose_past();
    forget_with(&mut world, terms(None, None)).await;
    assert_eq!(world.get("/api/v1/jobs/2", &world.alice).await.status, 404, "not by the rows either");
    assert_eq!(world.submit(&world.alice, 1).await, 3, "its number is nobody else's");
}
