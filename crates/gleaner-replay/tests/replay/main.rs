//! A small history, told as facts, and what it would have been.

mod log;
mod quotas;

use gleaner_policy::PolicySpec;
use gleaner_replay::{Figures, LeftOut, Past, Placed, Reading, read, what_if};
use gleaner_server::compacting::{compact, plan};
use gleaner_server::desk::Recorded;
use gleaner_server::journal::{Chosen, Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_server::store::{FORMAT, MemoryDisk, MemoryStore, Store as _, TaskRange};
use gleaner_server::study::StudyError;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::Actor;
use gleaner_wire::job::{JobSpec, TaskList};
use gleaner_wire::session::Profile;
use serde_json::json;
use std::io::Write as _;
use std::sync::Arc;

/// Machines, by their numbers.
const FAST: usize = 0;
const SLOW: usize = 1;

/// The coordinator's clock does not begin at 0.
fn moment(second: f64) -> Time {
    Time::from_nanos(1_700_000_000_000_000_000 + (second * 1e9) as u64)
}

/// A journal as a coordinator writes it: each fact, and behind it what was decided.
#[derive(Default)]
struct Journal {
    ledger: Ledger,
    entries: Vec<Entry>,
}

impl Journal {
    /// One that begins with a rule that moves nothing.
    fn begun() -> Self {
        let mut journal = Self::default();
        let policy = policy("bertasi/greedy", &json!(null));
        journal.add(0.0, Fact::PolicySet { policy, by: Actor::Coordinator });
        journal
    }

    fn add(&mut self, second: f64, fact: Fact) {
        let at = moment(second);
        let entry = Entry { at, fact };
        self.ledger.apply(&entry);
        self.entries.push(entry);
        if let Some((fact, _)) = self.ledger.decide(at) {
            self.entries.push(Entry { at, fact });
        }
    }

    fn machine(&mut self, agent: usize, name: &str, speed: f64) {
        let profile = Profile::new([speed, 100.0, 100.0], 1);
        let (name, key, token) = (name.to_owned(), String::new(), String::new());
        let agent = MachineId::new(agent);
        self.add(0.0, Fact::AgentEnrolled { agent, name, key, token, profile });
        self.add(0.0, Fact::AgentReturned { agent, brings: Vec::new() });
    }

    /// So many tasks of so many cores each.
    fn submitted(&mut self, second: f64, (user, job): (&str, u32), (tasks, cores): (u32, u32)) {
        let mut spec = JobSpec::new(["run"]);
        spec.tasks = TaskList::Array { first: 1, last: tasks, step: 1 };
        spec.needs.cores = cores;
        let (job, user, spec) = (JobId(job), user.to_owned(), Arc::new(spec));
        self.add(second, Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 });
    }

    fn started(&mut self, second: f64, task: usize) {
        let run = RunId { task: TaskId::new(task), number: 1 };
        self.add(second, Fact::RunStarted(run));
    }

    fn done(&mut self, second: f64, task: usize, agent: usize, elapsed_s: f64) {
        let (run, agent) = (RunId { task: TaskId::new(task), number: 1 }, MachineId::new(agent));
        let end = json!({ "outcome": { "exited": { "code": 0 } }, "usage": { "elapsed_s": elapsed_s } });
        let end = Box::new(serde_json::from_value(end).expect("an end"));
        self.add(second, Fact::RunEnded { run, agent, end, answer: None, is_left: None });
    }
}

fn policy(preset: &str, relocate: &serde_json::Value) -> PolicySpec {
    let written = json!({ "preset": preset, "relocate": relocate });
    serde_json::from_value(written).expect("a policy that makes sense")
}

/// Four tasks of 1,000 operations each; one is cancelled. The slow machine takes 100 s for what the fast one does in 10.
fn history() -> Journal {
    let mut journal = Journal::begun();
    journal.machine(FAST, "fast", 100.0);
    journal.machine(SLOW, "slow", 10.0);
    journal.submitted(0.0, ("ann", 1), (4, 1));
    let job = JobId(1);
    let chosen = Chosen { job, tasks: vec![TaskRange::one(TaskId::new(3))], by: Actor::Coordinator };
    journal.add(0.0, Fact::TasksCancelled(chosen));
    journal.started(0.0, 0);
    journal.started(0.0, 1);
    journal.done(10.0, 0, FAST, 10.0);
    journal.started(10.0, 2);
    journal.done(20.0, 2, FAST, 10.0);
    journal.done(100.0, 1, SLOW, 100.0);
    journal
}

fn past_of(journal: &Journal) -> Past {
    let mut reading = Reading::default();
    for entry in &journal.entries {
        reading.read(entry).expect("a journal that follows from itself");
    }
    reading.end()
}

