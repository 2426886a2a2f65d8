//! Tries of a task go to other machines than those on which it failed, as long as there are any.

use super::books::{Books, agent, end};
use gleaner_core::{Decision, Judgement};
use gleaner_server::journal::{Chosen, Fact, Judged};
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::JobId;
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Obstacle, Outcome};

const FAILED: Outcome = Outcome::Exited { code: 1 };

fn spec(retries: u32) -> JobSpec {
    JobSpec { retries, ..JobSpec::new(["true"]) }
}

/// Lets the policy start what waits, which is one task, and says where.
fn start(books: &mut Books) -> (RunId, MachineId) {
    let started = books.starts();
    let [one] = started[..] else { panic!("{started:?}") };
    books.add(Fact::RunStarted(one.0));
    one
}

fn fails(books: &mut Books, outcome: &Outcome) -> MachineId {
    let (run, on) = start(books);
    books.ends(run, on, outcome);
    books.rested();
    on
}

fn set_open(books: &mut Books, on: MachineId, open: bool) {
    let by = Actor::User("root".to_owned());
    books.add(Fact::MachineOpened { agent: on, open, why: String::new(), by });
}

#[test]
fn each_try_is_on_another_machine_and_when_all_failed_on_any() {
    for outcome in [FAILED, Outcome::TimedOut, Outcome::Signalled { signal: 9 }, Outcome::memory_gone()] {
        let mut books = Books::with(3, spec(9));
        let mut first: Vec<MachineId> = (0..3).map(|_| fails(&mut books, &outcome)).collect();
        first.sort_unstable();
        assert_eq!(first, [agent(0), agent(1), agent(2)], "{outcome:?}");
        let mut second: Vec<MachineId> = (0..3).map(|_| fails(&mut books, &outcome)).collect();
        second.sort_unstable();
        assert_eq!(second, [agent(0), agent(1), agent(2)], "{outcome:?}");
    }
}

/// To keep away is a clause beside those that a user wrote.
#[test]
fn requirements_of_any_form_outlast_a_try_that_failed() {
    let deep = format!("true || {}1{}", "(".repeat(999), ")".repeat(999));
    for (text, has_room) in
        [("true // anywhere", true), ("true /* '\" */ // (", true), (deep.as_str(), false)]
    {
        let mut books = Books::with(2, JobSpec { requirements: Some(text.to_owned()), ..spec(9) });
        let first = fails(&mut books, &FAILED);
        let (_, second) = start(&mut books);
        assert!(first != second || !has_room, "{text}");
    }
}

/// It could be started nowhere three times in a row, which ends it; but not on one machine.
#[test]
fn one_machine_that_starts_nothing_does_not_fail_a_task() {
    let mut books = Books::with(2, spec(0));
    let broken =
        fails(&mut books, &Outcome::NotStarted { why: "no sandbox".to_owned(), obstacle: Obstacle::Machine });
    let (run, on) = start(&mut books);
    assert_ne!(on, broken);
    books.ends(run, on, &Outcome::Exited { code: 0 });
    assert_eq!(books.ledger.record(TaskId::new(0)).phase, TaskPhase::Done);
}

#[test]
fn a_task_waits_for_a_machine_that_is_busy_but_not_for_one_that_is_gone() {
    let two = serde_json::json!({
        "command": ["true"], "retries": 9,
        "tasks": { "array": { "first": 0, "last": 3, "step": 1 } },
    });
    let mut books = Books::with(2, serde_json::from_value(two).expect("a job"));
    // Two slots on each of two machines.
    let started = books.starts();
    let (failed, on) = started[0];
    let other = started.iter().map(|(_, on)| *on).find(|it| *it != on).expect("both");
    for (run, _) in &started {
        books.add(Fact::RunStarted(*run));
    }
    books.ends(failed, on, &FAILED);
    books.rested();
    assert_eq!(books.starts(), [], "the other machine is busy, and takes tasks");
    set_open(&mut books, other, false);
    assert_eq!(books.starts(), [(RunId::new(failed.task, 2), on)], "none other is left");
}

