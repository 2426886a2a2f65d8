//! What tasks that are over cost in memory: next to nothing, as entries are counted.

use super::books::{Books, agent};
use gleaner_core::TaskState;
use gleaner_server::journal::{Chosen, Fact, Revived, RevivedTasks};
use gleaner_server::ledger::Ledger;
use gleaner_server::store::TaskRange;
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;

fn array(tasks: u32) -> JobSpec {
    let tasks = serde_json::json!({ "array": { "first": 1, "last": tasks, "step": 1 } });
    serde_json::from_value(serde_json::json!({ "command": ["true"], "tasks": tasks, "length": 1e9 }))
        .expect("a job")
}

fn retire_all(books: &mut Books) {
    loop {
        let due = books.ledger.due_to_retire(Time::NEVER, Time::NEVER, (0, Span::ZERO));
        if due.is_empty() {
            return;
        }
        books.add(Fact::TasksRetired(due));
    }
}

fn size(books: &Books) -> usize {
    books.ledger.save().len()
}

/// Tasks that ended one by one, of a job that goes on and of many that do not.
#[test]
fn what_is_over_has_neither_record_nor_job() {
    let mut books = Books::with(1, array(1_300));
    let mut done = 0;
    while done < 1_100 {
        for (run, on) in books.starts() {
            let code = i32::from(run.task.index() == 700);
            books.ends(run, on, &Outcome::Exited { code });
            done += 1;
        }
    }
    let (_, before) = books.ledger.in_memory();
    assert!(before >= 1_100, "{before} records");
    let larger = size(&books);
    retire_all(&mut books);
    let (jobs, after) = books.ledger.in_memory();
    assert!(jobs == 1 && after <= 2, "{jobs} jobs, {after} records: those that run have one");
    assert!(size(&books) * 3 < larger, "{} of {larger} bytes are left", size(&books));
    let phase = |task: usize| books.ledger.record(TaskId::new(task)).phase;
    assert_eq!([0, 700, 1_099, 1_299].map(phase), {
        use TaskPhase::{Done, Failed, Waiting};
        [Done, Failed, Done, Waiting]
    });
    let chosen = Chosen { job: JobId(1), tasks: Vec::new(), by: Actor::Coordinator };
    books.add(Fact::TasksCancelled(chosen));
    for (run, on) in books.live_on(agent(0)) {
        books.ends(run, on, &Outcome::Stopped);
    }
    retire_all(&mut books);
    assert_eq!(books.ledger.in_memory(), (0, 0));
    assert!(size(&books) < 16_000, "{} bytes", size(&books));
}

fn learning() -> serde_json::Value {
    serde_json::json!({ "preset": "queue/easy", "lengths": "learnt", "fill": "shortest" })
}

/// What can start does, and ends.
fn run_some(books: &mut Books) {
    let mut starts = books.starts();
    // A queue is looked at by an alarm.
    if let Some((_, alarm)) = books.ledger.grid().next_alarm().filter(|_| starts.is_empty()) {
        books.add(Fact::WokeUp { alarm });
        starts = books.starts();
    }
    for (run, on) in starts {
        books.add(Fact::RunStarted(run));
        books.ends(run, on, &Outcome::Exited { code: 0 });
    }
}

/// What ran and is to run again says nothing of its length any more, before a start as after it.
#[test]
fn a_policy_that_learns_forgets_what_is_run_again() {
    let mut books = Books::with(1, array(40));
    books.set_policy(learning());
    (0..5).for_each(|_| run_some(&mut books));
    let done = |books: &Books| books.ledger.tally().done;
    assert!(done(&books) >= 5, "{:?}", books.ledger.tally());
    let tasks = vec![TaskRange::between(TaskId::new(1), TaskId::new(1)).expect("a range")];
    let before = done(&books);
    // The ledger is checked after each fact, and its policy with it.
    books.add(Fact::TasksRerun(Chosen { job: JobId(1), tasks, by: Actor::Coordinator }));
    assert_eq!(done(&books), before - 1);
}

