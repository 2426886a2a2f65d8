//! How many bytes are kept for a user.

use super::books::{Books, end, leaving};
use gleaner_server::desk::{Desk, Input, Order, OrderId, Requester, Start, Terms};
use gleaner_server::journal::Fact;
use gleaner_server::ledger::Job;
use gleaner_server::store::{MemoryDisk, MemoryStore, Store as _};
use gleaner_wire::api::{Choice, Role};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::Outcome;
use gleaner_wire::{JobId, Lineage};

const BYTES: u64 = 100;

/// A job of one task, which left files.
fn with_files() -> Books {
    let mut books = Books::with(1, JobSpec::new(["true"]));
    let (run, agent) = books.starts()[0];
    let end = leaving(BYTES, end(&Outcome::Exited { code: 0 }));
    books.add(Fact::RunEnded { run, agent, end, answer: None, is_left: None });
    assert_eq!(books.ledger.bytes_of("ada"), BYTES);
    books
}

/// What is kept before the task is to run again and after, and whether the task had left memory.
fn around_a_rerun(over_max: u64) -> ([u64; 2], bool) {
    let books = with_files();
    let (disk, mut now) = (MemoryDisk::default(), books.now);
    let mut store = MemoryStore::open(&disk);
    let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
    let mut desk = Desk::new(books.ledger, Terms { over_max, ..Terms::default() }, now, start);
    for _ in 0..3 {
        now = now.after_seconds(1.0);
        desk.handle(now, Input::Tick, &disk).expect("memory can be read");
        let batch = desk.settle(now);
        store.commit_with(&[], batch.past.as_ref()).expect("there is room in memory");
    }
    let (before, is_gone) = (desk.ledger().bytes_of("ada"), desk.ledger().find_job(JobId(1)).is_none());
    let by = Requester { user: "ada".to_owned(), role: Role::User };
    let spec = Job::find_past(&disk, JobId(1)).expect("memory can be read").map(|job| job.spec);
    let order = Box::new(Order::Rerun(JobId(1), Choice::default(), spec));
    desk.handle(now, Input::Order { id: OrderId(1), by, order }, &disk).expect("memory can be read");
    desk.ledger().check().expect("the ledger holds");
    let job = desk.ledger().find_job(JobId(1)).expect("it runs again");
    assert_eq!((job.bytes, job.tally.waiting), (desk.ledger().bytes_of("ada"), 1));
    ([before, desk.ledger().bytes_of("ada")], is_gone)
}

#[test]
fn what_runs_again_is_not_counted_twice_whether_it_had_left_memory_or_not() {
    assert_eq!(around_a_rerun(10), ([BYTES, 0], false));
    assert_eq!(around_a_rerun(0), ([BYTES, 0], true));
}