#[test]
fn what_is_run_again_from_its_beginning_may_run_anywhere() {
    let mut books = Books::with(2, spec(1));
    let first = fails(&mut books, &FAILED);
    let (run, second) = start(&mut books);
    books.ends(run, second, &FAILED);
    assert_eq!(books.ledger.record(TaskId::new(0)).phase, TaskPhase::Failed);
    set_open(&mut books, second, false);
    let by = Actor::User("ada".to_owned());
    let chosen = Chosen { job: JobId(1), tasks: Vec::new(), by };
    books.add(Fact::TasksRerun(chosen));
    assert_eq!(start(&mut books).1, first);
}

/// It has done nothing wrong there, and the machine on which it fails later is no last resort.
#[test]
fn a_program_that_asks_to_be_run_again_has_not_failed() {
    let again = Outcome::Exited { code: 85 };
    let mut with_checkpoint = spec(1);
    with_checkpoint.checkpoint.exit_code = Some(85);
    let mut books = Books::with(2, with_checkpoint);
    let first = fails(&mut books, &again);
    let second = fails(&mut books, &FAILED);
    assert_eq!(first, second, "it may go on where it was");
    assert_ne!(start(&mut books).1, second, "a try that failed is followed by one elsewhere");
}

/// A machine that has given its answer gives no other, so the one on which a try failed may be the last that can.
#[test]
fn where_answers_are_compared_a_task_is_kept_from_no_machine() {
    let mut books = Books::with(3, JobSpec { quorum: 2, ..spec(1) });
    let only = |books: &mut Books, there: usize| {
        (0..3).for_each(|on| set_open(books, agent(on), on == there));
    };
    only(&mut books, 0);
    let (run, on) = start(&mut books);
    set_open(&mut books, agent(1), true);
    books.ends(run, on, &FAILED);
    books.rested();
    only(&mut books, 1);
    let (run, on) = start(&mut books);
    let answer = Judged {
        digest: Some("a".repeat(64).try_into().expect("a hash")),
        judgement: Judgement::Kept,
        wrong: Vec::new(),
        likeness: None,
        result: None,
    };
    let end = end(&Outcome::Exited { code: 0 });
    books.add(Fact::RunEnded { run, agent: on, end, answer: Some(Box::new(answer)), is_left: None });
    only(&mut books, 0);
    assert_eq!(start(&mut books).1, agent(0));
}

/// It gave no answer, but nor does it fail the task alone by saying so again and again.
#[test]
fn where_answers_are_compared_a_task_that_a_machine_did_not_begin_goes_to_another_first() {
    let mut books = Books::with(3, JobSpec { quorum: 2, ..spec(0) });
    set_open(&mut books, agent(1), false);
    set_open(&mut books, agent(2), false);
    let (run, on) = start(&mut books);
    set_open(&mut books, agent(1), true);
    let refusal =
        Judged { digest: None, judgement: Judgement::Void, wrong: Vec::new(), likeness: None, result: None };
    let outcome = Outcome::NotStarted { why: "the disk is full".to_owned(), obstacle: Obstacle::Machine };
    let answer = Some(Box::new(refusal));
    books.add(Fact::RunEnded { run, agent: on, end: end(&outcome), answer, is_left: None });
    books.rested();
    assert_eq!((on, start(&mut books).1), (agent(0), agent(1)));
}

/// Machines that failed nobody stay one class, and a hundred failures of one job on one machine make one class of tasks.
#[test]
fn few_classes_are_made() {
    let many = serde_json::json!({
        "command": ["true"], "retries": 9,
        "tasks": { "array": { "first": 0, "last": 99, "step": 1 } },
    });
    let mut books = Books::with(10, serde_json::from_value(many).expect("a job"));
    let classes = |books: &Books| {
        let classes = books.ledger.grid().classes();
        (classes.machine_classes().len(), classes.task_classes().len())
    };
    assert_eq!(classes(&books), (1, 1));
    for _ in 0..20 {
        for (run, on) in books.starts() {
            books.add(Fact::RunStarted(run));
            let outcome = if on == agent(3) { FAILED } else { Outcome::Exited { code: 0 } };
            books.ends(run, on, &outcome);
        }
        books.rested();
    }
    assert_eq!(classes(&books), (2, 2));
    assert_eq!(books.ledger.tally().done, 100);
}

