//! A ledger that is told facts, one a second, and checked after each.

use gleaner_core::{Command, Decision, Run, Settled};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Profile, Stored};

pub(crate) fn agent(number: usize) -> MachineId {
    MachineId::new(number)
}

pub(crate) struct Books {
    pub(crate) ledger: Ledger,
    pub(crate) now: Time,
    /// What it was told and decided, as a journal has it.
    pub(crate) rows: Vec<Entry>,
}

impl Books {
    /// So many agents, and a job.
    pub(crate) fn with(agents: usize, spec: JobSpec) -> Self {
        let mut books = Self { ledger: Ledger::new(), now: Time::ZERO, rows: Vec::new() };
        let profile = Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], 2) };
        let (program, lineage) = ("test".to_owned(), gleaner_wire::Lineage::of([1; 8]));
        books.add(Fact::CoordinatorStarted { epoch: 1, lineage, program, seed: 1, policy: None });
        for number in 0..agents {
            let (name, token) = (format!("m{number}"), format!("t{number}"));
            let by = gleaner_wire::api::Actor::Coordinator;
            books.add(Fact::JoinTokenIssued {
                token: token.clone(),
                expires: Time::NEVER,
                uses: 1,
                owner: None,
                by,
            });
            let (agent, profile) = (agent(number), profile.clone());
            let (key, started) = (name.clone(), profile.clone());
            books.add(Fact::AgentEnrolled { agent, name, key, token, profile });
            books.add(Fact::AgentStarted { agent, incarnation: 1, profile: started, brings: Vec::new() });
        }
        books.submit(spec);
        books
    }

    pub(crate) fn submit(&mut self, spec: JobSpec) {
        let spec = std::sync::Arc::new(spec);
        let job = self.ledger.next_job();
        self.add(Fact::JobSubmitted { job, user: "ada".to_owned(), spec, key: None, bytes: 0, described: 0 });
    }

    pub(crate) fn set_policy(&mut self, written: serde_json::Value) {
        let policy = serde_json::from_value(written).expect("a policy");
        self.add(Fact::PolicySet { policy, by: gleaner_wire::api::Actor::Coordinator });
    }

    pub(crate) fn add(&mut self, fact: Fact) {
        self.add_unchecked(fact);
        self.ledger.check().expect("the ledger holds");
    }

    /// Where a look at each task takes too long.
    pub(crate) fn add_unchecked(&mut self, fact: Fact) {
        self.now = self.now.after_seconds(1.0);
        let entry = Entry { at: self.now, fact };
        self.ledger.apply(&entry);
        self.ledger.take_past();
        self.rows.push(entry);
    }

    /// The runs that an agent has.
    pub(crate) fn live_on(&self, agent: MachineId) -> Vec<(RunId, MachineId)> {
        self.ledger.live_on(agent).map(|run| (run.id(), run.on())).collect()
    }

    /// What the policy in force starts.
    pub(crate) fn starts(&mut self) -> Vec<(RunId, MachineId)> {
        while let Some((fact, _)) = self.ledger.decide(self.now) {
            self.rows.push(Entry { at: self.now, fact });
        }
        self.ledger.check().expect("the ledger holds");
        let orders = self.ledger.take_orders().into_iter();
        orders
            .filter_map(|order| match order {
                Command::Start { run, on } | Command::StartAfter { run, on, .. } => Some((run, on)),
                _ => None,
            })
            .collect()
    }

    /// As a policy would decide.
    pub(crate) fn decide(&mut self, decision: Decision) {
        self.decide_unchecked(decision);
        self.ledger.check().expect("the ledger holds");
    }

    /// Where a look at each task takes too long.
    pub(crate) fn decide_unchecked(&mut self, decision: Decision) {
        let fact = Fact::Decided { decisions: vec![decision], settled: Settled::default() };
        let entry = Entry { at: self.now, fact };
        self.ledger.replay(&entry).expect("there is room");
        self.rows.push(entry);
    }

    pub(crate) fn ends(&mut self, run: RunId, on: MachineId, outcome: &Outcome) {
        assert!(self.ledger.is_awaited(run, on));
        let is_left = self.ledger.is_left(run.task, on, outcome);
        self.add(Fact::RunEnded { run, agent: on, end: end(outcome), answer: None, is_left });
    }

    /// All that rests has rested.
    pub(crate) fn rested(&mut self) {
        let tasks: Vec<TaskId> = self.ledger.rested_by(Time::NEVER);
        self.add(Fact::TasksRested(tasks));
    }

    pub(crate) fn live(&self) -> Vec<RunId> {
        let agents = (0..self.ledger.agents().len()).map(agent);
        agents.flat_map(|on| self.ledger.live_on(on)).map(Run::id).collect()
    }
}

pub(crate) fn end(outcome: &Outcome) -> Box<End> {
    let end = serde_json::from_value(serde_json::json!({ "outcome": outcome }));
    Box::new(end.expect("an end"))
}

/// The end of a run that also left a file of so many bytes.
pub(crate) fn leaving(bytes: u64, end: Box<End>) -> Box<End> {
    let blob = gleaner_wire::BlobHash::from([0xaa; 32]);
    Box::new(End { files: Some(Stored { blob, size: bytes }), ..*end })
}
