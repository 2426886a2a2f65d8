//! Several live runs of one task in the books: the first result counts, and the other run is stopped.

use super::books::{Books, agent, end};
use gleaner_core::{Command, Decision, StopReason};
use gleaner_server::journal::Fact;
use gleaner_units::{RunId, TaskId};
use gleaner_wire::BlobHash;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::{Checkpointing, JobSpec};
use gleaner_wire::session::{End, Obstacle, Outcome, Stored};

const TASK: usize = 0;

fn run(number: u32) -> RunId {
    RunId::new(TaskId::new(TASK), number)
}

/// Two agents, and a task on the first.
fn with_a_task() -> Books {
    let mut books = Books::with(2, JobSpec::new(["true"]));
    assert_eq!(books.starts(), [(run(1), agent(0))]);
    books
}

/// As a policy would that replicates.
fn replicate(books: &mut Books) {
    books.decide(Decision::Replicate { task: TaskId::new(TASK), on: agent(1) });
}

fn phase(books: &Books) -> TaskPhase {
    books.ledger.record(TaskId::new(TASK)).phase
}

const DONE: Outcome = Outcome::Exited { code: 0 };

#[test]
fn the_first_result_counts_and_the_other_run_is_stopped() {
    let mut books = with_a_task();
    replicate(&mut books);
    assert_eq!(books.live(), [run(1), run(2)]);
    books.add(Fact::RunStarted(run(1)));
    books.add(Fact::RunStarted(run(2)));
    books.ends(run(2), agent(1), &DONE);
    let stop = Command::Stop { run: run(1), on: agent(0), why: StopReason::Superseded };
    assert_eq!((books.ledger.take_orders(), phase(&books)), (vec![stop], TaskPhase::Done));
    assert!(!books.ledger.is_awaited(run(1), agent(0)), "there is a result");
    assert_eq!(books.live(), [run(1)], "until its end is reported");
    books.add(Fact::ResultRefused { run: run(1), agent: agent(0), end: end(&DONE) });
    assert_eq!((books.live(), phase(&books)), (vec![], TaskPhase::Done));
}

#[test]
fn while_another_run_goes_on_a_task_is_not_back_in_the_queue() {
    let mut books = with_a_task();
    replicate(&mut books);
    books.add(Fact::RunStarted(run(1)));
    books.add(Fact::RunStarted(run(2)));
    books.ends(run(1), agent(0), &Outcome::Abandoned { why: String::new() });
    assert_eq!((books.live(), phase(&books)), (vec![run(2)], TaskPhase::Running));
    books.add(Fact::LeaseExpired { agent: agent(1) });
    assert_eq!((books.live(), phase(&books)), (vec![], TaskPhase::Waiting));
    books.ends(run(2), agent(1), &DONE);
    assert_eq!(phase(&books), TaskPhase::Done, "the task was not given to another machine");
}

/// The owner of a machine uses so much of it.
fn owner_uses(books: &mut Books, number: usize, load: f64) {
    books.add(Fact::OwnerLoadReported { agent: agent(number), load, why: String::new() });
}

#[test]
fn a_task_is_suspended_where_all_its_runs_are() {
    let mut books = with_a_task();
    replicate(&mut books);
    books.add(Fact::RunStarted(run(1)));
    owner_uses(&mut books, 1, 1.0);
    books.add(Fact::RunStarted(run(2)));
    assert_eq!(phase(&books), TaskPhase::Running, "the first goes on");
    owner_uses(&mut books, 0, 1.0);
    assert_eq!(phase(&books), TaskPhase::Suspended);
    owner_uses(&mut books, 1, 0.0);
    assert_eq!(phase(&books), TaskPhase::Running);
    books.ends(run(2), agent(1), &Outcome::Abandoned { why: String::new() });
    assert_eq!((books.live(), phase(&books)), (vec![run(1)], TaskPhase::Suspended), "the other is left");
}

#[test]
fn what_cannot_be_started_fails_no_task_of_which_another_run_goes_on() {
    let mut books = with_a_task();
    books.add(Fact::RunStarted(run(1)));
    for number in 2..6 {
        replicate(&mut books);
        let outcome = Outcome::NotStarted { why: String::new(), obstacle: Obstacle::Task };
        let end = end(&outcome);
        books.add(Fact::RunEnded { run: run(number), agent: agent(1), end, answer: None, is_left: None });
        assert_eq!((books.live(), phase(&books)), (vec![run(1)], TaskPhase::Running));
    }
}

/// What the run that is ahead had stored was lost when the other one ended after it.
#[test]
fn of_two_checkpoints_the_one_that_is_ahead_is_kept() {
    let checkpoint = Checkpointing { folder: true, ..Checkpointing::default() };
    let mut books = Books::with(2, JobSpec { checkpoint, ..JobSpec::new(["true"]) });
    assert_eq!(books.starts(), [(run(1), agent(0))]);
    books.add(Fact::RunStarted(run(1)));
    books.now = books.now.after_seconds(600.0);
    replicate(&mut books);
    books.add(Fact::RunStarted(run(2)));
    let left = |byte: u8| Stored { blob: BlobHash::from([byte; 32]), size: 7 };
    for (number, on, byte) in [(1, agent(0), 1), (2, agent(1), 2)] {
        let outcome = Outcome::Abandoned { why: String::new() };
        let end = Box::new(End { checkpoint: Some(left(byte)), ..*end(&outcome) });
        books.add(Fact::RunEnded { run: run(number), agent: on, end, answer: None, is_left: None });
    }
    assert_eq!(books.ledger.record(TaskId::new(TASK)).checkpoint, Some(left(1)));
    assert!(!books.ledger.files().any(|file| *file == left(2).blob), "nobody goes on from it");
}
