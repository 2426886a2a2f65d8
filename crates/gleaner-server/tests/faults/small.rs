//! A desk with one agent and one job, on which a mistake is the shortest way to it.

use gleaner_server::desk::{
    Administration, Admitted, Answer, Checked, Desk, Effect, Input, JobFiles, Order, OrderId, Requester,
    SessionId, Start, Terms,
};
use gleaner_server::journal::Fact;
use gleaner_server::ledger::Ledger;
use gleaner_server::store::MemoryDisk;
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::api::{Choice, Enrolment, Role, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, FromAgent, Hello, Outcome, Profile, ToAgent};
use gleaner_wire::{Had, JobId, Lineage};

pub(crate) const JOB: JobId = JobId(1);

pub(crate) fn task() -> TaskId {
    TaskId::new(0)
}

pub(crate) fn one() -> RunId {
    RunId { task: task(), number: 1 }
}

/// A desk with one agent, connected, and one job of two tasks that both run.
pub(crate) struct Small {
    pub(crate) desk: Desk,
    pub(crate) now: Time,
    pub(crate) effects: Vec<Effect>,
    /// How many pieces of output are kept.
    pub(crate) written: usize,
    pub(crate) facts: Vec<Fact>,
    /// All facts so far.
    pub(crate) all: Vec<Fact>,
    pub(crate) sessions: u64,
}

pub(crate) fn profile() -> Profile {
    Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], 2) }
}

pub(crate) fn end(outcome: &Outcome) -> End {
    let json = serde_json::json!({ "outcome": outcome });
    serde_json::from_value(json).expect("an end")
}

pub(crate) fn all() -> Choice {
    Choice::default()
}

pub(crate) fn only(task: u32) -> Choice {
    Choice { tasks: vec![task], failed: false }
}

/// Of which much is recorded with each start.
pub(crate) fn large_profile() -> Profile {
    Profile { attributes: [("Text".to_owned(), format!("\"{}\"", "x".repeat(8_000)))].into(), ..profile() }
}

impl Small {
    pub(crate) fn running() -> Self {
        let mut small = Self::ordered();
        small.say(FromAgent::Started(one()));
        small.say(FromAgent::Started(RunId { task: TaskId::new(1), number: 1 }));
        small
    }

    /// The same before either program has started.
    pub(crate) fn ordered() -> Self {
        let now = Time::from_nanos(1);
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let desk = Desk::new(Ledger::new(), Terms::default(), now, start);
        let mut small = Self {
            desk,
            now,
            effects: Vec::new(),
            written: 0,
            facts: Vec::new(),
            all: Vec::new(),
            sessions: 0,
        };
        small.order(Order::Administer(Administration::IssueJoinToken {
            token: "t".into(),
            expires: Time::NEVER,
            uses: 1,
            owner: None,
        }));
        let enrolment = Enrolment { name: "m".into(), key: "k".into(), profile: profile(), replace: false };
        small.order(Order::Enrol {
            token: "t".into(),
            enrolment: Box::new(Checked::of(enrolment).expect("a machine")),
        });
        small.connect(1);
        let spec = serde_json::json!({
            "command": ["true"],
            "tasks": { "array": { "first": 0, "last": 1, "step": 1 } },
        });
        let spec: JobSpec = serde_json::from_value(spec).expect("a job");
        small.order(Order::Submit {
            job: Admitted::check(spec).expect("a job"),
            key: None,
            files: JobFiles::default(),
        });
        small
    }

    pub(crate) fn put(&mut self, inputs: Vec<Input>) {
        for input in inputs {
            self.desk.handle(self.now, input, &MemoryDisk::default()).expect("memory can be read");
        }
        let batch = self.desk.settle(self.now);
        self.facts = batch.recorded.into_iter().map(|recorded| recorded.entry.fact).collect();
        self.all.extend_from_slice(&self.facts);
        self.effects = batch.effects;
        self.written = batch.written.len();
        self.desk.ledger().check().expect("the ledger holds");
    }

