//! A task whose facts are told one by one: what the ledger says of each is what it has.

use super::books::{Books, agent, end};
use gleaner_core::Judgement;
use gleaner_server::journal::{Entry, Fact, Judged};
use gleaner_server::ledger::Told;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;

/// A task, and the ledger that knows it.
pub(crate) struct Story {
    pub(crate) books: Books,
    pub(crate) at: Time,
}

impl Story {
    /// Three agents, and a job that wants the same answer from two.
    pub(crate) fn new() -> Self {
        Self::of(3, JobSpec { quorum: 2, ..JobSpec::new(["true"]) })
    }

    pub(crate) fn of(machines: usize, spec: JobSpec) -> Self {
        Self { books: Books::with(machines, spec), at: Time::from_seconds(1_000.0).expect("a moment") }
    }

    pub(crate) fn tell(&mut self, fact: &Fact) {
        self.at = self.at.after_seconds(1.0);
        let told = self.books.ledger.apply(&Entry { at: self.at, fact: fact.clone() });
        self.agrees(fact, &told);
        self.begin();
    }

    /// The ledger holds, and the last that it says of the task is where that is.
    fn agrees(&self, fact: &Fact, told: &[Told]) {
        self.books.ledger.check().expect("the ledger holds");
        let last = told.iter().rfind(|told| told.tasks.contains(TaskId::new(0)));
        assert_eq!(last.map_or(self.phase(), |told| told.phase), self.phase(), "{fact:?}: {told:?}");
    }

    /// The run of a machine, if it has one.
    pub(crate) fn run_on(&self, on: MachineId) -> Option<RunId> {
        self.books.ledger.live_on(on).map(gleaner_core::Run::id).next()
    }

    pub(crate) fn answers(&mut self, on: MachineId, digit: char, judgement: Judgement, wrong: &[usize]) {
        let run = self.run_on(on).expect("it has a run");
        let digest = digit.to_string().repeat(64).try_into().expect("a hash");
        let wrong = wrong.iter().map(|&wrong| agent(wrong)).collect();
        let answer =
            Some(Box::new(Judged { digest: Some(digest), judgement, wrong, likeness: None, result: None }));
        let mut end = end(&Outcome::Exited { code: 0 });
        end.usage.elapsed_s = 1.5;
        self.tell(&Fact::RunEnded { run, agent: on, end, answer, is_left: None });
    }

    /// Lets the policy decide.
    pub(crate) fn begin(&mut self) {
        while let Some((fact, told)) = self.books.ledger.decide(self.at) {
            self.agrees(&fact, &told);
        }
    }

    pub(crate) fn phase(&self) -> TaskPhase {
        self.books.ledger.record(TaskId::new(0)).phase
    }
}
