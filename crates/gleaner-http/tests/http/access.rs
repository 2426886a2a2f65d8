//! Who may see and do what.

use crate::agent::Agent;
use crate::world::{World, request};
use axum::body::Body;
use gleaner_net::{Token, TokenKind};
use gleaner_server::store::Seq;
use gleaner_units::MachineId;
use gleaner_wire::api::{JobList, LabelList};

/// Each route that is not about one job, with what it answers a user who is no administrator.
const ROUTES: &[(&str, &str, u16)] = &[
    ("GET", "/api/v1/jobs", 200),
    ("GET", "/api/v1/machines", 200),
    ("GET", "/api/v1/policy", 200),
    ("PUT", "/api/v1/policy", 403),
    ("GET", "/api/v1/labels", 200),
    ("GET", "/api/v1/grid", 200),
    ("GET", "/api/v1/openapi.json", 200),
    ("GET", "/metrics", 403),
    ("POST", "/api/v1/tokens/join", 403),
    ("POST", "/api/v1/tokens/user?name=eve", 403),
    ("GET", "/api/v1/users", 403),
    ("POST", "/api/v1/users/eve/remove", 403),
    ("POST", "/api/v1/machines/m1/pause", 403),
    ("POST", "/api/v1/machines/m1/unpause", 403),
    ("POST", "/api/v1/machines/m1/resume", 403),
    ("POST", "/api/v1/machines/m1/drain", 403),
    ("POST", "/api/v1/machines/m1/measure", 403),
    ("POST", "/api/v1/machines/m1/revoke", 403),
    ("POST", "/api/v1/machines/m1/forget", 403),
];

/// Those about one job.
const OF_A_JOB: &[(&str, &str)] = &[
    ("GET", ""),
    ("GET", "?wait_s=60"),
    ("GET", "/tasks"),
    ("GET", "/tasks/1"),
    ("GET", "/tasks/1/history"),
    ("GET", "/tasks/1/explain"),
    ("GET", "/tasks/1/explain?at_s=1"),
    ("GET", "/tasks/1/output"),
    ("GET", "/tasks/1/output?wait_s=60"),
    ("POST", "/hold"),
    ("POST", "/release"),
    ("POST", "/rerun"),
    ("POST", "/cancel"),
];

