//! What is long of a job that left memory is not read on the desk's thread, whatever is ordered.

use super::books::Books;
use gleaner_server::desk::{
    Admitted, Answer, Desk, Effect, Input, JobFiles, Keeping, Order, OrderId, Requester, Start, Terms,
};
use gleaner_server::journal::{Chosen, Fact};
use gleaner_server::ledger::Job;
use gleaner_server::store::{Amount, MemoryDisk, MemoryStore, Past, Store as _};
use gleaner_units::{Span, Time};
use gleaner_wire::api::{Actor, Choice, Ordered, Role, Submitted};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{JobId, Lineage, VERSION};

const ID: JobId = JobId(2);
const KEY: &str = "mine";

/// Jobs are due to be removed at once. Job 2 left memory, and the disk from which the desk reads has no description of it.
struct Retired {
    desk: Desk,
    disk: MemoryDisk,
    /// One that has the description.
    whole: MemoryDisk,
    now: Time,
}

impl Retired {
    fn new() -> Self {
        let mut books = Books::with(1, JobSpec::new(["true"]));
        let (user, spec, key) = ("ada".to_owned(), JobSpec::new(["false"]).into(), Some(KEY.to_owned()));
        books.add(Fact::JobSubmitted { job: ID, user, spec, key, bytes: 0, described: 0 });
        let by = Actor::Coordinator;
        books.add(Fact::TasksCancelled(Chosen { job: ID, tasks: Vec::new(), by }));
        let start = Start { program: "test", lineage: Lineage::of([1; 8]), seed: 1 };
        let at_once = Some(Span::from_nanos(1));
        let keeping = Keeping { results: at_once, records: at_once };
        let terms = Terms { over_max: 0, keeping, ..Terms::default() };
        let (disk, whole, now) = (MemoryDisk::default(), MemoryDisk::default(), books.now);
        let mut retired = Self { desk: Desk::new(books.ledger, terms, now, start), disk, whole, now };
        for _ in 0..3 {
            retired.take(Input::Tick);
        }
        assert!(retired.desk.ledger().find_job(ID).is_none(), "it left memory");
        retired
    }

    fn take(&mut self, input: Input) -> Option<Answer> {
        self.now = self.now.after_seconds(1.0);
        self.desk.handle(self.now, input, &self.disk).expect("what is long is not read");
        let mut batch = self.desk.settle(self.now);
        commit(&self.whole, batch.past.as_ref());
        for job in batch.past.iter_mut().flat_map(|past| &mut past.jobs) {
            job.spec.clear();
        }
        commit(&self.disk, batch.past.as_ref());
        batch.effects.into_iter().find_map(|effect| match effect {
            Effect::Reply(_, answer) => answer.ok(),
            _ => None,
        })
    }

    fn order(&mut self, user: &str, order: Order) -> Option<Answer> {
        let role = if user.is_empty() { Role::Admin } else { Role::User };
        let by = Requester { user: user.to_owned(), role, token: None };
        self.take(Input::Order { id: OrderId(1), by, order: Box::new(order) })
    }
}

fn commit(disk: &MemoryDisk, past: Option<&Past>) {
    MemoryStore::open(disk).commit_with(&[], past).expect("there is room in memory");
}

#[test]
fn no_order_about_a_retired_job_reads_its_description_on_the_desk() {
    let mut retired = Retired::new();
    assert!(Job::find_past(&retired.disk, ID).is_err(), "its description cannot be read");
    for keep in [true, false] {
        assert_eq!(retired.order("eve", Order::KeepResults(ID, keep)), None, "another's job");
        assert_eq!(retired.order("ada", Order::KeepResults(ID, keep)), Some(Answer::Done));
    }
    let none = Some(Answer::Ordered(Ordered { version: VERSION, tasks: 0 }));
    for order in [Order::Cancel, Order::Hold, Order::Release] {
        assert_eq!(retired.order("ada", order(ID, Choice::default())), none);
    }
    assert_eq!(
        retired.order("ada", Order::Rerun(ID, Choice::default(), None)),
        None,
        "it was not read before"
    );
    let removed = Some(Answer::Removed(Amount { jobs: 1, bytes: 0 }));
    assert_eq!(retired.order("", Order::RemoveResults(vec![ID])), removed);
    assert_eq!(retired.order("", Order::ResultsGone(vec![ID])), Some(Answer::Done));
    assert_eq!(retired.order("", Order::ForgetJobs(vec![ID])), Some(Answer::Done));
    assert!(Job::find_listed(&retired.disk, ID).expect("memory can be read").is_none(), "it is forgotten");
}

/// What was found out of it beside the desk decides.
#[test]
fn a_key_of_a_retired_job_counts_without_its_description() {
    let mut retired = Retired::new();
    let submit = |job: Admitted| Order::Submit { job, key: Some(KEY.to_owned()), files: JobFiles::default() };
    let job = |program: &str| Admitted::check(JobSpec::new([program])).expect("a job");
    assert_eq!(retired.order("ada", submit(job("false"))), None, "it was not compared before");
    let told = Submitted { version: VERSION, job: ID, tasks: 1 };
    let same = Some(Answer::Submitted { told, keeps_files: true });
    for (program, expected) in [("false", same), ("true", None)] {
        let mut again = job(program);
        again.compare_with_retired(&retired.whole, "ada", KEY).expect("memory can be read");
        assert_eq!(retired.order("ada", submit(again)), expected, "{program}");
    }
}
