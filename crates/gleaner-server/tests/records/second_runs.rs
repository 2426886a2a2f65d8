//! `gleaner/bags` on the live books: an idle machine that is much faster runs a task once more, and the first result counts.

use gleaner_core::{Command, Decision, StopReason};
use gleaner_policy::{PolicySpec, Tree};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::{JobSpec, TaskList};
use gleaner_wire::session::{End, Outcome, Profile};

const SLOW: usize = 0;
const FAST: usize = 1;

struct Books {
    ledger: Ledger,
    now: Time,
}

impl Books {
    /// A slow agent and one that is ten times faster, with room for one task each.
    fn new(preset: &str) -> Self {
        let mut books = Self { ledger: Ledger::new(), now: Time::ZERO };
        let (program, lineage) = ("test".to_owned(), gleaner_wire::Lineage::of([1; 8]));
        books.add(Fact::CoordinatorStarted { epoch: 1, lineage, program, seed: 1, policy: None });
        for (agent, speed) in [(SLOW, 1_000.0), (FAST, 10_000.0)] {
            let agent = MachineId::new(agent);
            let (name, token) = (format!("{agent}"), format!("token of {agent}"));
            let profile = Profile { user: "worker".to_owned(), ..Profile::new([speed; 3], 1) };
            let by = Actor::Coordinator;
            books.add(Fact::JoinTokenIssued {
                token: token.clone(),
                expires: Time::NEVER,
                uses: 1,
                owner: None,
                by,
            });
            let (key, started) = (name.clone(), profile.clone());
            books.add(Fact::AgentEnrolled { agent, name, key, token, profile });
            books.add(Fact::AgentStarted { agent, incarnation: 1, profile: started, brings: Vec::new() });
        }
        let mut tree = Tree::new();
        tree.insert("preset".to_owned(), preset.into());
        let policy = PolicySpec::read(tree).expect("a preset");
        books.add(Fact::PolicySet { policy, by: Actor::Coordinator });
        books.settle();
        books
    }

    fn add(&mut self, fact: Fact) {
        self.now = self.now.after_seconds(1.0);
        self.ledger.apply(&Entry { at: self.now, fact });
        self.ledger.check().expect("the ledger holds");
    }

    /// What is decided, and what follows from wake-ups that are due at once: the orders.
    fn settle(&mut self) -> Vec<Command> {
        while let Some((fact, _)) = self.ledger.decide(self.now) {
            let Fact::Decided { decisions, .. } = &fact else { panic!("{fact:?}") };
            let due = decisions.iter().find_map(|decision| match decision {
                Decision::Wake { alarm, at } if *at <= self.now => Some(*alarm),
                _ => None,
            });
            if let Some(alarm) = due {
                self.ledger.apply(&Entry { at: self.now, fact: Fact::WokeUp { alarm } });
            }
        }
        self.ledger.check().expect("the ledger holds");
        self.ledger.take_orders().into_iter().filter(|order| !matches!(order, Command::Lending(_))).collect()
    }

    fn ends(&mut self, run: RunId, on: usize) -> Vec<Command> {
        let agent = MachineId::new(on);
        let end = serde_json::json!({ "outcome": Outcome::Exited { code: 0 } });
        let end: End = serde_json::from_value(end).expect("an end");
        self.add(Fact::RunEnded { run, agent, end: Box::new(end), answer: None, is_left: None });
        self.settle()
    }
}

fn run(task: usize, number: u32) -> RunId {
    RunId::new(TaskId::new(task), number)
}

#[test]
fn a_straggler_runs_once_more_on_a_machine_that_is_much_faster() {
    let mut books = Books::new("gleaner/bags");
    let tasks = TaskList::Array { first: 0, last: 2, step: 1 };
    let spec = std::sync::Arc::new(JobSpec { tasks, ..JobSpec::new(["true"]) });
    let job = books.ledger.next_job();
    books.add(Fact::JobSubmitted { job, user: "ada".to_owned(), spec, key: None, bytes: 0, described: 0 });
    let start = |task, number, on| Command::Start { run: run(task, number), on: MachineId::new(on) };
    assert_eq!(books.settle(), [start(0, 1, FAST), start(1, 1, SLOW)], "nobody is asked for a better one");
    books.add(Fact::RunStarted(run(0, 1)));
    books.add(Fact::RunStarted(run(1, 1)));
    assert_eq!(books.ends(run(0, 1), FAST), [start(2, 1, FAST)]);
    books.add(Fact::RunStarted(run(2, 1)));
    // The slow one has run for some seconds, of the twenty and more that it is believed to need.
    assert_eq!(books.ends(run(2, 1), FAST), [start(1, 2, FAST)]);
    books.add(Fact::RunStarted(run(1, 2)));
    let stop = Command::Stop { run: run(1, 1), on: MachineId::new(SLOW), why: StopReason::Superseded };
    assert_eq!(books.ends(run(1, 2), FAST), [stop]);
    assert_eq!(books.ledger.record(TaskId::new(1)).phase, TaskPhase::Done);
}
