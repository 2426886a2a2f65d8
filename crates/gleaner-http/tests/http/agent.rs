//! An agent of a few lines, and how machines join.

use crate::world::World;
use axum::body::Body;
use gleaner_server::desk::{Checked, Input, SessionId};
use gleaner_server::driver::{Newcomer, Outgoing};
use gleaner_server::store::Seq;
use gleaner_units::RunId;
use gleaner_wire::api::{Enrolled, MachineList};
use gleaner_wire::limits::REPORTS_AT_ONCE;
use gleaner_wire::session::{
    End, FromAgent, Hello, Obstacle, Outcome, Profile, Sample, Staging, Stream, Tail, ToAgent,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub(crate) struct Agent {
    session: SessionId,
    inbox: mpsc::Receiver<Outgoing>,
}

pub(crate) fn profile() -> Profile {
    // It runs nobody's tasks outside the sandbox.
    Profile::new([1e9; 3], 1)
}

pub(crate) fn exited(code: i32, stdout: Tail) -> End {
    End { stdout, ..End::of(Outcome::Exited { code }) }
}

/// Where an agent sends a file that a run left.
pub(crate) fn left_by(run: RunId, path: &str) -> String {
    format!("{path}?task={}&run={}", run.task.index(), run.number)
}

/// 32 bytes in base64url.
pub(crate) fn enrolment(name: &str) -> Value {
    json!({"name": name, "key": "A".repeat(43), "profile": profile()})
}

impl Agent {
    pub(crate) async fn join(world: &World, name: &str) -> Self {
        Self::join_with(world, name, profile()).await
    }

    pub(crate) async fn join_with(world: &World, name: &str, profile: Profile) -> Self {
        let token = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
        assert_eq!(token.status, 201, "{token}");
        let token = token.json::<Value>()["token"].as_str().unwrap().to_owned();
        let reply = world
            .post("/api/v1/agents", &token, &json!({"name": name, "key": "A".repeat(43), "profile": profile}))
            .await;
        assert_eq!(reply.status, 201, "{reply}");
        let enrolled: Enrolled = reply.json();
        assert_eq!(enrolled.name, name);
        let hello = Hello { agent: enrolled.agent, incarnation: 1, met: None, profile, running: Vec::new() };
        let (outbox, inbox) = mpsc::channel(1_024);
        let hello = Checked::of(hello).unwrap();
        let newcomer = Newcomer { hello, token: "token".to_owned(), fits: true, to_agent: outbox };
        let session = world.app.desk.connected(newcomer).await.unwrap();
        Self { session, inbox }
    }

    /// The next run it is given; it says that the program runs.
    pub(crate) async fn start_next(&mut self, world: &World) -> RunId {
        let run = self.take_next().await;
        self.start(world, run).await;
        run
    }

    /// The next run it is given.
    pub(crate) async fn take_next(&mut self) -> RunId {
        loop {
            if let ToAgent::Run(run) = self.hear().await {
                return run.id;
            }
        }
    }

    pub(crate) async fn start(&self, world: &World, run: RunId) {
        self.say(world, FromAgent::Started(run)).await;
    }

    pub(crate) async fn hear(&mut self) -> ToAgent {
        match self.inbox.recv().await.expect("the session goes on") {
            Outgoing::Message(message) => message,
            Outgoing::Run(order) => ToAgent::Run(Box::new(order.filled_in().expect("a short order"))),
            Outgoing::Compare(..) => unreachable!("no job here asks for a quorum"),
        }
    }

    async fn hear_beat(&mut self, number: u64) {
        while !matches!(self.hear().await, ToAgent::Beat { number: heard, .. } if heard == number) {}
    }

    pub(crate) async fn write(&self, world: &World, run: RunId, offset: u64, bytes: &[u8]) {
        let bytes = bytes.to_vec();
        self.say(world, FromAgent::Output { run, stream: Stream::Stdout, offset, bytes }).await;
    }

    pub(crate) async fn end(&self, world: &World, run: RunId, code: i32, stdout: Tail) {
        self.end_with(world, run, exited(code, stdout)).await;
    }

    pub(crate) async fn end_with(&self, world: &World, run: RunId, end: End) {
        self.say(world, FromAgent::Ended { run, end }).await;
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// Says which files it has on their way, and waits until that was heard.
    pub(crate) async fn beat(&mut self, world: &World, number: u64, staging: Vec<(RunId, Staging)>) {
        self.say(world, FromAgent::Heartbeat { number, sample: Sample::default(), staging }).await;
        self.hear_beat(number).await;
    }

    async fn say(&self, world: &World, frame: FromAgent) {
        let input = Input::said(self.session, frame).expect("its machine is one");
        world.app.desk.input(input).await.unwrap();
    }
}

/// What an agent says of its load many times a minute is shown, and not written down.
#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_and_samples_stay_in_memory() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let last = || world.app.readers.read(|reader| reader.last()).unwrap();
    agent
        .say(&world, FromAgent::Heartbeat { number: 0, sample: Sample::default(), staging: Vec::new() })
        .await;
    agent.hear_beat(0).await;
    let before = last();
    for number in 1..=100 {
        let sample = Sample { load: f64::from(number as u32) / 100.0, ..Sample::default() };
        agent.say(&world, FromAgent::Heartbeat { number, sample, staging: Vec::new() }).await;
        agent.hear_beat(number).await;
    }
    assert_eq!(last(), before, "heartbeats were written to the journal");
    let machines = world.call("GET", "/api/v1/machines", &world.root, Body::empty()).await.json::<Value>();
    assert_eq!(machines["machines"][0]["sample"]["load"], 1.0);
    // What crosses a threshold is a fact.
    agent.say(&world, FromAgent::OwnerLoad { load: 0.5, why: "a compiler".to_owned() }).await;
    agent
        .say(&world, FromAgent::Heartbeat { number: 101, sample: Sample::default(), staging: Vec::new() })
        .await;
    agent.hear_beat(101).await;
    assert!(last() > before, "a load that crossed a threshold was not written down");
}

/// One agent's numbers are no reason that nobody sees any machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_no_machine_can_have_keeps_nobody_from_seeing_the_machines() {
    let world = World::new().await;
    let agent = Agent::join(&world, "m1").await;
    for (load, expected) in [
        (f64::NAN, 0.0),
        (f64::INFINITY, 1.0),
        (f64::NEG_INFINITY, 0.0),
        (1e300, 1.0),
        (-5.0, 0.0),
        (0.25, 0.25),
    ] {
        let (cpu_pressure, temperature) = (Some(f64::NAN), Some(f64::INFINITY));
        let sample = Sample { load, cpu_pressure, temperature, io_pressure: Some(0.5), ..Sample::default() };
        agent.say(&world, FromAgent::Heartbeat { number: 1, sample, staging: Vec::new() }).await;
        let list = world.get("/api/v1/machines", &world.root).await.json::<MachineList>();
        let seen = list.machines[0].sample.as_ref().expect("it is connected");
        assert_eq!(seen.load, expected, "{load}");
        assert_eq!((seen.cpu_pressure, seen.temperature, seen.io_pressure), (None, None, Some(0.5)));
    }
}