#[test]
fn what_waited_all_along_did_not_come_when_another_was_released() {
    let mut journal = Journal::begun();
    journal.machine(FAST, "fast", 100.0);
    journal.submitted(0.0, ("ann", 1), (3, 1));
    let job = JobId(1);
    let chosen = Chosen { job, tasks: vec![TaskRange::one(TaskId::new(2))], by: Actor::Coordinator };
    journal.add(0.0, Fact::TasksHeld(chosen.clone()));
    journal.started(0.0, 0);
    journal.add(50.0, Fact::TasksReleased(Chosen { tasks: Vec::new(), ..chosen }));
    for (task, from) in [(0, 60.0), (1, 70.0)] {
        journal.done(from, task, FAST, 10.0);
        journal.started(from, task + 1);
    }
    journal.done(80.0, 2, FAST, 10.0);
    let was = past_of(&journal).was;
    assert_eq!((was.wait_max_s, was.wait_mean_s), (60.0, 80.0 / 3.0), "the second waited from the start");
}

/// The journal on a disk, as its coordinator left it.
fn stored(journal: &Journal) -> MemoryDisk {
    let disk = MemoryDisk::default();
    let rows = journal.entries.iter().map(|entry| Recorded::without_steps(entry.clone()).row());
    let rows: Vec<_> = rows.collect();
    MemoryStore::open(&disk).commit(&rows).expect("memory can be written");
    disk
}

fn compact_before(disk: &MemoryDisk, second: f64) {
    let plan = plan(disk, moment(second)).expect("memory can be read").expect("there are rows");
    compact(&mut MemoryStore::open(disk), &plan).expect("memory can be written");
}

#[test]
fn a_what_if_of_a_compacted_journal_begins_where_that_does_and_says_so() {
    let mut journal = history();
    journal.submitted(200.0, ("ann", 2), (1, 1));
    journal.started(200.0, 4);
    journal.done(210.0, 4, FAST, 10.0);
    let disk = stored(&journal);
    let asked = policy("bertasi/social", &json!(null));
    let jobs = |disk: &MemoryDisk| {
        let found = what_if(disk, moment(0.0), &asked).expect("tasks ran to their end");
        let of = found.schedules.iter().map(|schedule| schedule.runs.iter().map(|run| run.job.0).collect());
        (found.since_s, of.collect::<Vec<Vec<u32>>>())
    };
    let all = vec![1, 1, 1, 2];
    assert_eq!(jobs(&disk), (moment(0.0).seconds(), vec![all; 3]));
    compact_before(&disk, 150.0);
    assert_eq!(jobs(&disk), (moment(100.0).seconds(), vec![vec![2]; 3]), "not as if nothing had been before");
    compact_before(&disk, 1e6);
    let error = what_if(&disk, moment(0.0), &asked).expect_err("nothing is left");
    assert!(matches!(error, StudyError::NothingSince { .. }), "{error}");
    assert!(error.to_string().contains("the journal was compacted at row"), "{error}");
}

#[test]
fn as_many_machines_run_a_task_as_have_to_agree_on_it() {
    let past = past_of(&history());
    let asked = json!({ "preset": "bertasi/greedy", "replicate": { "quorum": 2 } });
    let asked: PolicySpec = serde_json::from_value(asked).expect("a policy that makes sense");
    let (agreed, _) = past.schedule_under(&asked);
    // Each of the three tasks takes the fast machine 10 s, and the slow one 100 s.
    assert_eq!((agreed.unfinished, agreed.machine_s, agreed.makespan_s), (0, 330.0, 300.0));
}

#[test]
fn the_same_policy_leads_to_what_was() {
    let past = past_of(&history());
    assert_eq!(past.left_out, LeftOut { cancelled: 1, ..LeftOut::default() });
    let was = past.was;
    assert_eq!((was.makespan_s, was.wait_max_s, was.moves, was.machine_s), (100.0, 10.0, 0, 120.0));
    let again = past.schedule_under(&policy("bertasi/greedy", &json!(null))).0;
    assert_eq!(again, was);
}

/// A machine of so many cores and slots, and tasks of so many cores each, which run in rounds of 3 s.
fn rounds((cores, slots, wanted): (u32, u32, u32), owner: f64, tasks: u32) -> Journal {
    let mut journal = Journal::begun();
    let agent = MachineId::new(FAST);
    let profile = Profile { slots, ..Profile::new([100.0; 3], cores) };
    let (key, token) = (String::new(), String::new());
    journal.add(0.0, Fact::AgentEnrolled { agent, name: "only".to_owned(), key, token, profile });
    journal.add(0.0, Fact::AgentReturned { agent, brings: Vec::new() });
    journal.add(0.0, Fact::OwnerLoadReported { agent, load: owner, why: "programs".to_owned() });
    journal.submitted(0.0, ("ann", 1), (tasks, wanted));
    let tasks: Vec<usize> = (0..tasks as usize).collect();
    for (round, together) in tasks.chunks((slots / wanted) as usize).enumerate() {
        let second = 3.0 * round as f64;
        for &task in together {
            journal.started(second, task);
        }
        for &task in together {
            journal.done(second + 3.0, task, FAST, 3.0);
        }
    }
    journal
}

