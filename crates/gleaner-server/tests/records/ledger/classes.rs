//! What requirements cost: each user's own, and no longer than a task is of their kind.

use super::books::{Books, agent};
use gleaner_core::Decision;
use gleaner_server::journal::{Chosen, Fact, RetiredJob, Revived, RevivedTasks};
use gleaner_server::ledger::{Job, Ledger};
use gleaner_server::store::{Results, TaskRange};
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::Actor;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Obstacle, Outcome};
use std::sync::Arc;

fn asking(requirements: String) -> JobSpec {
    JobSpec { requirements: Some(requirements), ..JobSpec::new(["true"]) }
}

fn submit(books: &mut Books, spec: JobSpec) -> JobId {
    let job = books.ledger.next_job();
    let (user, spec) = ("ada".to_owned(), Arc::new(spec));
    books.add_unchecked(Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 });
    job
}

fn cancel(books: &mut Books, job: JobId) {
    books.add_unchecked(Fact::TasksCancelled(Chosen { job, tasks: Vec::new(), by: Actor::Coordinator }));
}

fn retire_all(books: &mut Books) {
    let due = books.ledger.due_to_retire(Time::NEVER, Time::NEVER, (0, Span::ZERO));
    books.add(Fact::TasksRetired(due));
}

fn classes(books: &Books) -> usize {
    books.ledger.grid().classes().task_classes().len()
}

/// As it goes to the store.
fn retired(job: &Job) -> RetiredJob {
    RetiredJob {
        user: job.user.clone(),
        spec: Arc::clone(&job.spec),
        key: None,
        first: job.first,
        class: job.class,
        submitted: job.submitted,
        wasted_s: 0.0,
        lost_s: 0.0,
        ever_ran: false,
        results: Results::There,
        bytes: 0,
        removed: None,
        described: 0,
    }
}

/// Jobs with requirements of their own, each some kilobytes long, which come and go.
fn come_and_go(books: &mut Books, round: usize) {
    let names: Vec<String> = (0..200).map(|name| format!("TARGET.R{round}N{name}")).collect();
    let asked = |job: usize| format!("TARGET.J{job}R{round} || {}", names.join(" || "));
    let jobs: Vec<JobId> = (0..60).map(|job| submit(books, asking(asked(job)))).collect();
    for job in jobs {
        cancel(books, job);
    }
    retire_all(books);
}

/// Beyond `UNUSED_CLASS_BYTES_MAX`.
#[test]
fn classes_that_nobody_has_any_more_are_forgotten() {
    let mut books = Books::with(2, JobSpec::new(["true"]));
    // The first leave some behind for whoever asks the same, which go when the second come.
    (0..2).for_each(|round| come_and_go(&mut books, round));
    let (before, size) = (classes(&books), books.ledger.save().len());
    assert!(before < 2 * 60, "{before} classes");
    for round in 2..7 {
        come_and_go(&mut books, round);
        assert_eq!(classes(&books), before, "after {round}");
        let now = books.ledger.save().len();
        assert!(now < size + 20_000, "{now} bytes where {size} were");
    }
    // What is met now stands where others stood, and means what it says.
    submit(&mut books, asking("TARGET.Machine == \"m1\"".to_owned()));
    books.ledger.check().expect("the ledger holds");
    let starts = books.starts();
    assert!(starts.iter().any(|(run, on)| run.task.index() > 300 && *on == agent(1)), "{starts:?}");
    let (again, rest) = Ledger::load(&books.ledger.save())
        .map(|(ledger, rest)| (ledger.save(), rest.len()))
        .expect("a snapshot");
    assert_eq!((again, rest), (books.ledger.save(), 0));
}

/// A job that is run again after others got what its class was called.
#[test]
fn what_comes_back_to_memory_asks_what_it_asked() {
    let mut books = Books::with(2, JobSpec::new(["true"]));
    let first = books.starts();
    for (run, on) in first {
        books.ends(run, on, &Outcome::Exited { code: 0 });
    }
    let job = submit(&mut books, asking("TARGET.Machine == \"m1\"".to_owned()));
    let back = Box::new(retired(books.ledger.find_job(job).expect("it is here")));
    cancel(&mut books, job);
    retire_all(&mut books);
    come_and_go(&mut books, 0);
    for machine in ["m0", "m0\" || \"m0\" == TARGET.Machine || TARGET.Nothing == \""] {
        submit(&mut books, JobSpec { hold: true, ..asking(format!("TARGET.Machine == \"{machine}\"")) });
    }
    let tasks = TaskRange::one(back.first);
    let revived = RevivedTasks { tasks, runs: 0, settled: Vec::new(), left: 0 };
    books.add(Fact::TasksRevived(Revived { job, back: Some(back), tasks: vec![revived] }));
    books.add(Fact::TasksRerun(Chosen { job, tasks: vec![tasks], by: Actor::Coordinator }));
    let starts = books.starts();
    assert_eq!(starts.iter().map(|(_, on)| *on).collect::<Vec<_>>(), [agent(1)]);
}