/// A session has room for `OUTGOING_MAX` messages on their way; here it has room for eight.
/// A machine that stays closed may be so for another reason than at first.
#[tokio::test(flavor = "multi_thread")]
async fn why_a_machine_is_closed_is_what_its_agent_said_last() {
    let world = World::new().await;
    let agent = Agent::join(&world, "m1").await;
    let closed = async |why: &str| {
        agent.say(&world, FromAgent::Open { open: false, why: why.to_owned() }).await;
    };
    let told = async || {
        let machines = world.get("/api/v1/machines", &world.root).await.json::<Value>();
        machines["machines"][0]["why"].as_str().unwrap_or_default().to_owned()
    };
    closed("the owner's load is not measured yet").await;
    closed("the owner's load is too high").await;
    agent.say(&world, FromAgent::OwnerLoad { load: 0.9, why: "as measured".to_owned() }).await;
    assert_eq!(told().await, "the owner's load is too high");
    // Who keeps it closed by order has said why, and what its agent says is there for when that is taken back.
    let drained = world.call("POST", "/api/v1/machines/m1/drain", &world.root, Body::empty()).await;
    assert!((200..300).contains(&drained.status), "{drained}");
    closed("somebody is logged in and not idle").await;
    assert_eq!(told().await, "closed by user root");
    let path = "/api/v1/machines/m1/drain?why=new%20disks%0A";
    let drained = world.call("POST", path, &world.root, Body::empty()).await.json::<Value>();
    assert_eq!(drained["orders"], json!(["closed by user root: new disks "]));
    assert_eq!(told().await, "closed by user root: new disks ");
    let refused = world.call("POST", "/api/v1/machines/m1/drain?for=ever", &world.root, Body::empty()).await;
    assert_eq!(refused.status, 400, "{refused}");
    let opened = world.call("POST", "/api/v1/machines/m1/resume", &world.root, Body::empty()).await;
    assert_eq!(opened.json::<Value>()["why"], "somebody is logged in and not idle");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_read_loses_its_session() {
    let world = World::new().await;
    let _first = Agent::join(&world, "m1").await;
    let (outbox, mut inbox) = mpsc::channel(8);
    let hello = Hello { agent: 0, incarnation: 1, met: None, profile: profile(), running: Vec::new() };
    let hello = Checked::of(hello).unwrap();
    let newcomer = Newcomer { hello, token: "token".to_owned(), fits: true, to_agent: outbox };
    let session = world.app.desk.connected(newcomer).await.unwrap();
    let beat = |number| FromAgent::Heartbeat { number, sample: Sample::default(), staging: Vec::new() };
    let say = async |number| {
        let frame = Box::new(beat(number));
        world.app.desk.input(Input::Frame { session, frame }).await.unwrap();
        world.app.desk.look(|_, _| ()).await.unwrap();
    };
    say(0).await;
    let greeted = inbox.len() as u64;
    for number in greeted..8 {
        say(number).await;
    }
    assert_eq!(inbox.len(), 8, "as many as there is room for");
    assert!(!inbox.is_closed(), "and the session goes on");
    say(8).await;
    while inbox.recv().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_join_token_is_good_once() {
    let world = World::new().await;
    let token = world.call("POST", "/api/v1/tokens/join?expires_s=60", &world.root, Body::empty()).await;
    let token = token.json::<Value>()["token"].as_str().unwrap().to_owned();
    let other_key = |name: &str| {
        let mut other = enrolment(name);
        other["key"] = format!("B{}", "A".repeat(42)).into();
        other
    };
    for (body, status) in [
        (enrolment("two words"), 422),
        (enrolment("m1"), 201),
        (other_key("m2"), 403),
        // Whose answer was lost asks again.
        (enrolment("m1"), 201),
        (enrolment("m2"), 201),
    ] {
        let reply = world.post("/api/v1/agents", &token, &body).await;
        assert_eq!(reply.status, status, "{reply}");
        if status == 201 {
            let Enrolled { agent, name, .. } = reply.json();
            assert_eq!((agent, name.as_str()), (0, "m1"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_enrol() {
    let world = World::new().await;
    let mut bad_key = enrolment("m1");
    bad_key["key"] = "short".into();
    let mut of_nobody = enrolment("m1");
    of_nobody["profile"]["user"] = "".into();
    let token = world.call("POST", "/api/v1/tokens/join", &world.root, Body::empty()).await;
    let issued = token.json::<Value>()["token"].as_str().unwrap().to_owned();
    let never_issued = format!("glj_{}", "A".repeat(43));
    for (token, body, status) in [
        (&world.root, enrolment("m1"), 401),
        (&String::new(), enrolment("m1"), 401),
        (&never_issued, enrolment("m1"), 403),
        (&never_issued, bad_key.clone(), 403),
        (&issued, bad_key, 422),
        (&issued, of_nobody, 201),
    ] {
        let reply = world.post("/api/v1/agents", token, &body).await;
        assert_eq!(reply.status, status, "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_tells_which_way_its_files_are_on() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let job = world.submit(&world.alice, 1).await;
    let run = agent.take_next().await;
    let stray = RunId::new(run.task, 7);
    let mut number = 0;
    for (staging, started, stage) in [
        (vec![], false, "sent"),
        (vec![(stray, Staging::In), (run, Staging::In)], false, "staging_in"),
        (vec![], true, "running"),
        (vec![(run, Staging::Out)], false, "staging_out"),
    ] {
        if started {
            agent.start(&world, run).await;
        }
        number += 1;
        agent.say(&world, FromAgent::Heartbeat { number, sample: Sample::default(), staging }).await;
        agent.hear_beat(number).await;
        let path = format!("/api/v1/jobs/{job}/tasks");
        let tasks = world.call("GET", &path, &world.alice, Body::empty()).await.json::<Value>();
        let expected = serde_json::json!([{ "run": 1, "machine": "m1", "stage": stage, "why": null }]);
        assert_eq!(tasks["tasks"][0]["open_runs"], expected, "{tasks}");
    }
}

/// An agent that refuses every run with a text of megabytes filled a disk in seconds.
#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_says_is_short_when_it_is_recorded() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    world.submit(&world.alice, 1).await;
    let run = agent.start_next(&world).await;
    let why = "ü".repeat(1 << 20);
    let end = End::of(Outcome::NotStarted { why: why.clone(), obstacle: Obstacle::Machine });
    agent.say(&world, FromAgent::Ended { run, end }).await;
    agent.say(&world, FromAgent::OwnerLoad { load: 0.5, why: why.clone() }).await;
    agent.say(&world, FromAgent::Open { open: false, why: why.clone() }).await;
    agent
        .say(&world, FromAgent::Heartbeat { number: 1, sample: Sample::default(), staging: Vec::new() })
        .await;
    agent.hear_beat(1).await;
    let longest = world.app.readers.read(|reader| {
        let rows = reader.read(Seq::FIRST, usize::MAX)?;
        Ok(rows.iter().map(|row| row.row.body.len()).max())
    });
    assert!(longest.unwrap().unwrap() < 4 << 10);
    // What it says of its machine is refused where it is longer than that.
    let profile = Profile { sandbox: Err(why), ..profile() };
    let refused = Input::said(agent.session, FromAgent::Profile(profile)).unwrap_err();
    assert!(refused.message.contains("of its sandbox"), "{}", refused.message);
}

/// Likewise by saying something new all the time.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_says_too_much_is_disconnected() {
    let world = World::new().await;
    let mut agent = Agent::join(&world, "m1").await;
    let last = || world.app.readers.read(|reader| reader.last()).unwrap();
    let before = last();
    for number in 0..3 * REPORTS_AT_ONCE {
        agent.say(&world, FromAgent::Open { open: number % 2 == 1, why: String::new() }).await;
    }
    while agent.inbox.recv().await.is_some() {}
    // Each may be followed by a decision of the policy.
    assert!(last().number() - before.number() < 3 * u64::from(REPORTS_AT_ONCE), "{before:?} {:?}", last());
}
