//! What an agent says of its machine, and what its tasks show.

use super::small::{Small, end, live_run, profile};
use gleaner_server::desk::{Admitted, Checked, Input, JobFiles, Order};
use gleaner_server::journal::Fact;
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::BlobHash;
use gleaner_wire::job::{JobSpec, TaskList};
use gleaner_wire::limits::{PROFILE_SECONDS, PROFILES_AT_ONCE, REPORTS_AT_ONCE, SPEED_RUNS_MIN};
use gleaner_wire::session::{End, FromAgent, Outcome, Profile, Sample, Stored};

fn speed(small: &Small) -> f64 {
    let grid = small.desk.ledger().grid();
    grid.classes().machine_class(grid.machine(MachineId::new(0)).class()).speeds[0]
}

/// Runs tasks of a thousand million operations each, which take so many seconds.
fn run(small: &mut Small, tasks: u32, elapsed_s: f64) -> Vec<Fact> {
    let first = small.desk.ledger().task_count();
    let tasks = TaskList::Array { first: 1, last: tasks, step: 1 };
    let spec = JobSpec { tasks, length: Some(1e9), ..JobSpec::new(["true"]) };
    small.order(Order::Submit {
        job: Admitted::check(spec).expect("a job"),
        key: None,
        files: JobFiles::default(),
    });
    let mut facts = Vec::new();
    for task in (first..small.desk.ledger().task_count()).map(TaskId::new) {
        let number = live_run(&small.desk, task).expect("there is room for it");
        let run = RunId { task, number };
        small.say(FromAgent::Started(run));
        let mut end = end(&Outcome::Exited { code: 0 });
        end.usage.elapsed_s = elapsed_s;
        small.say(FromAgent::Ended { run, end });
        facts.append(&mut small.facts);
    }
    facts
}

#[test]
fn a_machine_that_says_too_much_is_counted_with_what_its_tasks_show() {
    let mut small = Small::running();
    for run in [TaskId::new(0), TaskId::new(1)].map(|task| RunId { task, number: 1 }) {
        small.ends(run, &Outcome::Exited { code: 0 });
    }
    small.say(FromAgent::Profile(Profile { speeds: [1e9, 100.0, 100.0], ..profile() }));
    assert_eq!(speed(&small), 1e9);
    let facts = run(&mut small, SPEED_RUNS_MIN, 1.0);
    let doubted = facts.iter().find_map(|fact| match fact {
        Fact::SpeedDoubted { share, why, .. } => Some((*share, why.clone())),
        _ => None,
    });
    let (share, why) = doubted.expect("it is in the journal");
    assert!(share * 1e9 <= 16_000.0, "{share}");
    assert!(why.contains("its tasks show"), "{why}");
    assert_eq!(speed(&small), share * 1e9);
    // It cannot have its speed back by saying it again.
    small.say(FromAgent::Profile(Profile { speeds: [5e8, 100.0, 100.0], ..profile() }));
    small.say(FromAgent::Profile(Profile { speeds: [1e9, 100.0, 100.0], ..profile() }));
    assert!(speed(&small) <= 16_000.0, "{}", speed(&small));
}

#[test]
fn a_machine_that_says_what_it_is_is_believed() {
    let mut small = Small::running();
    for run in [TaskId::new(0), TaskId::new(1)].map(|task| RunId { task, number: 1 }) {
        small.ends(run, &Outcome::Exited { code: 0 });
    }
    // Ten times slower than it could be: others ran there too, or the length was a guess.
    let facts = run(&mut small, 2 * SPEED_RUNS_MIN, 10.0);
    assert!(!facts.iter().any(|fact| matches!(fact, Fact::SpeedDoubted { .. })));
    assert_eq!(speed(&small), 1_000.0);
}

#[test]
fn what_no_machine_is_is_not_recorded() {
    let usual = profile();
    for profile in [
        Profile { speeds: [1e300, 1.0, 1.0], ..usual.clone() },
        Profile { speeds: [f64::NAN, 1.0, 1.0], ..usual.clone() },
        Profile { speeds: [1.0, f64::INFINITY, 1.0], ..usual.clone() },
        Profile { speeds: [1.0, 1.0, -1.0], ..usual.clone() },
        Profile { speeds: [-0.0, 1.0, 1.0], ..usual.clone() },
        Profile { speeds: [1.0, 1e-310, 1.0], ..usual.clone() },
        Profile { cpu_on_core: Some(1e300), ..usual.clone() },
        Profile { cpu_on_core: Some(f64::NAN), ..usual.clone() },
        Profile { cpu_on_core: Some(-0.0), ..usual.clone() },
        Profile { cores: 0, ..usual.clone() },
        Profile { slots: 0, ..usual.clone() },
        Profile { cores: u32::MAX, ..usual.clone() },
        Profile { memory: u64::MAX, ..usual.clone() },
        Profile { attributes: [("A".to_owned(), "\u{202e}".to_owned())].into(), ..usual.clone() },
        Profile {
            attributes: [("A".to_owned(), format!("\"{}\"", "x".repeat(60_000)))]
                .into_iter()
                .chain((0..5).map(|at| (format!("B{at}"), format!("\"{}\"", "x".repeat(60_000)))))
                .collect(),
            ..usual.clone()
        },
        Profile { tags: vec!["a\u{200b}".to_owned()], ..usual.clone() },
    ] {
        assert!(Checked::of(profile.clone()).is_err(), "{profile:?}");
    }
    assert!(Checked::of(usual).is_ok());
}

