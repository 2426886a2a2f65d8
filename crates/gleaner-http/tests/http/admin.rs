//! What administrators change, and the numbers for Prometheus.

use crate::agent::Agent;
use crate::world::{World, request};
use axum::body::Body;
use gleaner_server::desk::Input;
use gleaner_server::journal::Fact;
use gleaner_server::store::Seq;
use gleaner_wire::api::{
    AccountView, Actor, BudgetView, ExplanationView, GridView, MachineList, MachineState, MachineView,
    PolicyView, Submitted,
};
use gleaner_wire::limits::{NAME_BYTES_MAX, PERIOD_MIN_S, PRICE_MAX};
use gleaner_wire::session::{End, Outcome, ToAgent};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn machines_hear_what_is_wanted_of_them() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let paused = |paused| ToAgent::SetPaused { paused, by: "user root".to_owned() };
    for (order, told, state) in [
        ("drain", vec![], MachineState::Closed),
        ("pause", vec![paused(true)], MachineState::Closed),
        ("unpause", vec![paused(false)], MachineState::Closed),
        ("resume", vec![], MachineState::Open),
        ("measure", vec![ToAgent::Measure], MachineState::Open),
        ("revoke", vec![], MachineState::Revoked),
    ] {
        let path = format!("/api/v1/machines/m1/{order}");
        let reply = world.call("POST", &path, &world.root, Body::empty()).await;
        assert_eq!(reply.json::<MachineView>().state, state, "{order}");
        for expected in told {
            let heard = loop {
                let message = agent.hear().await;
                if !matches!(message, ToAgent::Welcome { .. } | ToAgent::Yours { .. }) {
                    break message;
                }
            };
            assert_eq!(heard, expected);
        }
    }
    for order in ["resume", "pause", "measure"] {
        let path = format!("/api/v1/machines/m1/{order}");
        let reply = world.call("POST", &path, &world.root, Body::empty()).await;
        assert_eq!((reply.status, reply.code().as_str()), (409, "conflict"), "{order}: {reply}");
        assert!(reply.to_string().contains("m1 was revoked"), "{order}: {reply}");
    }
    let nowhere = world.call("POST", "/api/v1/machines/m2/drain", &world.root, Body::empty()).await;
    assert_eq!(nowhere.status, 404, "{nowhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_is_set_if_it_is_one() {
    let world = World::new().await;
    for (body, status) in [
        (r#"{"preset": "fifo"}"#, 422),
        (r#"{"preset": "none such"}"#, 422),
        (r#"{"preset": "bertasi/greedy", "relocate": {"score": "gredy"}}"#, 422),
        (r#"{"preset": "bertasi/greedy", "ahead": "where-short"}"#, 200),
        (r#"{"preset": "bertasi/greedy"}"#, 200),
        ("{}", 422),
        ("", 400),
    ] {
        let reply = world.call("PUT", "/api/v1/policy", &world.root, Body::from(body)).await;
        assert!(reply.status == status || body.contains("fifo"), "{body}: {reply}");
    }
    let view: PolicyView = world.get("/api/v1/policy", &world.alice).await.json();
    assert_eq!(view.name, "bertasi/greedy");
    // Whether tasks are sent ahead stays as it was.
    assert_eq!(json!(view.policy), json!({ "preset": "bertasi/greedy", "ahead": "where-short" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_budgets_and_policies_go_together() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    let price = "/api/v1/machines/m1/price";
    for (path, body, status, says) in [
        ("/api/v1/policy", r#"{"preset": "elleuch/b-min-min"}"#, 422, "budget: found nothing"),
        ("/api/v1/budget", r#"{"budget": {"recharge": 0, "period_s": 2}}"#, 422, "budget.recharge: found 0"),
        (
            "/api/v1/budget",
            r#"{"budget": {"recharge": 9, "period_s": 0.1}}"#,
            422,
            "budget.period_s: found 0.1",
        ),
        ("/api/v1/budget", r#"{"budget": {"recharge": 9, "period_s": 60, "per": "user"}}"#, 200, ""),
        ("/api/v1/policy", r#"{"preset": "elleuch/b-min-min"}"#, 200, "every 60 s"),
        (
            "/api/v1/budget",
            r#"{"budget": null}"#,
            422,
            "elleuch/b-min-min spends a budget and cannot go on without one; choose another policy first",
        ),
        (price, r#"{"price": -1}"#, 422, "price is -1"),
        (price, r#"{"price": 2.5}"#, 200, "2.5"),
        ("/api/v1/machines/m2/price", r#"{"price": 1}"#, 404, "m2"),
    ] {
        let reply = world.call("PUT", path, &world.root, Body::from(body)).await;
        assert_eq!(reply.status, status, "{body}: {reply}");
        assert!(reply.to_string().contains(says), "{body}: {reply}");
        let refused = world.call("PUT", path, &world.alice, Body::from(body)).await;
        assert_eq!(refused.status, 403, "{body}: {refused}");
    }
    let view: BudgetView = world.get("/api/v1/budget", &world.alice).await.json();
    assert!(view.heeded && view.accounts.is_empty() && view.next_recharge_s.is_some(), "{view:?}");
    world.submit(&world.alice, 2).await;
    world.submit(&world.bob, 1).await;
    let account = |user: &str| AccountView { user: Some(user.into()), spent: 0, held: 0, left: 9, paid: 0 };
    for (token, accounts) in [
        (&world.alice, vec![account("alice")]),
        (&world.bob, vec![account("bob")]),
        (&world.root, vec![account("alice"), account("bob")]),
    ] {
        let view: BudgetView = world.get("/api/v1/budget", token).await.json();
        assert_eq!(view.accounts, accounts, "no user sees what another spent");
    }
    let shared = Body::from(r#"{"budget": {"recharge": 9, "period_s": 60, "per": "grid"}}"#);
    let reply = world.call("PUT", "/api/v1/budget", &world.root, shared).await;
    assert_eq!(reply.status, 200, "{reply}");
    let view: BudgetView = world.get("/api/v1/budget", &world.bob).await.json();
    assert_eq!(
        (view.accounts.len(), &view.accounts[0].user),
        (1, &None),
        "what is everyone's, everyone sees"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn prices_and_periods_have_bounds() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    let budget = |period_s: f64| json!({"budget": {"recharge": 9, "period_s": period_s}});
    for (path, body, status) in [
        ("/api/v1/machines/m1/price", json!({"price": PRICE_MAX}), 200),
        ("/api/v1/machines/m1/price", json!({"price": PRICE_MAX * 1.001}), 422),
        ("/api/v1/budget", budget(PERIOD_MIN_S), 200),
        ("/api/v1/budget", budget(PERIOD_MIN_S * 0.999), 422),
    ] {
        let reply = world.call("PUT", path, &world.root, Body::from(body.to_string())).await;
        assert_eq!(reply.status, status, "{body}: {reply}");
    }
}

/// The name is the administrator's word, it can be taken back, and the journal has who said it.
#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_says_whose_a_machine_is() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    let path = "/api/v1/machines/m1/owner";
    for (path, body, status) in [
        (path, json!({"owner": "ada"}), 200),
        (path, json!({"owner": null}), 200),
        (path, json!({"owner": "eve"}), 200),
        (path, json!({"owner": ""}), 422),
        (path, json!({"owner": "x".repeat(NAME_BYTES_MAX + 1)}), 422),
        ("/api/v1/machines/m2/owner", json!({"owner": "ada"}), 404),
    ] {
        let refused = world.call("PUT", path, &world.alice, Body::from(body.to_string())).await;
        assert_eq!(refused.status, 403, "{body}: {refused}");
        let reply = world.call("PUT", path, &world.root, Body::from(body.to_string())).await;
        assert_eq!(reply.status, status, "{body}: {reply}");
        if status == 200 {
            assert_eq!(reply.json::<MachineView>().owner.as_deref(), body["owner"].as_str(), "{body}");
        }
    }
    // What is forgotten takes nothing away.
    for path in ["/api/v1/budget", "/api/v1/machines/m1/owner"] {
        let reply = world.call("PUT", path, &world.root, Body::from("{}")).await;
        assert!(reply.status == 422 && reply.to_string().contains("missing field"), "{path}: {reply}");
    }
    let machines: MachineList = world.get("/api/v1/machines", &world.bob).await.json();
    assert_eq!(machines.machines[0].owner.as_deref(), Some("eve"));
    let rows = world.app.readers.read(|reader| reader.read(Seq::FIRST, 1_000)).unwrap();
    let facts = rows.iter().filter_map(|stored| serde_json::from_str::<Fact>(&stored.row.body).ok());
    let said = facts.filter_map(|fact| match fact {
        Fact::MachineOwnerSet { owner, by: Actor::User(user), .. } => Some((owner, user)),
        _ => None,
    });
    let names = [Some("ada"), None, Some("eve")];
    let expected = names.map(|owner| (owner.map(str::to_owned), "root".to_owned()));
    assert_eq!(said.collect::<Vec<_>>(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_no_length_is_told_to_declare_one() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    for (path, body) in [
        ("/api/v1/machines/m1/price", r#"{"price": 2}"#),
        ("/api/v1/budget", r#"{"budget": {"recharge": 9, "period_s": 60}}"#),
        ("/api/v1/policy", r#"{"preset": "elleuch/btt-min-min"}"#),
    ] {
        let reply = world.call("PUT", path, &world.root, Body::from(body)).await;
        assert_eq!(reply.status, 200, "{reply}");
    }
    for (length, summary, remedy) in [
        ("null", "no length was declared", "gleaner submit --length"),
        ("5e6", "it waits for a larger budget: it costs 10 credits", "gleaner budget set 10"),
        ("4e6", "it waits for the next batch", ""),
    ] {
        let body = format!(r#"{{"command": ["run"], "length": {length}}}"#);
        let job =
            world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body)).await.json::<Submitted>().job;
        let path = format!("/api/v1/jobs/{job}/tasks/0/explain");
        let told: ExplanationView = world.get(&path, &world.alice).await.json();
        assert!(told.summary.contains(summary), "{length}: {told:?}");
        let remedies = told.remedies.concat();
        assert!(remedies.contains(remedy) && remedies.is_empty() == remedy.is_empty(), "{length}: {told:?}");
    }
    let wrong =
        world.call("POST", "/api/v1/jobs", &world.alice, Body::from(r#"{"command": ["x"], "length": 0}"#));
    assert_eq!(wrong.await.status, 422);
}

/// A machine that is listed no more is not said to rule anything out.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_was_forgotten_is_not_explained() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    let told = async || {
        let job = world.submit(&world.alice, 3).await;
        let told: ExplanationView =
            world.get(&format!("/api/v1/jobs/{job}/tasks/3/explain"), &world.alice).await.json();
        let job = world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await.json::<Value>();
        (told, job["waits_for"].as_str().unwrap_or_default().to_owned())
    };
    let (before, _) = told().await;
    assert_eq!(before.ruled_out[0].machines, ["m1"], "it is busy: {before:?}");
    let forgotten = world.call("POST", "/api/v1/machines/m1/forget", &world.root, Body::empty()).await;
    assert!((200..300).contains(&forgotten.status), "{forgotten}");
    let (after, waits_for) = told().await;
    assert!(after.ruled_out.is_empty() && after.remedies.is_empty(), "{after:?}");
    assert!(waits_for.contains("none has joined yet"), "{waits_for}");
}

/// It never comes back, so that nobody is to wait for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_was_revoked_is_explained_as_that() {
    let world = World::new().await;
    let _agent = Agent::join(&world, "m1").await;
    for _ in 0..2 {
        let revoked = world.call("POST", "/api/v1/machines/m1/revoke", &world.root, Body::empty()).await;
        assert_eq!(revoked.json::<MachineView>().state, MachineState::Revoked);
    }
    let rows = world.app.readers.read(|reader| reader.read(Seq::FIRST, 1_000)).unwrap();
    let facts = rows.iter().filter_map(|stored| serde_json::from_str::<Fact>(&stored.row.body).ok());
    let revoked = facts.filter(|fact| matches!(fact, Fact::AgentRevoked { .. })).count();
    assert_eq!(revoked, 1, "it changed nothing the second time");
    let job = world.submit(&world.alice, 3).await;
    let told: ExplanationView =
        world.get(&format!("/api/v1/jobs/{job}/tasks/3/explain"), &world.alice).await.json();
    let [ruled] = &told.ruled_out[..] else { panic!("{told:?}") };
    assert_eq!((&*ruled.rule, ruled.count), ("were revoked: no task will ever start there", 1));
    assert!(ruled.machines == ["m1"] && told.remedies.is_empty(), "{told:?}");
    let job = world.get(&format!("/api/v1/jobs/{job}"), &world.alice).await.json::<Value>();
    let waits_for = job["waits_for"].as_str().unwrap_or_default();
    assert!(waits_for.contains("all that joined were revoked"), "{waits_for}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_user_signs_in_and_a_new_token_replaces_the_old() {
    let world = World::new().await;
    let issue = async || {
        let reply = world.call("POST", "/api/v1/tokens/user?name=eve", &world.root, Body::empty()).await;
        assert_eq!(reply.status, 201, "{reply}");
        reply.json::<Value>()["token"].as_str().unwrap().to_owned()
    };
    let first = issue().await;
    assert_eq!(world.get("/api/v1/grid", &first).await.status, 200);
    let second = issue().await;
    assert_eq!(world.get("/api/v1/grid", &first).await.status, 401);
    assert_eq!(world.get("/api/v1/grid", &second).await.status, 200);
    for path in ["/api/v1/tokens/user?name=two%20words", "/api/v1/tokens/join?expires_s=0"] {
        assert_eq!(world.call("POST", path, &world.root, Body::empty()).await.status, 422, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_tell_of_requests_and_of_the_grid() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    world.submit(&world.alice, 3).await;
    world.get("/nowhere/at/all", &world.alice).await;
    let reply = world.get("/metrics", &world.root).await;
    let text = String::from_utf8(reply.body).unwrap();
    for line in [
        r#"gleaner_tasks{state="waiting"} 3"#,
        r#"gleaner_machines{state="open"} 1"#,
        r#"gleaner_machines{state="lost"} 0"#,
        "gleaner_starts 1",
        r#"gleaner_machine_up{machine="m1"} 1"#,
        r#"gleaner_user_tasks{user="alice",state="waiting"} 3"#,
        r#"gleaner_http_requests_total{method="POST",route="/api/v1/jobs",status="201"} 1"#,
        r#"gleaner_http_requests_total{method="GET",route="none",status="404"} 1"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
    }
    let mut older = request("GET", "/metrics", &world.root, Body::empty());
    older.headers_mut().insert("accept", "text/plain;version=0.0.4, */*;q=0.1".parse().unwrap());
    let older = world.send(older).await;
    assert_eq!(older.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let text = String::from_utf8(older.body).unwrap();
    assert!(
        text.contains("\n# TYPE gleaner_http_requests_total counter\ngleaner_http_requests_total{"),
        "{text}"
    );
    assert!(!text.contains("# UNIT") && !text.contains("# EOF"), "{text}");
    let grid: GridView = world.get("/api/v1/grid", &world.alice).await.json();
    assert_eq!((grid.tasks.waiting, grid.machines["open"], grid.epoch), (3, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn waits_are_numbers_by_user_and_by_label() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let body = r#"{"command": ["run"], "label": "render"}"#;
    world.call("POST", "/api/v1/jobs", &world.alice, Body::from(body)).await;
    // A run that was given back before it began is no start, and the next one is the first.
    let given_back = agent.take_next().await;
    agent.end_with(&world, given_back, End::of(Outcome::Stopped)).await;
    agent.start_next(&world).await;
    let expected = [
        r#"gleaner_user_wait_seconds_count{user="alice"} 1"#,
        r#"gleaner_label_wait_seconds_count{label="render"} 1"#,
        r#"gleaner_user_wait_seconds_bucket{le="+Inf",user="alice"} 1"#,
    ];
    // The day hears of a fact once it is committed.
    for turn in 0.. {
        let text = String::from_utf8(world.get("/metrics", &world.root).await.body).unwrap();
        if expected.iter().all(|line| text.lines().any(|found| found == *line)) {
            check_dashboard(&text);
            break;
        }
        assert!(turn < 400, "{text}");
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
}

/// What the dashboard shows is there.
fn check_dashboard(metrics: &str) {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana.json");
    let dashboard = std::fs::read_to_string(file).unwrap();
    let is_part = |character: char| character.is_ascii_lowercase() || character == '_';
    let names = dashboard.split("gleaner_").skip(1).map(|rest| rest.split(|c| !is_part(c)).next().unwrap());
    let mut count = 0;
    for name in names {
        assert!(metrics.contains(&format!("\ngleaner_{name}")), "gleaner_{name}");
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_mistyped_is_answered_with_what_was_meant() {
    let world = World::new().await;
    Agent::join(&world, "lab-07").await;
    for (method, path, body, meant) in [
        ("POST", "/api/v1/machines/lab-7/drain", "", "; did you mean lab-07?"),
        ("POST", "/api/v1/users/alic/remove", "", "; did you mean alice?"),
        ("POST", "/api/v1/jobs", r#"{"comand": ["run"]}"#, "; did you mean command?"),
        ("GET", "/api/v1/jobs?limt=3", "", "; did you mean limit?"),
        ("PUT", "/api/v1/policy", r#"{"preset": "bertasi/gredy"}"#, "; did you mean bertasi/greedy?"),
    ] {
        let reply = world.call(method, path, &world.root, Body::from(body)).await;
        let told = String::from_utf8(reply.body).unwrap();
        assert!(told.contains(meant), "{path}: {told}");
    }
}

/// When a machine that is away was heard of last is what one wants to know then.
#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_is_away_says_since_when() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    agent.beat(&world, 1, Vec::new()).await;
    let machine = async || {
        let list = world.get("/api/v1/machines", &world.root).await.json::<Value>();
        let machine = &list["machines"][0];
        (machine["state"].as_str().map(str::to_owned), machine["heard_s"].as_f64())
    };
    let (state, heard) = machine().await;
    assert!(state.as_deref() == Some("open") && heard.is_some());
    world.app.desk.input(Input::Disconnected { session: agent.session() }).await.unwrap();
    assert_eq!(machine().await, (Some("away".to_owned()), heard));
}