/// Those that are avoided are the last three, `TRIED_ON_MAX`: of two that may be taken then, the first is.
#[test]
fn a_task_keeps_away_from_the_last_machines_where_it_failed() {
    let mut books = Books::with(5, spec(9));
    let tried: Vec<usize> = (0..6).map(|_| fails(&mut books, &FAILED).index()).collect();
    assert_eq!(tried, [0, 1, 2, 3, 0, 1]);
}

/// A job of so many tasks on so many machines.
fn many(machines: usize, tasks: usize) -> Books {
    let array = serde_json::json!({ "first": 1, "last": tasks, "step": 1 });
    let spec = serde_json::json!({ "command": ["true"], "retries": 9, "tasks": { "array": array } });
    Books::with(machines, serde_json::from_value(spec).expect("a job"))
}

/// Lets a task fail on a machine, and rest.
fn fail_on(books: &mut Books, task: usize, machine: usize) {
    let (task, on) = (TaskId::new(task), agent(machine));
    books.decide_unchecked(Decision::Start { task, on });
    let found = books.live_on(on).into_iter().find(|(run, _)| run.task == task);
    let (run, _) = found.expect("it was just started");
    books.add_unchecked(Fact::RunEnded { run, agent: on, end: end(&FAILED), answer: None, is_left: None });
    books.add_unchecked(Fact::TasksRested(vec![task]));
}

fn classes(books: &Books) -> (usize, usize) {
    books.ledger.check().expect("the ledger holds");
    let classes = books.ledger.grid().classes();
    (classes.machine_classes().len(), classes.task_classes().len())
}

/// Another job of so many tasks; the number of its first.
fn submit(books: &mut Books, user: &str, tasks: usize, memory: u64) -> usize {
    let array = serde_json::json!({ "first": 1, "last": tasks, "step": 1 });
    let spec = serde_json::json!({
        "command": ["nosuch"], "retries": 9, "needs": { "memory": memory }, "tasks": { "array": array },
    });
    let spec = std::sync::Arc::new(serde_json::from_value(spec).expect("a job"));
    let (job, first) = (books.ledger.next_job(), books.ledger.task_count());
    books.add_unchecked(Fact::JobSubmitted {
        job,
        user: user.to_owned(),
        spec,
        key: None,
        bytes: 0,
        described: 0,
    });
    first
}

/// `TRIED_MACHINES_MAX` is 256, and 64 for each user: each of them is a class of its own, and the others are one.
#[test]
fn so_many_machines_are_told_apart() {
    let mut books = many(260, 70);
    (0..63).for_each(|number| fail_on(&mut books, number, number));
    assert_eq!(classes(&books).0, 1 + 63);
    fail_on(&mut books, 63, 63);
    assert_eq!(classes(&books).0, 1 + 64);
    fail_on(&mut books, 64, 64);
    assert_eq!(classes(&books).0, 1 + 64, "one more of that user's is not told apart");
    for (number, user) in ["bob", "cleo", "dan"].into_iter().enumerate() {
        let first = submit(&mut books, user, 64, 0);
        (0..64).for_each(|task| fail_on(&mut books, first + task, 64 * (number + 1) + task));
    }
    assert_eq!(classes(&books).0, 1 + 256);
    let first = submit(&mut books, "eve", 2, 0);
    fail_on(&mut books, first, 256);
    assert_eq!(classes(&books).0, 1 + 256, "one more is not told apart");
    fail_on(&mut books, first + 1, 255);
    assert_eq!(classes(&books).1, 5 + 4 * 64 + 1, "hers may keep from one that is told apart already");
}

