//! Answers in the books: a task is done when two machines gave the same, and its own life tells that as the ledger does.

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
struct Story {
    books: Books,
    life: Life,
    at: Time,
}

impl Story {
    /// Three agents, and a job that wants the same answer from two.
    fn new() -> Self {
        let spec = JobSpec { quorum: 2, ..JobSpec::new(["true"]) };
        let books = Books::with(3, spec.clone());
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

    fn tell(&mut self, fact: &Fact) {
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
    fn run_on(&self, on: MachineId) -> Option<RunId> {
        self.books.ledger.live_on(on).map(gleaner_core::Run::id).next()
    }

    fn answers(&mut self, on: MachineId, digit: char, judgement: Judgement, wrong: &[usize]) {
        let run = self.run_on(on).expect("it has a run");
        let digest = digit.to_string().repeat(64).try_into().expect("a hash");
        let wrong = wrong.iter().map(|&wrong| agent(wrong)).collect();
        let answer = Some(Box::new(Judged { digest: Some(digest), judgement, wrong, likeness: None, result: None }));
        let end = end(&Outcome::Exited { code: 0 });
        self.tell(&Fact::RunEnded { run, agent: on, end, answer });
    }

    fn phase(&self) -> TaskPhase {
        self.books.ledger.record(TaskId::new(0)).phase
    }
}

#[test]
fn a_task_is_done_when_two_agree_and_the_third_is_outvoted() {
    let mut story = Story::new();
    // What was decided about the submission is not told twice.
    while let Some((fact, told)) = story.books.ledger.decide(story.at) {
        story.agrees(&fact, told);
    }
    let first: Vec<usize> = (0..3).filter(|&on| story.run_on(agent(on)).is_some()).collect();
    assert_eq!(first.len(), 2, "two copies at once");
    story.answers(agent(first[0]), 'a', Judgement::Kept, &[]);
    assert_eq!(story.phase(), TaskPhase::Waiting);
    story.answers(agent(first[1]), 'b', Judgement::Kept, &[]);
    assert_eq!(story.phase(), TaskPhase::Waiting, "neither decides");
    let third = (0..3).find(|on| !first.contains(on)).expect("a third");
    story.answers(agent(third), 'b', Judgement::Agreed, &[first[0]]);
    assert_eq!(story.phase(), TaskPhase::Done);
    let trust = |on: usize| story.books.ledger.grid().trust(agent(on));
    assert_eq!((trust(first[0]).wrong, trust(first[1]).row, trust(third).row), (1, 1, 1));
}

#[test]
fn a_task_that_no_two_agree_on_fails_and_says_so() {
    let spec = JobSpec { quorum: 2, ..JobSpec::new(["true"]) };
    let mut story = Story { books: Books::with(5, spec), ..Story::new() };
    while story.books.ledger.decide(story.at).is_some() {}
    for (nth, digit) in ['a', 'b', 'c', 'd', 'e'].into_iter().enumerate() {
        let judgement = if nth == 4 { Judgement::Disputed } else { Judgement::Kept };
        let on = (0..5).map(agent).find(|&on| story.run_on(on).is_some()).expect("one is asked");
        let run = story.run_on(on).expect("it has a run");
        let digest = digit.to_string().repeat(64).try_into().expect("a hash");
        let answer = Some(Box::new(Judged { digest: Some(digest), judgement, wrong: Vec::new(), likeness: None, result: None }));
        story.at = story.at.after_seconds(1.0);
        let fact = Fact::RunEnded { run, agent: on, end: end(&Outcome::Exited { code: 0 }), answer };
        story.books.ledger.apply(&Entry { at: story.at, fact });
        story.books.ledger.check().expect("the ledger holds");
        while story.books.ledger.decide(story.at).is_some() {}
    }
    assert_eq!(story.phase(), TaskPhase::Failed);
    let last = story.books.ledger.record(TaskId::new(0)).last.clone().expect("it ended");
    let Outcome::OverLimit { what } = last.outcome else { panic!("{:?}", last.outcome) };
    assert!(what.contains("5 different answers"), "{what}");
}