/// The scheduler had forgotten it before it learnt anything.
#[test]
fn a_policy_that_learns_hears_of_what_comes_back() {
    let mut books = Books::with(1, array(40));
    run_some(&mut books);
    retire_all(&mut books);
    books.set_policy(learning());
    let tasks = TaskRange::one(TaskId::new(0));
    assert_eq!(books.ledger.grid().task(TaskId::new(0)).state(), TaskState::Retired);
    let alike = RevivedTasks { tasks, runs: 1, settled: Vec::new(), left: 0 };
    // The ledger is checked after each fact, and its policy with it.
    books.add(Fact::TasksRevived(Revived { job: JobId(1), back: None, tasks: vec![alike] }));
    books.add(Fact::TasksRerun(Chosen { job: JobId(1), tasks: vec![tasks], by: Actor::Coordinator }));
    assert_eq!(books.ledger.record(TaskId::new(0)).phase, TaskPhase::Waiting);
}

/// A policy that learns lengths from what ran goes on as it was after a start: the scheduler forgets nothing meanwhile.
#[test]
fn a_policy_that_learns_has_what_it_learnt_from() {
    let mut books = Books::with(1, array(40));
    let state = |books: &Books, task: usize| books.ledger.grid().task(TaskId::new(task)).state();
    run_some(&mut books);
    retire_all(&mut books);
    assert_eq!(state(&books, 0), TaskState::Retired);
    books.set_policy(learning());
    let before = books.ledger.task_count();
    for _ in 0..20 {
        run_some(&mut books);
    }
    assert!(books.ledger.tally().done >= 20, "{:?}", books.ledger.tally());
    retire_all(&mut books);
    assert_eq!(books.ledger.task_count(), before);
    assert!(books.ledger.is_retired(TaskId::new(10)) && matches!(state(&books, 10), TaskState::Finished(_)));
    let (again, _) = Ledger::load(&books.ledger.save()).expect("a snapshot");
    again.check().expect("the policy is as it was");
    books.set_policy(serde_json::json!({ "preset": "bertasi/greedy" }));
    assert_eq!([0, 10].map(|task| state(&books, task)), [TaskState::Retired; 2]);
}

/// A million that were never started are a few thousand pages in the end.
#[test]
fn a_cancelled_array_of_millions_leaves_at_once() {
    let mut books = Books::with(0, array(1_000_000));
    let tasks = vec![TaskRange::between(TaskId::new(0), TaskId::new(999_999)).expect("a range")];
    let chosen = Chosen { job: JobId(1), tasks, by: Actor::Coordinator };
    books.add_unchecked(Fact::TasksCancelled(chosen));
    loop {
        let due = books.ledger.due_to_retire(Time::NEVER, Time::NEVER, (0, Span::ZERO));
        if due.is_empty() {
            break;
        }
        books.add_unchecked(Fact::TasksRetired(due));
    }
    assert_eq!(books.ledger.in_memory(), (0, 0));
    assert!(size(&books) < 1 << 20, "{} bytes", size(&books));
}

/// A machine that went away with runs may never come back: whoever cancelled their tasks is done with them.
#[test]
fn what_was_cancelled_does_not_stay_for_a_machine_that_is_away() {
    for learns in [false, true] {
        let mut books = Books::with(1, array(2));
        let started = books.starts();
        let (run, on) = started[0];
        books.add(Fact::RunStarted(run));
        books.add(Fact::LeaseExpired { agent: on });
        let chosen = Chosen { job: JobId(1), tasks: Vec::new(), by: Actor::Coordinator };
        books.add(Fact::TasksCancelled(chosen));
        if learns {
            books.set_policy(learning());
        }
        // The ledger is checked after each fact: when runs were ordered is not known for longer than their tasks.
        retire_all(&mut books);
        if learns {
            books.set_policy(serde_json::json!({ "preset": "bertasi/greedy" }));
        }
        assert_eq!(books.ledger.in_memory(), (0, 0));
        assert!(!books.ledger.is_awaited(run, on));
        // It comes back after all.
        books.add(Fact::AgentReturned { agent: on, brings: Vec::new() });
        books.add(Fact::ResultRefused { run, agent: on, end: super::books::end(&Outcome::Stopped) });
    }
}