/// `ELSEWHERE_CLASSES_MAX` is 1,024, and 256 for each user, beside the classes of the tasks themselves: each set of machines makes one.
#[test]
fn so_many_classes_are_made_to_keep_tasks_away() {
    let mut books = many(20, 300);
    let sets = |first: usize, books: &mut Books| {
        let threes = (0..20).flat_map(|one| (one + 1..20).map(move |two| (one, two)));
        let threes = threes.flat_map(|(one, two)| (two + 1..20).map(move |three| [one, two, three]));
        for (task, machines) in threes.take(300).enumerate() {
            for machine in machines {
                fail_on(books, first + task, machine);
            }
        }
    };
    sets(0, &mut books);
    assert_eq!(classes(&books).1, 1 + 256, "of 300 sets of three, and those of one and two");
    for (users, (user, expected)) in
        [("bob", 512), ("cleo", 768), ("dan", 1_024), ("eve", 1_024)].into_iter().enumerate()
    {
        let first = submit(&mut books, user, 300, 0);
        sets(first, &mut books);
        assert_eq!(classes(&books).1, 2 + users + expected, "{user}");
    }
}

/// One user's jobs whose program is nowhere, each of a class of its own, held after their first try.
#[test]
fn one_users_jobs_take_no_other_users_share() {
    let mut books = many(4, 12);
    let by = Actor::User("bob".to_owned());
    for number in 0..1_100 {
        let task = submit(&mut books, "bob", 1, number << 10);
        books.decide_unchecked(Decision::Start { task: TaskId::new(task), on: agent(0) });
        let (run, on) = books.live_on(agent(0))[0];
        let end = end(&not_there());
        let is_left = books.ledger.is_left(run.task, on, &not_there());
        books.add_unchecked(Fact::RunEnded { run, agent: on, end, answer: None, is_left });
        books.add_unchecked(Fact::TasksRested(books.ledger.rested_by(gleaner_units::Time::NEVER)));
        let (job, _) = books.ledger.job_of(TaskId::new(task));
        let chosen = Chosen { job, tasks: Vec::new(), by: by.clone() };
        books.add_unchecked(Fact::TasksHeld(chosen));
    }
    run_all(&mut books, |on| on == agent(3));
    assert_eq!((books.ledger.tally().done, books.ledger.tally().failed), (12, 0));
}

/// What a machine says that has not what is to be started.
fn not_there() -> Outcome {
    Outcome::NotStarted { why: "nosuch: not found".to_owned(), obstacle: Obstacle::NotThere }
}

/// Lets all that is started run on some machines, and be not there on the others, until nothing more comes of it. How many runs could not
/// be started.
fn run_all(books: &mut Books, is_there: impl Fn(MachineId) -> bool) -> usize {
    let mut missed = 0;
    loop {
        let started = books.starts();
        if started.is_empty() && books.ledger.next_rested().is_none() {
            return missed;
        }
        for (run, on) in started {
            if !books.ledger.is_awaited(run, on) {
                continue;
            }
            if is_there(on) {
                books.add(Fact::RunStarted(run));
            }
            let outcome = if is_there(on) { Outcome::Exited { code: 0 } } else { not_there() };
            missed += usize::from(outcome == not_there());
            books.ends(run, on, &outcome);
        }
        books.rested();
    }
}

/// Two slots on each of ten machines, with a follower at most each.
#[test]
fn a_job_whose_program_is_on_one_machine_of_ten_runs_there() {
    for tasks in [1, 7, 200] {
        let mut books = many(10, tasks);
        let missed = run_all(&mut books, |on| on == agent(9));
        assert_eq!(books.ledger.tally().done as usize, tasks);
        assert!(missed <= 9 * 4, "{missed} of {tasks} tasks were tried where they cannot run");
    }
}

/// Each task that waits fails at its first run, once no machine is left.
#[test]
fn a_job_whose_program_is_nowhere_fails_soon() {
    for tasks in [1, 100] {
        let mut books = many(4, tasks);
        let missed = run_all(&mut books, |_| false);
        assert_eq!(books.ledger.tally().failed as usize, tasks);
        assert!(missed <= tasks + 4 * 4, "{missed} runs of {tasks} tasks");
    }
}