/// Each change is read by the thread that decides for all, and stays in the journal.
#[test]
fn a_machine_that_becomes_another_all_the_time_does_so_once_a_minute() {
    let mut small = Small::running();
    let with_speed = |speed| FromAgent::Profile(Profile { speeds: [speed, 100.0, 100.0], ..profile() });
    let is_change = |fact: &&Fact| matches!(fact, Fact::MachineProfiled { .. });
    let say = |small: &mut Small, speed| {
        let before = small.all.len();
        small.say(with_speed(speed));
        small.all[before..].iter().filter(is_change).count()
    };
    let at_once = PROFILES_AT_ONCE as usize;
    let changes: Vec<usize> = (1..=at_once).map(|number| say(&mut small, 2_000.0 + number as f64)).collect();
    assert_eq!(changes, vec![1; at_once]);
    assert_eq!(say(&mut small, 2_000.0 + at_once as f64), 0, "it is so already");
    assert_eq!((say(&mut small, 5_000.0), say(&mut small, 6_000.0)), (0, 0), "that is too much");
    assert_eq!(speed(&small), 2_000.0 + at_once as f64);
    // The latest waits, and is in force when a minute is over.
    let minute = f64::from(PROFILE_SECONDS);
    small.at(minute);
    assert!(small.desk.next_tick() <= small.now());
    small.tick();
    assert_eq!(speed(&small), 6_000.0);
    // One that is again what is known waits for nothing.
    assert_eq!((say(&mut small, 7_000.0), say(&mut small, 6_000.0)), (0, 0));
    small.say(FromAgent::Heartbeat { number: 1, sample: Sample::default(), staging: Vec::new() });
    small.at(2.0 * minute).tick();
    assert_eq!(speed(&small), 6_000.0);
}

/// Nor does it help to come again and again as another.
#[test]
fn a_machine_that_comes_as_another_all_the_time_is_let_in_as_often() {
    let mut small = Small::running();
    for number in 1..=2 * PROFILES_AT_ONCE {
        let speeds = [2_000.0 + f64::from(number), 100.0, 100.0];
        small.connect_as(Profile { speeds, ..profile() });
        let is_in = number <= PROFILES_AT_ONCE;
        assert_eq!(small.desk.is_connected(MachineId::new(0)), is_in, "{number}");
    }
    assert_eq!(speed(&small), 2_000.0 + f64::from(PROFILES_AT_ONCE));
}

/// An end that is known, or of a task that never was, is answered as often as anything else that nobody asked for: what is over may have
/// to be looked up in the store.
#[test]
fn who_reports_ends_that_are_known_again_and_again_is_disconnected() {
    let first = RunId { task: TaskId::new(0), number: 1 };
    for run in [first, RunId { task: TaskId::new(7), number: 1 }] {
        let mut small = Small::running();
        small.ends(first, &Outcome::Exited { code: 0 });
        let mut answered = 0;
        while small.desk.is_connected(MachineId::new(0)) {
            small.ends(run, &Outcome::Exited { code: 0 });
            answered += 1;
            assert!(answered <= REPORTS_AT_ONCE, "{run} is answered without end");
        }
        assert_eq!(answered, REPORTS_AT_ONCE, "{run}: that it came counts, too");
    }
}

/// What nobody named for a day is removed (`YOUNG`), and no result of it comes to nothing.
#[test]
fn what_was_sent_long_before_its_end_is_sent_again() {
    let run = RunId { task: TaskId::new(0), number: 1 };
    let mut small = Small::running();
    let blob = BlobHash::of(b"left");
    let files = Some(Stored { blob, size: 4 });
    let sent =
        |small: &mut Small| small.put(vec![Input::Stored { agent: MachineId::new(0), run, blob, bytes: 4 }]);
    let end =
        || FromAgent::Ended { run, end: End { files: files.clone(), ..end(&Outcome::Exited { code: 0 }) } };
    sent(&mut small);
    small.at(25.0 * 3_600.0).say(end());
    assert_eq!(small.settled(), None, "it is not there any more");
    sent(&mut small);
    small.say(end());
    assert_eq!(small.settled(), Some(true));
}