fn assert_near(again: Figures, was: Figures) {
    let numbers = |of: &Figures| [of.makespan_s, of.wait_mean_s, of.wait_max_s, of.flow_mean_s, of.machine_s];
    for (again, was) in numbers(&again).into_iter().zip(numbers(&was)) {
        assert!((again - was).abs() < 1e-6, "{again} where it was {was}: {again:?} {was:?}");
    }
}

#[test]
fn the_policy_that_was_leads_back_however_many_share_the_cores() {
    let cases = [
        // (cores, slots, cores of a task), what the owner uses, tasks
        ((2, 4, 1), 0.0, 16),
        ((2, 2, 1), 0.0, 16),
        ((4, 2, 1), 0.0, 16),
        ((2, 4, 1), 0.0, 5),
        ((2, 4, 2), 0.0, 7),
        ((4, 4, 3), 0.0, 3),
        ((2, 6, 3), 0.0, 5),
        ((2, 2, 1), 0.5, 7),
        ((2, 4, 1), 0.75, 9),
    ];
    for (machine, owner, tasks) in cases {
        let journal = rounds(machine, owner, tasks);
        let past = past_of(&journal);
        assert_eq!(past.was.machine_s, 3.0 * f64::from(tasks), "{machine:?}");
        assert_near(past.schedule_under(&past.policy).0, past.was);
        let found = what_if(&stored(&journal), moment(0.0), &past.policy).expect("tasks ran to their end");
        let [was, again] = [0, 1].map(|at| &found.schedules[at]);
        assert!((was.makespan_s - again.makespan_s).abs() < 1e-6, "{machine:?}");
        assert!((was.machine_s - again.machine_s).abs() < 1e-6, "{machine:?}");
    }
}

/// As when the coordinator is stopped: a run that lasts a little longer in the simulator would stand still for ever.
#[test]
fn a_machine_that_closes_when_all_is_done_stops_nothing() {
    let mut journal = rounds((2, 4, 1), 0.0, 5);
    let agent = MachineId::new(FAST);
    let why = "the coordinator stops".to_owned();
    journal.add(6.0, Fact::MachineOpened { agent, open: false, why, by: Actor::Coordinator });
    let past = past_of(&journal);
    let again = past.schedule_under(&past.policy).0;
    assert_eq!(again.unfinished, 0);
    assert_near(again, past.was);
}

#[test]
fn neighbours_and_owners_that_come_and_go_count_as_long_as_they_are_there() {
    let mut journal = rounds((1, 2, 1), 0.0, 1);
    let agent = MachineId::new(FAST);
    let owner = |load: f64| Fact::OwnerLoadReported { agent, load, why: "programs".to_owned() };
    journal.submitted(10.0, ("ann", 2), (2, 1));
    journal.started(10.0, 1);
    journal.started(10.0, 2);
    // Half of the core each; then one has the core, half of it, nothing, and all of it again.
    journal.done(14.0, 2, FAST, 4.0);
    journal.add(16.0, owner(0.5));
    journal.add(18.0, owner(1.0));
    journal.add(19.0, owner(0.0));
    journal.done(21.0, 1, FAST, 10.0);
    let past = past_of(&journal);
    let lengths: Vec<f64> = past.setup.tasks.lengths.iter().map(|length| length.amount()).collect();
    assert!((lengths[1] / lengths[2] - 7.0 / 2.0).abs() < 1e-9, "{lengths:?}");
    assert_near(past.schedule_under(&past.policy).0, past.was);
}

#[test]
fn another_policy_leads_elsewhere() {
    let past = past_of(&history());
    let other = past.schedule_under(&policy("bertasi/greedy", &json!({ "score": "greedy" }))).0;
    // At 20 s the fast machine is free. The task on the slow one keeps nothing, and begins anew there: 10 s.
    assert_eq!((other.makespan_s, other.moves, other.unfinished), (30.0, 1, 0));
}

#[test]
fn an_owner_who_was_there_is_there_again() {
    let mut journal = history();
    journal.add(
        200.0,
        Fact::OwnerLoadReported { agent: MachineId::new(FAST), load: 1.0, why: "here".to_owned() },
    );
    journal.submitted(200.0, ("ann", 2), (1, 1));
    journal.started(200.0, 4);
    journal.done(300.0, 4, SLOW, 100.0);
    let past = past_of(&journal);
    assert_eq!(past.was.makespan_s, 300.0);
    assert_eq!(past.schedule_under(&policy("bertasi/greedy", &json!(null))).0, past.was);
}

