//! A coordinator that is started again: what it decides then follows from the journal.

use super::books::Books;
use gleaner_server::journal::Fact;
use gleaner_server::ledger::Ledger;
use gleaner_server::store::Seq;
use gleaner_server::verify::{Before, verify};
use gleaner_units::Span;
use gleaner_wire::Lineage;
use gleaner_wire::api::Actor;
use gleaner_wire::job::{JobSpec, Needs};
use serde_json::json;

/// Lets the policy decide, and wakes it as it wishes.
fn settle(books: &mut Books) {
    books.starts();
    while let Some((_, alarm)) = books.ledger.grid().next_alarm().filter(|(at, _)| *at <= books.now) {
        books.add(Fact::WokeUp { alarm });
        books.starts();
    }
}

/// A run was late and had been looked at: the start forgot that, and a look through the journal did not, so that it found
/// another decision than the one that was made.
#[test]
fn what_a_queue_decides_after_a_start_follows_from_the_journal() {
    // Each takes the whole machine.
    let needs = Needs { cores: 2, time_limit_s: 10.0, ..Needs::default() };
    let spec = JobSpec { needs, ..JobSpec::new(["true"]) };
    let mut books = Books::with(1, spec.clone());
    let policy = serde_json::from_value(json!({ "preset": "queue/easy" })).expect("a policy");
    books.add(Fact::PolicySet { policy, by: Actor::Coordinator });
    settle(&mut books);
    let [run] = books.live()[..] else { panic!("the first runs") };
    books.add(Fact::RunStarted(run));
    books.now += Span::from_nanos(100_000_000_000);
    books.submit(spec.clone());
    settle(&mut books);

    books.ledger = Ledger::load(&books.ledger.save()).expect("a snapshot").0;
    let (program, lineage) = ("test".to_owned(), Lineage::of([2; 8]));
    books.add(Fact::CoordinatorStarted { epoch: 2, lineage, program, seed: 2, policy: None });
    books.submit(spec);
    settle(&mut books);
    let numbers = (1..).map(Seq::new);
    verify(Before::default(), numbers.zip(books.rows)).expect("each decision follows");
}
