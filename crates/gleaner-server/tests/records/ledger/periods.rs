//! Batches by a period that is changed while tasks wait.

use super::books::Books;
use gleaner_core::Alarm;
use gleaner_server::journal::Fact;
use gleaner_units::Span;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use serde_json::{Value, json};

fn set_policy(books: &mut Books, written: Value) {
    books.set_policy(written);
    books.starts();
}

/// How many seconds the next batch is off.
fn next_batch(books: &Books) -> f64 {
    let at = books.ledger.grid().alarm(Alarm::Batch).expect("tasks wait for a batch");
    at.since(books.now).seconds()
}

#[test]
fn a_shorter_period_brings_the_next_batch_forward() {
    let job: JobSpec =
        serde_json::from_value(json!({ "command": ["true"], "tasks": { "array": { "first": 1, "last": 4, "step": 1 } }, "length": 1e9 })).expect("a job");
    for shorter in [
        json!({ "preset": "elleuch/min-min", "period_s": 5.0 }),
        json!({ "preset": "elleuch/b-min-min", "budget": { "recharge": 1000, "period_s": 5.0 } }),
    ] {
        let mut books = Books::with(1, job.clone());
        set_policy(&mut books, json!({ "preset": "elleuch/min-min", "period_s": 3600.0 }));
        set_policy(&mut books, shorter.clone());
        assert!(next_batch(&books) <= 5.0, "{shorter}: in {} s", next_batch(&books));
    }
}

/// The journal of a grid with nothing to do does not grow.
#[test]
fn a_grid_with_nothing_to_do_waits_for_no_batch() {
    let job: JobSpec = serde_json::from_value(json!({ "command": ["true"], "length": 1e9 })).expect("a job");
    let mut books = Books::with(1, job);
    set_policy(&mut books, json!({ "preset": "elleuch/min-min", "period_s": 5.0 }));
    assert!(next_batch(&books) <= 5.0);
    books.now += Span::from_nanos(5_000_000_000);
    books.add(Fact::WokeUp { alarm: Alarm::Batch });
    let [(run, on)] = books.starts()[..] else { panic!("one task has its place") };
    books.add(Fact::RunStarted(run));
    books.ends(run, on, &Outcome::Exited { code: 0 });
    assert_eq!(books.starts(), []);
    assert_eq!(books.ledger.grid().alarm(Alarm::Batch), None);
}