/// Each time an agent connects, it says that its owner wants tasks there.
#[test]
fn a_machine_that_is_closed_or_paused_by_order_stays_so_when_its_agent_comes_back() {
    let (agent, user) = (MachineId::new(FAST), || Actor::User("root".to_owned()));
    let opened = |open: bool, by: Actor| Fact::MachineOpened { agent, open, why: String::new(), by };
    for ordered in [opened(false, user()), Fact::MachinePaused { agent, paused: true, by: user() }] {
        let mut journal = history();
        journal.add(110.0, ordered);
        journal.add(120.0, Fact::LeaseExpired { agent });
        journal.add(130.0, Fact::AgentReturned { agent, brings: Vec::new() });
        journal.add(130.0, opened(true, Actor::Agent("fast".to_owned())));
        journal.submitted(200.0, ("ann", 2), (1, 1));
        journal.started(200.0, 4);
        journal.done(300.0, 4, SLOW, 100.0);
        let past = past_of(&journal);
        let of_fast = past.setup.loads.iter().filter(|change| change.machine == agent);
        let of_fast: Vec<(f64, f64)> = of_fast.map(|change| (change.time.seconds(), change.load)).collect();
        assert_eq!(of_fast, [(0.0, 1.0), (0.0, 0.0), (110.0, 1.0)]);
        assert_eq!(past.schedule_under(&past.policy).0, past.was);
    }
}

/// As of more tasks than `WHAT_IF_TASKS_MAX`.
#[test]
fn of_the_last_hours_the_tasks_that_came_then_are_compared() {
    let mut journal = history();
    journal.submitted(200.0, ("ann", 2), (2, 1));
    journal.started(200.0, 4);
    journal.started(200.0, 5);
    journal.done(210.0, 4, FAST, 10.0);
    journal.done(300.0, 5, SLOW, 100.0);
    let past_of = |tasks_max| {
        let mut reading = Reading::default();
        for entry in &journal.entries {
            reading.read(entry).expect("a journal that follows from itself");
        }
        reading.end_since(Time::from_nanos(1_700_000_150_000_000_000), tasks_max)
    };
    let past = past_of(usize::MAX);
    assert_eq!((&past.tasks[..], past.left_out.cancelled), (&[(JobId(2), 1), (JobId(2), 2)][..], 0));
    assert_eq!((past.was.makespan_s, past.was.wait_max_s), (100.0, 0.0));
    let second = |second: u64| Time::from_nanos(second * 1_000_000_000);
    let placed = |on, to| Some(Placed { on: MachineId::new(on), from: second(200), to: second(to) });
    assert_eq!(past.placed, [placed(FAST, 210), placed(SLOW, 300)]);
    let again = past.schedule_under(&policy("bertasi/greedy", &json!(null)));
    assert_eq!(again, (past.was, past.placed.clone()));
    assert_eq!(past_of(1).tasks, [(JobId(2), 2)], "the latest");
}

/// The lines of `gleaner journal export`.
fn exported(journal: &Journal) -> Vec<String> {
    let lines = journal.entries.iter().enumerate().map(|(seq, Entry { at, fact })| {
        json!({ "version": FORMAT, "seq": seq + 1, "at_ns": at.nanos(), "fact": fact }).to_string()
    });
    lines.collect()
}

fn file(lines: &[String]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "{}", lines.join("\n")).expect("it is written");
    file
}

#[test]
fn an_export_is_read_line_by_line() {
    let journal = history();
    let lines = exported(&journal);
    let whole = file(&lines);
    assert_eq!(read(whole.path()).expect("an export").was, past_of(&journal).was);
    let of_version = |version: u32| {
        let mut lines = lines.clone();
        lines[2] = lines[2].replace(&format!("\"version\":{FORMAT}"), &format!("\"version\":{version}"));
        lines
    };
    let (newer, older) = (of_version(FORMAT + 1), of_version(FORMAT - 1));
    let mut torn = lines.clone();
    torn[3].truncate(20);
    let mut missing = lines;
    missing.remove(4);
    for (lines, named) in [
        (newer, format!(":3: found version {}; expected {FORMAT}: a newer Gleaner", FORMAT + 1)),
        (older, format!(":3: found version {}; expected {FORMAT}: an older Gleaner", FORMAT - 1)),
        (torn, ":4: ".to_owned()),
        (missing, ":5: found row 6 of the journal; expected row 5".to_owned()),
    ] {
        let error = read(file(&lines).path()).expect_err(&named).to_string();
        assert!(error.contains(&named), "{error}");
    }
}