/// What ran on a machine waits for that one, and is not failed by those where it cannot run.
#[test]
fn a_job_waits_for_the_machine_where_it_runs() {
    let mut books = many(2, 4);
    let mut first = true;
    let there = agent(1);
    for (run, on) in books.starts() {
        if on == there && std::mem::take(&mut first) {
            books.add(Fact::RunStarted(run));
            books.ends(run, on, &Outcome::Exited { code: 0 });
        } else if on == agent(0) {
            books.ends(run, on, &not_there());
        }
    }
    set_open(&mut books, there, false);
    books.rested();
    assert!(books.starts().iter().all(|(_, on)| *on == there), "none goes where it cannot run");
    set_open(&mut books, there, true);
    let missed = run_all(&mut books, |on| on == there);
    books.live().into_iter().for_each(|run| books.ends(run, there, &Outcome::Exited { code: 0 }));
    run_all(&mut books, |on| on == there);
    assert_eq!((missed, books.ledger.tally().done), (0, 4));
}

#[test]
fn a_job_that_ran_nowhere_does_not_wait_for_a_machine_that_is_gone() {
    let mut books = many(2, 1);
    let (run, on) = books.starts()[0];
    books.ends(run, on, &not_there());
    books.rested();
    let other = agent(1 - on.index());
    let [(run, second)] = books.starts()[..] else { panic!("one task") };
    assert_eq!(second, other);
    books.add(Fact::LeaseExpired { agent: other });
    let [(again, third)] = books.starts()[..] else { panic!("{run} is lost") };
    assert_eq!(third, on);
    books.ends(again, on, &not_there());
    assert_eq!(books.ledger.tally().failed, 1);
}

/// While it is held it is in no queue.
#[test]
fn a_task_that_was_held_when_the_last_machine_left_is_tried_anywhere() {
    let mut books = Books::with(2, spec(9));
    let (run, without) = books.starts()[0];
    books.ends(run, without, &not_there());
    books.rested();
    let there = fails(&mut books, &FAILED);
    assert_eq!(start(&mut books).1, there, "its program is on no other");
    let all = || Chosen { job: JobId(1), tasks: Vec::new(), by: Actor::User("ada".to_owned()) };
    books.add(Fact::TasksHeld(all()));
    books.add(Fact::AgentRevoked { agent: there, by: Actor::User("root".to_owned()) });
    books.add(Fact::LeaseExpired { agent: there });
    assert_eq!(books.ledger.record(TaskId::new(0)).phase, TaskPhase::Held);
    books.add(Fact::TasksReleased(all()));
    assert_eq!(start(&mut books).1, without);
}

/// It may have been installed meanwhile.
#[test]
fn what_could_not_be_started_is_tried_anywhere_when_it_is_to_run_again() {
    let mut books = many(3, 5);
    run_all(&mut books, |_| false);
    let by = Actor::User("ada".to_owned());
    let chosen = Chosen { job: JobId(1), tasks: Vec::new(), by };
    books.add(Fact::TasksRerun(chosen));
    run_all(&mut books, |on| on == agent(0));
    assert_eq!(books.ledger.tally().done, 5);
}

/// Another job of the same user's with the same needs may have its program there.
#[test]
fn other_jobs_go_to_machines_that_lack_the_program_of_one() {
    let mut books = many(2, 1);
    let (run, on) = books.starts()[0];
    books.ends(run, on, &not_there());
    set_open(&mut books, agent(1 - on.index()), false);
    let (job, spec) = (books.ledger.next_job(), std::sync::Arc::new(JobSpec::new(["other"])));
    books.add(Fact::JobSubmitted { job, user: "ada".to_owned(), spec, key: None, bytes: 0, described: 0 });
    assert_eq!(books.starts().iter().map(|(_, on)| *on).collect::<Vec<_>>(), [on]);
}

/// `NOT_THERE_MAX` is 32: behind that a task is tried three times in a row.
#[test]
fn so_many_machines_are_tried_for_a_job() {
    let mut books = many(40, 1);
    let missed = run_all(&mut books, |_| false);
    assert_eq!((missed, books.ledger.tally().failed), (32 + 3, 1));
}

