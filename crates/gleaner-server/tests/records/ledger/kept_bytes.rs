//! How many bytes are kept for a user.

use super::books::{Books, end, leaving};
use gleaner_server::desk::{
    Admitted, Answer, Batch, Desk, Effect, Input, JobFiles, Keeping, Order, OrderId, Requester, Start, Terms,
};
use gleaner_server::journal::Fact;
use gleaner_server::ledger::Job;
use gleaner_server::store::{MemoryDisk, MemoryStore, Store as _};
use gleaner_units::{Span, Time};
use gleaner_wire::api::{Actor, Choice, Quota, Role};
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
    let by = Requester { user: "ada".to_owned(), role: Role::User, token: None };
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

/// A desk of which nothing that is over stays in memory and all is due to be removed at once, and its disk.
struct Forgetful {
    desk: Desk,
    disk: MemoryDisk,
    now: Time,
}

impl Forgetful {
    fn new() -> Self {
        let mut books = Books::with(0, JobSpec::new(["true"]));
        let quota = Some(Quota { bytes: 25_000, ..Quota::default() });
        let by = Actor::Coordinator;
        books.add(Fact::QuotaSet { user: Some("ada".to_owned()), quota, by });
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let at_once = Some(Span::from_nanos(1));
        let keeping = Keeping { results: at_once, records: at_once };
        let terms = Terms { over_max: 0, keeping, ..Terms::default() };
        let now = books.now;
        Self { desk: Desk::new(books.ledger, terms, now, start), disk: MemoryDisk::default(), now }
    }

    fn take(&mut self, input: Input) -> Batch {
        self.now = self.now.after_seconds(1.0);
        self.desk.handle(self.now, input, &self.disk).expect("memory can be read");
        let batch = self.desk.settle(self.now);
        let mut store = MemoryStore::open(&self.disk);
        store.commit_with(&[], batch.past.as_ref()).expect("there is room in memory");
        self.desk.ledger().check().expect("the ledger holds");
        batch
    }

    fn order(&mut self, order: Order) -> Option<Answer> {
        let by = Requester { user: "ada".to_owned(), role: Role::Admin, token: None };
        let batch = self.take(Input::Order { id: OrderId(1), by, order: Box::new(order) });
        batch.effects.into_iter().find_map(|effect| match effect {
            Effect::Reply(_, answer) => answer.ok(),
            _ => None,
        })
    }

    /// A job with a text of so many bytes; whether it is taken.
    fn submits(&mut self, text: usize) -> bool {
        let text = "x".repeat(text);
        let job = Admitted::check(JobSpec::new(["true", text.as_str()])).expect("a job");
        self.order(Order::Submit { job, key: None, files: JobFiles::default() }).is_some()
    }

    /// It is over, and leaves memory.
    fn cancel(&mut self, job: JobId) {
        self.order(Order::Cancel(job, Choice::default()));
        for _ in 0..3 {
            self.take(Input::Tick);
        }
        assert!(self.desk.ledger().find_job(job).is_none());
    }

    fn kept(&self) -> u64 {
        self.desk.ledger().bytes_of("ada")
    }
}

/// `DESCRIPTION_BYTES_FREE`: of texts of 10,000 bytes some 9,700 each count, of one of 100 nothing does.
#[test]
fn long_descriptions_count_as_stored_until_nothing_is_known_of_their_jobs() {
    let mut all = Forgetful::new();
    assert!(all.submits(100));
    assert_eq!(all.kept(), 0, "of a short one nothing counts");
    assert!(all.submits(10_000));
    let one = all.kept();
    assert!((9_000..11_000).contains(&one), "{one} bytes");
    let mut ids = vec![JobId(3)];
    all.cancel(JobId(3));
    while all.submits(10_000) {
        let id = JobId(3 + ids.len() as u32);
        all.cancel(id);
        ids.push(id);
    }
    assert_eq!((ids.len() as u64, all.kept()), (25_000 / one, 25_000 / one * one), "then it is refused");
    all.order(Order::RemoveResults(ids.clone()));
    all.order(Order::ResultsGone(ids.clone()));
    assert_eq!(all.kept(), 25_000 / one * one, "the descriptions are there yet");
    let spec = Job::find_past(&all.disk, ids[0]).expect("memory can be read").map(|job| job.spec);
    all.order(Order::Rerun(ids[0], Choice::default(), spec));
    assert!(all.desk.ledger().find_job(ids[0]).is_some(), "it is back");
    assert_eq!(all.kept(), 25_000 / one * one, "what comes back counts once");
    all.cancel(ids[0]);
    all.order(Order::RemoveResults(ids[..1].to_vec()));
    all.order(Order::ResultsGone(ids[..1].to_vec()));
    all.order(Order::ForgetJobs(ids));
    assert_eq!(all.kept(), 0);
    assert!(all.submits(10_000));
}
