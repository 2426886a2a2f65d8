//! Several live runs of one task in the books: the first result counts, and the other run is stopped.

use gleaner_core::{Command, Decision, Run, Settled, StopReason};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Profile};

const TASK: usize = 0;

fn run(number: u32) -> RunId {
    RunId::new(TaskId::new(TASK), number)
}

fn agent(number: usize) -> MachineId {
    MachineId::new(number)
}

struct Books {
    ledger: Ledger,
    now: Time,
}

impl Books {
    /// Two agents, and a task on the first.
    fn with_a_task() -> Self {
        let mut books = Self { ledger: Ledger::new(), now: Time::ZERO };
        let profile = Profile { user: "worker".to_owned(), ..Profile::new([1_000.0, 100.0, 100.0], 2) };
        let (program, lineage) = ("test".to_owned(), gleaner_wire::Lineage::of([1; 8]));
        books.add(Fact::CoordinatorStarted { epoch: 1, lineage, program, seed: 1 });
        for number in 0..2 {
            let (name, token) = (format!("m{number}"), format!("t{number}"));
            let by = gleaner_wire::api::Actor::Coordinator;
            books.add(Fact::JoinTokenIssued { token: token.clone(), expires: Time::NEVER, uses: 1, by });
            let (agent, profile) = (agent(number), profile.clone());
            let (key, started) = (name.clone(), profile.clone());
            books.add(Fact::AgentEnrolled { agent, name, key, token, profile });
            books.add(Fact::AgentStarted { agent, incarnation: 1, profile: started });
        }
        let spec = std::sync::Arc::new(JobSpec::new(["true"]));
        let job = books.ledger.next_job();
        books.add(Fact::JobSubmitted { job, user: "ada".to_owned(), spec, key: None });
        let (fact, _) = books.ledger.decide(books.now).expect("something came");
        assert!(matches!(fact, Fact::Decided { decisions, .. } if decisions.len() == 1));
        assert_eq!(books.ledger.take_orders(), [Command::Start { run: run(1), on: agent(0) }]);
        books
    }

    fn add(&mut self, fact: Fact) {
        self.now = self.now.after_seconds(1.0);
        self.ledger.apply(&Entry { at: self.now, fact });
        self.ledger.check().expect("the ledger holds");
    }

    /// As a policy would that replicates.
    fn replicate(&mut self) {
        let decisions = vec![Decision::Replicate { task: TaskId::new(TASK), on: agent(1) }];
        let fact = Fact::Decided { decisions, settled: Settled::default() };
        self.ledger.replay(&Entry { at: self.now, fact }).expect("there is room");
        self.ledger.check().expect("the ledger holds");
    }

    fn phase(&self) -> TaskPhase {
        self.ledger.record(TaskId::new(TASK)).phase
    }

    fn ends(&mut self, number: u32, on: usize, outcome: &Outcome) {
        let end = serde_json::from_value(serde_json::json!({ "outcome": outcome }));
        let end: Box<End> = Box::new(end.expect("an end"));
        assert!(self.ledger.is_awaited(run(number), agent(on)));
        self.add(Fact::RunEnded { run: run(number), agent: agent(on), end });
    }

    fn live(&self) -> Vec<RunId> {
        [0, 1].into_iter().flat_map(|on| self.ledger.live_on(agent(on))).map(Run::id).collect()
    }
}

const DONE: Outcome = Outcome::Exited { code: 0 };

#[test]
fn the_first_result_counts_and_the_other_run_is_stopped() {
    let mut books = Books::with_a_task();
    books.replicate();
    assert_eq!(books.live(), [run(1), run(2)]);
    books.add(Fact::RunStarted(run(1)));
    books.add(Fact::RunStarted(run(2)));
    books.ends(2, 1, &DONE);
    let stop = Command::Stop { run: run(1), on: agent(0), why: StopReason::Superseded };
    assert_eq!((books.ledger.take_orders(), books.phase()), (vec![stop], TaskPhase::Done));
    assert!(!books.ledger.is_awaited(run(1), agent(0)), "there is a result");
    assert_eq!(books.live(), [run(1)], "until its end is reported");
    let end = serde_json::from_value(serde_json::json!({ "outcome": DONE })).expect("an end");
    books.add(Fact::ResultRefused { run: run(1), agent: agent(0), end: Box::new(end) });
    assert_eq!((books.live(), books.phase()), (vec![], TaskPhase::Done));
}

#[test]
fn while_another_run_goes_on_a_task_is_not_back_in_the_queue() {
    let mut books = Books::with_a_task();
    books.replicate();
    books.add(Fact::RunStarted(run(1)));
    books.add(Fact::RunStarted(run(2)));
    books.ends(1, 0, &Outcome::Abandoned { why: String::new() });
    assert_eq!((books.live(), books.phase()), (vec![run(2)], TaskPhase::Running));
    books.add(Fact::LeaseExpired { agent: agent(1) });
    assert_eq!((books.live(), books.phase()), (vec![], TaskPhase::Waiting));
    books.ends(2, 1, &DONE);
    assert_eq!(books.phase(), TaskPhase::Done, "the task was not given to another machine");
}
