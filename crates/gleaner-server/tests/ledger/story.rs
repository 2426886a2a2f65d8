//! A task whose life is told beside the ledger, by the same facts: both say the same of it.

use crate::books::{Books, agent, end};
use gleaner_core::Judgement;
use gleaner_server::journal::{Entry, Fact, Judged};
use gleaner_server::ledger::Told;
use gleaner_server::life::Life;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use std::sync::Arc;

/// A task whose life is told beside the ledger.
pub(crate) struct Story {
    pub(crate) books: Books,
    pub(crate) life: Life,
    pub(crate) at: Time,
}

impl Story {
    /// Three agents, and a job that wants the same answer from two.
    pub(crate) fn new() -> Self {
        Self::of(3, JobSpec { quorum: 2, ..JobSpec::new(["true"]) })
    }

    pub(crate) fn of(machines: usize, spec: JobSpec) -> Self {
        let books = Books::with(machines, spec.clone());
        let mut life = Life::of(TaskId::new(0), Arc::new(spec.clone()));
        let at = Time::from_seconds(1_000.0).expect("a moment");
        let submitted = Fact::JobSubmitted {
            job: gleaner_wire::JobId(1),
            user: "ada".to_owned(),
            spec: Arc::new(spec),
            key: None,
            bytes: 0,
        };
        life.take(at, &submitted);
        Self { books, life, at }
    }

    pub(crate) fn tell(&mut self, fact: &Fact) {
        self.at = self.at.after_seconds(1.0);
        let told = self.books.ledger.apply(&Entry { at: self.at, fact: fact.clone() });
        self.agrees(fact, told);
        while let Some((fact, told)) = self.books.ledger.decide(self.at) {
            self.agrees(&fact, told);
        }
    }

    /// Both tell the same of it, and the ledger holds.
    fn agrees(&mut self, fact: &Fact, told: Vec<Told>) {
        self.books.ledger.check().expect("the ledger holds");
        let is_about = |told: &Told| told.tasks.contains(TaskId::new(0));
        let told: Vec<Told> = told.into_iter().filter(is_about).collect();
        if !told.is_empty() {
            assert_eq!(self.life.take(self.at, fact), told, "{fact:?}");
        }
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
        let end = end(&Outcome::Exited { code: 0 });
        self.tell(&Fact::RunEnded { run, agent: on, end, answer, is_left: None });
    }

    /// What was decided about the submission is not told twice.
    pub(crate) fn begin(&mut self) {
        while let Some((fact, told)) = self.books.ledger.decide(self.at) {
            self.agrees(&fact, told);
        }
    }

    pub(crate) fn phase(&self) -> TaskPhase {
        self.books.ledger.record(TaskId::new(0)).phase
    }
}