/// Under a policy that learns, the scheduler forgets no task. Those that kept away from a machine would go on with a class that nobody has
/// since their job left memory, and that becomes another one day.
#[test]
fn what_comes_back_has_a_class_of_its_job() {
    let mut books = Books::with(2, JobSpec::new(["true"]));
    let array = serde_json::json!({ "array": { "first": 1, "last": 1_200, "step": 1 } });
    let spec = serde_json::json!({ "command": ["nosuch"], "tasks": array });
    let job = submit(&mut books, serde_json::from_value(spec).expect("a job"));
    let submitted = books.ledger.find_job(job).expect("it is here");
    let (back, class, all) = (Box::new(retired(submitted)), submitted.class, submitted.range());
    books.decide_unchecked(Decision::Start { task: all.first(), on: agent(0) });
    let (run, on) = books.live_on(agent(0))[0];
    books.ends(run, on, &Outcome::NotStarted { why: "not found".to_owned(), obstacle: Obstacle::NotThere });
    let class_of = |books: &Books, task: TaskId| books.ledger.grid().task(task).class();
    assert_ne!(class_of(&books, all.last()), class, "they keep away from that machine");
    cancel(&mut books, job);
    books.set_policy(serde_json::json!({ "preset": "queue/easy", "lengths": "learnt" }));
    retire_all(&mut books);
    assert!(books.ledger.find_job(job).is_none(), "it left memory");

    let tasks = TaskRange::one(all.first()).behind_within(all).expect("it has others");
    let revived = RevivedTasks { tasks, runs: 0, settled: Vec::new(), left: 0 };
    books.add(Fact::TasksRevived(Revived { job, back: Some(back), tasks: vec![revived] }));
    books.add(Fact::TasksRerun(Chosen { job, tasks: vec![tasks], by: Actor::Coordinator }));
    let class = books.ledger.find_job(job).expect("it is back").class;
    assert!(tasks.tasks().all(|task| class_of(&books, task) == class));
    // What nobody has is forgotten then.
    books.set_policy(serde_json::json!({ "preset": "bertasi/greedy" }));
    (0..3).for_each(|round| come_and_go(&mut books, round));
    assert!(tasks.tasks().all(|task| class_of(&books, task) == class));
}

/// One after the other at once and then one a minute, `PROFILES_AT_ONCE` and `PROFILE_SECONDS`: what a machine that becomes another all
/// the time leaves behind in a day, as SECURITY.md says it. `reads` is what somebody asks of machines.
fn grown_in_a_day(reads: &str, attributes: usize) -> usize {
    let mut books = Books::with(2, asking(reads.to_owned()));
    let before = books.ledger.save().len();
    for number in 0..5 + 24 * 60 {
        let mut profile = gleaner_wire::session::Profile::new([1.0 + f64::from(number), 1.0, 1.0], 2);
        // As large as it may be.
        let text = format!("\"{number:0>width$}\"", width = 32_000 / attributes);
        profile.attributes = (0..attributes).map(|name| (format!("A{name}"), text.clone())).collect();
        books.add_unchecked(Fact::MachineProfiled { agent: agent(0), profile });
    }
    books.ledger.check().expect("the ledger holds");
    books.ledger.save().len() - before
}

#[test]
fn a_machine_that_becomes_another_all_the_time_grows_the_ledger_by_so_much_a_day() {
    let unread = grown_in_a_day("TARGET.Cpus > 0", 1);
    assert!(unread < 1 << 20, "{unread} bytes where nobody reads its attributes");
    let read = grown_in_a_day("eval(\"TARGET.A0\") =!= 7", 200);
    assert!(read < 160 << 20, "{read} bytes where somebody may read all of them");
    eprintln!("{unread} and {read} bytes");
}