fn body(method: &str, path: &str) -> Body {
    let text = match (method, path) {
        ("PUT", "/api/v1/policy") => r#"{"preset": "bertasi/greedy"}"#,
        ("POST", _) => "{}",
        _ => "",
    };
    Body::from(text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_may_look_and_an_administrator_may_change() {
    let world = World::new().await;
    Agent::join(&world, "m1").await;
    for &(method, path, expected) in ROUTES {
        let reply = world.call(method, path, &world.alice, body(method, path)).await;
        assert_eq!(reply.status, expected, "{method} {path}: {reply}");
        let reply = world.call(method, path, &world.root, body(method, path)).await;
        assert!([200, 201].contains(&reply.status), "{method} {path}: {reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_good_token_there_is_nothing() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    let of_a_job = OF_A_JOB.iter().map(|(method, path)| (*method, format!("/api/v1/jobs/{job}{path}")));
    let others = ROUTES.iter().map(|(method, path, _)| (*method, (*path).to_owned()));
    let stranger = Token::generate(TokenKind::User).unwrap().reveal();
    let agent = Token::generate(TokenKind::Session).unwrap();
    world.app.agents.add(&agent, MachineId::new(0));
    let refused = [&stranger, &agent.reveal(), "", "glu_", "nonsense"];
    for (method, path) in of_a_job.chain(others) {
        for token in refused {
            let reply = world.call(method, &path, token, body(method, &path)).await;
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (401, "unauthorized"),
                "{method} {path}: {reply}"
            );
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
        let mut bare = request(method, &path, "", body(method, &path));
        bare.headers_mut().remove("authorization");
        assert_eq!(world.send(bare).await.status, 401, "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn anothers_job_does_not_exist_and_an_administrator_sees_all() {
    let world = World::new().await;
    let job = world.submit(&world.alice, 1).await;
    for (method, path) in OF_A_JOB {
        // An administrator's wait would be a long one, and a look before the submission finds nothing.
        let can_be_asked = !path.contains("wait_s") && !path.contains("at_s");
        let (path, nowhere) = (format!("/api/v1/jobs/{job}{path}"), format!("/api/v1/jobs/99{path}"));
        let reply = world.call(method, &path, &world.bob, body(method, &path)).await;
        let missing = world.call(method, &nowhere, &world.bob, body(method, &path)).await;
        assert_eq!(reply.status, 404, "{method} {path}: {reply}");
        let unnumbered = |text: String| text.replace("job 99 ", "job 1 ");
        assert_eq!(unnumbered(missing.to_string()), reply.to_string(), "{method} {path}");
        if can_be_asked {
            let reply = world.call(method, &path, &world.root, body(method, &path)).await;
            assert_eq!(reply.status, 200, "{method} {path}: {reply}");
        }
    }
    for (token, jobs) in [(&world.alice, 1), (&world.bob, 0), (&world.root, 1)] {
        let list: JobList = world.get("/api/v1/jobs", token).await.json();
        assert_eq!(list.jobs.len(), jobs);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_and_the_sign_of_life_need_no_token_and_show_nothing() {
    let world = World::new().await;
    world.submit(&world.alice, 1).await;
    for (path, part) in [("/", "Sign in"), ("/healthz", "ok")] {
        let mut request = request("GET", path, "", Body::empty());
        request.headers_mut().remove("authorization");
        let reply = world.send(request).await;
        assert_eq!(reply.status, 200);
        assert!(String::from_utf8_lossy(&reply.body).contains(part));
    }
    let page = world.get("/?token=secret", "").await;
    let text = String::from_utf8_lossy(&page.body).into_owned();
    assert!(!text.contains("secret"));
    // What its script asks for is seen by the page's own tests; the policy lets it ask nobody else.
    let (around, _) = text.split_once("<script").expect("it has a script");
    for outside in ["http://", "https://", "src=", "href=", "@import", "url("] {
        assert!(!around.contains(outside), "the page asks for {outside}");
    }
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.contains("style-src 'sha256-") && policy.contains("connect-src 'self'"), "{policy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_are_seen_by_whoever_submitted_under_them() {
    let world = World::new().await;
    for (token, label) in [(&world.alice, "secret-plan"), (&world.bob, "render"), (&world.alice, "render")] {
        let job = serde_json::json!({"command": ["true"], "label": label});
        assert_eq!(world.post("/api/v1/jobs", token, &job).await.status, 201);
    }
    for (token, expected) in [
        (&world.alice, vec![("alice", "render"), ("alice", "secret-plan")]),
        (&world.bob, vec![("bob", "render")]),
        (&world.root, vec![("alice", "render"), ("alice", "secret-plan"), ("bob", "render")]),
    ] {
        let list: LabelList = world.get("/api/v1/labels", token).await.json();
        let seen: Vec<_> =
            list.labels.iter().map(|label| (label.user.as_str(), label.label.as_str())).collect();
        assert_eq!(seen, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_have_no_characters_that_are_not_seen() {
    let world = World::new().await;
    for hidden in ["\u{202e}", "\u{200b}", "\u{2066}", "\u{feff}", "\u{e0041}", "\u{ad}", "\n", "\x1b"] {
        let name = format!("a{hidden}b");
        for job in [
            serde_json::json!({"command": ["true"], "name": name}),
            serde_json::json!({"command": ["true"], "label": name}),
            serde_json::json!({"command": ["true"], "requirements": format!("true || \"{hidden}\" == \"\"")}),
        ] {
            let reply = world.post("/api/v1/jobs", &world.alice, &job).await;
            let may = hidden == "\n" && job.get("requirements").is_some();
            assert_eq!(reply.status, if may { 201 } else { 422 }, "{job}: {reply}");
        }
        let mut enrolment = crate::agent::enrolment("m");
        enrolment["profile"]["tags"] = serde_json::json!([name]);
        let token = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
        let token = token.json::<serde_json::Value>()["token"].as_str().expect("a token").to_owned();
        assert_eq!(world.post("/api/v1/agents", &token, &enrolment).await.status, 422, "a tag");
        enrolment = crate::agent::enrolment(&name);
        assert_eq!(world.post("/api/v1/agents", &token, &enrolment).await.status, 422, "a machine");
    }
}

/// What is named on a command line is no option there.
#[tokio::test(flavor = "multi_thread")]
async fn names_do_not_begin_like_options() {
    let world = World::new().await;
    for name in ["--help", "-x", "-"] {
        for job in [
            serde_json::json!({"command": ["true"], "name": name}),
            serde_json::json!({"command": ["true"], "label": name}),
        ] {
            assert_eq!(world.post("/api/v1/jobs", &world.alice, &job).await.status, 422, "{job}");
        }
        let token = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
        let token = token.json::<serde_json::Value>()["token"].as_str().expect("a token").to_owned();
        let machine = world.post("/api/v1/agents", &token, &crate::agent::enrolment(name)).await;
        assert_eq!(machine.status, 422, "{machine}");
        for path in [format!("/api/v1/tokens/user?name={name}"), format!("/api/v1/tokens/join?owner={name}")]
        {
            let user = world.call("POST", &path, &world.root, Body::empty()).await;
            assert_eq!(user.status, 422, "{path}: {user}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_says_who_lets_somebody_in() {
    let world = World::new().await;
    let reply =
        world.call("POST", "/api/v1/tokens/user?name=eve&role=admin", &world.root, Body::empty()).await;
    assert_eq!(reply.status, 201, "{reply}");
    let rows = world.app.readers.read(|reader| reader.read(Seq::FIRST, 1_000)).expect("rows");
    let added = rows.iter().find(|row| row.row.body.contains("\"eve\"")).expect("it is recorded");
    assert!(added.row.body.contains(r#""by":{"user":"root"}"#), "{}", added.row.body);
}