/// `KEPT_AWAY_AT_ONCE` is 1,024: every second task of 4,000 is cancelled, so that each that is left is a stretch of its own.
#[test]
fn so_many_stretches_of_tasks_are_kept_away_at_a_time() {
    let mut books = many(2, 4_000);
    let cancelled =
        (0..2_000).map(|number| gleaner_server::store::TaskRange::one(TaskId::new(2 * number + 1)));
    let by = Actor::User("ada".to_owned());
    let chosen = Chosen { job: JobId(1), tasks: cancelled.collect(), by };
    books.add_unchecked(Fact::TasksCancelled(chosen));
    let base = books.ledger.find_job(JobId(1)).expect("it is in memory").class;
    let waiting =
        |books: &Books| books.ledger.grid().waiting_tasks().filter(|(class, _)| *class == base).count();
    let (run, on) = books.starts()[0];
    let before = waiting(&books);
    books.ends(run, on, &not_there());
    assert_eq!(before - waiting(&books), 1_024);
    let (run, on) = books.live_on(on)[0];
    books.ends(run, on, &not_there());
    assert_eq!(waiting(&books), 0, "the others follow");
}

/// When the jobs are over for which machines were told apart, these are one class again, the limits count from 0, and what was made for
/// these jobs takes nothing of their user's quota of requirements. When they run again, machines are told apart again.
#[test]
fn what_was_told_apart_is_alike_again_when_the_job_is_over() {
    let mut books = many(4, 6);
    let apart = |books: &Books| {
        let machines = (0..4).map(|number| books.ledger.grid().machine(agent(number)).class());
        let machines = machines.collect::<std::collections::BTreeSet<_>>().len();
        (machines, books.ledger.requirement_bytes_of("ada"))
    };
    for there in [Some(3), None, Some(2)] {
        let by = Actor::User("ada".to_owned());
        let chosen = Chosen { job: JobId(1), tasks: Vec::new(), by };
        books.add(Fact::TasksRerun(chosen));
        run_all(&mut books, |on| there.is_some_and(|there| on == agent(there)));
        assert_eq!((books.ledger.tally().open(), apart(&books)), (0, (1, 0)), "{there:?}");
    }
    let due = books.ledger.due_to_retire(
        gleaner_units::Time::NEVER,
        gleaner_units::Time::NEVER,
        (0, gleaner_units::Span::ZERO),
    );
    books.add(Fact::TasksRetired(due));
    assert_eq!(apart(&books), (1, 0));
}

/// What one task lacks, its folder say, says nothing of the others: they go where they ran, and it is tried three times.
#[test]
fn what_one_task_lacks_keeps_no_other_away() {
    let mut books = many(4, 40);
    let mut missed = 0;
    while books.ledger.tally().open() > 0 {
        for (run, on) in books.starts() {
            if !books.ledger.is_awaited(run, on) {
                continue;
            }
            let is_bad = run.task.index() == 0;
            missed += usize::from(is_bad);
            books.ends(run, on, &if is_bad { not_there() } else { Outcome::Exited { code: 0 } });
        }
        books.rested();
    }
    assert_eq!((books.ledger.tally().done, books.ledger.tally().failed), (39, 1));
    assert!(missed <= 4 + 3, "{missed} runs");
    let class = |task: usize| books.ledger.grid().task(TaskId::new(task)).class();
    assert_eq!(class(39), class(1), "the last went anywhere again");
}

/// Where each task begins another program, no machine is tried for all of them.
#[test]
fn tasks_that_begin_different_programs_are_tried_each_for_itself() {
    let sweep = serde_json::json!({ "sweep": { "axes": [["program", ["nosuch", "true"]]] } });
    let spec = serde_json::json!({ "command": ["{program}"], "tasks": sweep });
    let mut books = Books::with(1, serde_json::from_value(spec).expect("a job"));
    let missed = run_all(&mut books, |_| false);
    assert_eq!((missed, books.ledger.tally().failed), (2 * 3, 2));
}