    pub(crate) fn order(&mut self, order: Order) -> Option<Answer> {
        let by = Requester { user: "root".into(), role: Role::Admin, token: None };
        self.put(vec![Input::Order { id: OrderId(0), by, order: Box::new(order) }]);
        self.effects.iter().find_map(|effect| match effect {
            Effect::Reply(_, answer) => answer.clone().ok(),
            _ => None,
        })
    }

    pub(crate) fn connected(&mut self, incarnation: u64) -> Input {
        self.connected_with(incarnation, profile(), &[])
    }

    pub(crate) fn connected_with(&mut self, incarnation: u64, profile: Profile, runs: &[RunId]) -> Input {
        self.sessions += 1;
        let had = |&run| Had { run, lineage: Lineage::of([1; 8]) };
        let running = runs.iter().map(had).collect();
        let hello = Hello { agent: 0, incarnation, met: None, profile, running };
        Input::Connected {
            session: SessionId(self.sessions),
            hello: Box::new(Checked::of(hello).expect("a machine")),
            token: String::new(),
            fits: true,
        }
    }

    /// The connection before has ended, if there was one.
    pub(crate) fn connect(&mut self, incarnation: u64) {
        let gone = self.gone();
        let input = self.connected(incarnation);
        let opens = self.opens();
        self.put(vec![gone, input, opens]);
    }

    /// What each agent says once it was let in.
    pub(crate) fn opens(&self) -> Input {
        let open = FromAgent::Open { open: true, why: String::new() };
        Input::said(SessionId(self.sessions), open).expect("a machine")
    }

    /// Likewise, and its machine is another; its agent is the same.
    pub(crate) fn connect_as(&mut self, profile: Profile) {
        let gone = self.gone();
        let input = self.connected_with(1, profile, &[]);
        let opens = self.opens();
        self.put(vec![gone, input, opens]);
    }

    /// Another agent, n, is enrolled and connected.
    pub(crate) fn joined_by_another(&mut self) -> SessionId {
        self.order(Order::Administer(Administration::IssueJoinToken {
            token: "u".into(),
            expires: Time::NEVER,
            uses: 1,
            owner: None,
        }));
        let enrolment = Enrolment { name: "n".into(), key: "l".into(), profile: profile(), replace: false };
        let enrolment = Box::new(Checked::of(enrolment).expect("a machine"));
        self.order(Order::Enrol { token: "u".into(), enrolment });
        let session = SessionId(99);
        let hello = Hello { agent: 1, incarnation: 1, met: None, profile: profile(), running: Vec::new() };
        let hello = Box::new(Checked::of(hello).expect("a machine"));
        self.put(vec![Input::Connected { session, hello, token: String::new(), fits: true }]);
        session
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn gone(&self) -> Input {
        Input::Disconnected { session: SessionId(self.sessions) }
    }

    pub(crate) fn say(&mut self, frame: FromAgent) {
        self.put(vec![Input::said(SessionId(self.sessions), frame).expect("a machine")]);
    }

    /// So many seconds after its beginning.
    pub(crate) fn at(&mut self, seconds: f64) -> &mut Self {
        self.now = Time::from_nanos(1).after_seconds(seconds);
        self
    }

    /// The agent's connection ends.
    pub(crate) fn leave(&mut self) {
        let gone = self.gone();
        self.put(vec![gone]);
    }

    pub(crate) fn ends(&mut self, run: RunId, outcome: &Outcome) {
        self.say(FromAgent::Ended { run, end: end(outcome) });
    }

    pub(crate) fn tick(&mut self) {
        self.put(vec![Input::Tick]);
    }

    /// The agent is silent until its lease ends.
    pub(crate) fn lose(&mut self) {
        let gone = self.gone();
        self.put(vec![gone]);
        self.now = self.now.after_seconds(66.0);
        self.tick();
    }

    pub(crate) fn phase(&self) -> TaskPhase {
        self.desk.ledger().record(task()).phase
    }

    pub(crate) fn settled(&self) -> Option<bool> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Send(_, ToAgent::Settled { accepted, .. }) => Some(*accepted),
            _ => None,
        })
    }
}

pub(crate) fn live_run(desk: &Desk, task: TaskId) -> Option<u32> {
    let mut runs = desk.ledger().grid().runs_of(task).filter(|run| run.goes_on());
    runs.next().map(|run| run.id().number)
}
