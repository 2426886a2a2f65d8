//! What a task has done where it runs, as speeds, owners and neighbours change.

use crate::plain::{empty, joined};
use crate::puppet::{Puppet, tell_at, wish_at};
use gleaner_core::{Checking, Decision, Event, MachineClass, RunEnd, Scheduler, TaskClass};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, TaskClassId, TaskId, Time};

/// Each task is so long.
const LENGTH: f64 = 100.0;

fn task(letter: char) -> TaskId {
    TaskId::new(usize::from(letter == 'b'))
}

fn machine(digit: &str) -> MachineId {
    MachineId::new(digit.parse().expect("a machine"))
}

/// Machines m0 and m1 with two cores at 1 operation a second, classes for 0, 1, 2 and 4, and two tasks, a and b.
fn grid(restarts: bool) -> Scheduler<Puppet> {
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let class = |speed: f64| Event::MachineClassMet(Box::new(MachineClass::plain(vec![speed], 2)));
    let kind = TaskClass { restarts, ..TaskClass::plain(vec![1.0]) };
    let submitted = Event::TasksSubmitted {
        first: task('a'),
        count: 2,
        class: TaskClassId::new(0),
        length: Ops::new(LENGTH),
    };
    let classes = [0.0, 1.0, 2.0, 4.0].map(class);
    for event in classes.into_iter().chain([
        Event::TaskClassMet(Box::new(kind)),
        joined(0, 1),
        joined(1, 1),
        submitted,
    ]) {
        tell(&mut scheduler, Time::ZERO, &event);
    }
    scheduler
}

fn tell(scheduler: &mut Scheduler<Puppet>, now: Time, event: &Event) {
    tell_at(scheduler, now, event);
    assert_eq!(scheduler.policy().refusals, []);
}

fn wish(scheduler: &mut Scheduler<Puppet>, now: Time, decision: Decision) {
    assert_eq!(wish_at(scheduler, now, decision), None);
}

/// One step of a story, `second:what`; a step about a task begins with its letter.
fn step(scheduler: &mut Scheduler<Puppet>, word: &str) -> Time {
    let (second, what) = word.split_once(':').expect("a moment");
    let now = Time::ZERO.after_seconds(second.parse().expect("a second"));
    let (verb, rest) = what.split_once('=').unwrap_or((what, ""));
    let id = task(verb.chars().next().expect("a verb"));
    let newest = RunId::new(id, scheduler.grid().task(id).runs());
    let oldest = scheduler.grid().runs_of(id).last().map_or(newest, gleaner_core::Run::id);
    let mut ended = |end| tell(scheduler, now, &Event::RunEnded { run: oldest, end });
    match verb {
        "a" | "b" => wish(scheduler, now, Decision::Start { task: id, on: machine(rest) }),
        "a-to" | "b-to" => wish(scheduler, now, Decision::Relocate { task: id, to: machine(rest) }),
        "a-copy" => wish(scheduler, now, Decision::Replicate { task: id, on: machine(rest) }),
        "a-new-kept" => tell(scheduler, now, &Event::RunEnded { run: newest, end: RunEnd::Kept }),
        "a-new-ends" => tell(scheduler, now, &Event::RunEnded { run: newest, end: RunEnd::Finished }),
        "a-lost" | "b-lost" => ended(RunEnd::Lost),
        "a-ends" | "b-ends" => ended(RunEnd::Finished),
        "a-kept" | "b-kept" => ended(RunEnd::Kept),
        "a-runs" | "b-runs" => tell(scheduler, now, &Event::RunStarted(newest)),
        "load" => {
            let load = rest.parse().expect("a load");
            tell(scheduler, now, &Event::OwnerLoadReported { machine: machine("0"), load });
        }
        "speed" => {
            let class = ["0", "1", "2", "4"].iter().position(|speed| *speed == rest).expect("a speed");
            let class = MachineClassId::new(class);
            tell(scheduler, now, &Event::MachineMeasured { machine: machine("0"), class });
        }
        "m0-lost" => tell(scheduler, now, &Event::MachineLost { machine: machine("0") }),
        "quorum" => {
            let rule = Checking { quorum: 2, most: 3, trust: None };
            tell(scheduler, now, &Event::CheckingSet(Some(rule)));
        }
        "seen" => {}
        other => panic!("no step is called {other}"),
    }
    now
}

/// Operations done of a, and seconds until it is.
fn check(stories: &[(&str, f64, Option<f64>)], restarts: bool) {
    for &(story, done, left) in stories {
        let mut scheduler = grid(restarts);
        let now = story.split_whitespace().map(|word| step(&mut scheduler, word)).last().expect("a step");
        let grid = scheduler.grid();
        let run = RunId::new(task('a'), grid.task(task('a')).runs());
        let length = grid.declared_length(run.task).expect("each has one");
        let found = (grid.ops_done(now, run), grid.seconds_left(now, run, length));
        assert_eq!(found, (done, left), "{story}");
    }
}

#[test]
fn work_adds_up() {
    check(
        &[
            ("0:seen", 0.0, None),
            ("0:a=0 9:seen", 0.0, Some(100.0)),
            ("0:a=0 5:a-runs 9:seen", 4.0, Some(96.0)),
            ("0:a=0 0:a-runs 10:speed=2 15:seen", 20.0, Some(40.0)),
            ("0:a=0 0:a-runs 10:speed=2 15:speed=4 16:speed=1 17:seen", 25.0, Some(75.0)),
            ("0:a=0 0:a-runs 10:speed=0 15:seen", 10.0, Some(f64::INFINITY)),
            ("0:a=0 0:a-runs 10:speed=0 15:speed=2 20:seen", 20.0, Some(40.0)),
            ("0:a=0 10:speed=2 10:a-runs 15:seen", 10.0, Some(45.0)),
            ("0:a=0 0:a-runs 120:seen", 120.0, Some(0.0)),
            // Two cores for one task: the owner's half does not slow it; three quarters do.
            ("0:a=0 0:a-runs 10:load=0.5 20:seen", 20.0, Some(80.0)),
            ("0:a=0 0:a-runs 10:load=0.75 20:seen", 15.0, Some(170.0)),
            ("0:a=0 0:a-runs 10:load=0.75 20:speed=4 30:seen", 35.0, Some(32.5)),
            // Suspended.
            ("0:a=0 0:a-runs 10:load=1 50:seen", 10.0, Some(f64::INFINITY)),
            ("0:a=0 0:a-runs 10:load=1 50:load=0 60:seen", 20.0, Some(80.0)),
            // A neighbour counts from when it is sent.
            ("0:load=0.5 0:a=0 0:a-runs 10:b=0 20:b-runs 30:b-ends 40:seen", 30.0, Some(70.0)),
            ("0:load=0.5 0:a=0 0:a-runs 10:b=0 20:b-lost 30:seen", 25.0, Some(75.0)),
            // What was done is taken along, and is gone when the run is.
            ("0:a=0 0:a-runs 10:speed=2 15:a-to=1 17:seen", 20.0, Some(80.0)),
            ("0:a=0 0:a-runs 10:speed=2 15:a-to=1 16:a-kept 17:a-runs 20:seen", 23.0, Some(77.0)),
            ("0:a=0 0:a-runs 10:speed=2 15:a-to=1 16:a-lost 17:a-runs 20:seen", 3.0, Some(97.0)),
            ("0:a=0 0:a-runs 10:a-kept 15:a=1 15:a-runs 20:seen", 15.0, Some(85.0)),
            // A neighbour that is to stop takes room and no share.
            ("0:load=0.5 0:b=0 0:b-runs 0:a=0 0:a-runs 10:b-to=1 20:seen", 15.0, Some(85.0)),
            ("0:a=0 0:a-runs 10:a-lost 15:seen", 0.0, None),
            ("0:a=0 0:a-runs 10:a-lost 15:a=1 15:a-runs 20:seen", 5.0, Some(95.0)),
            // Out of reach: what it had done then.
            ("0:a=0 0:a-runs 10:m0-lost 15:seen", 10.0, None),
            ("0:a=0 0:a-runs 10:a-ends 15:seen", 0.0, None),
            // Of two runs the one that is behind is stopped last.
            (
                "0:a=0 0:a-runs 5:a-copy=1 5:a-runs 10:a-kept 11:a-new-kept 15:a=1 15:a-runs 20:seen",
                15.0,
                Some(85.0),
            ),
            // What is compared begins from nothing, whatever was kept before, and so does what is on its way.
            ("0:a=0 0:a-runs 10:a-kept 10:quorum 15:a=1 15:a-runs 20:seen", 5.0, Some(95.0)),
            ("0:a=0 0:a-runs 10:a-to=1 11:quorum 12:a-kept 15:a-runs 20:seen", 5.0, Some(95.0)),
        ],
        false,
    );
}

#[test]
fn what_keeps_nothing_to_go_on_from_starts_again_elsewhere() {
    check(
        &[
            ("0:a=0 0:a-runs 10:a-to=1 12:a-kept 15:a-runs 20:seen", 5.0, Some(95.0)),
            ("0:a=0 0:a-runs 10:speed=2 15:seen", 20.0, Some(40.0)),
        ],
        true,
    );
}

/// What is known of how long a is, once it ended.
#[test]
fn how_long_a_task_was_is_what_the_run_did_that_ended() {
    for (story, expected) in [
        ("0:a=0 0:a-runs 10:a-ends", Some(10.0)),
        ("0:a=0 0:a-runs 10:seen", None),
        // Waiting to be begun is no work.
        ("0:a=0 5:a-runs 10:a-ends", Some(5.0)),
        ("0:a=0 10:a-ends", None),
        ("0:a=0 0:a-runs 10:speed=2 15:a-ends", Some(20.0)),
        // Whatever becomes of the machine later.
        ("0:a=0 0:a-runs 10:a-ends 20:speed=4 30:seen", Some(10.0)),
        ("0:a=0 0:a-runs 10:a-ends 20:speed=0 30:seen", Some(10.0)),
        // On a machine that cannot run it: nobody knows what it did since.
        ("0:a=0 0:a-runs 10:speed=0 15:a-ends", None),
        // The owner's share is not the task's.
        ("0:load=0.75 0:a=0 0:a-runs 20:a-ends", Some(10.0)),
        ("0:load=0.5 0:b=0 0:b-runs 0:a=0 0:a-runs 20:a-ends", Some(10.0)),
        // Moves: what was kept, and not what was lost.
        ("0:speed=2 0:a=0 0:a-runs 10:a-to=1 11:a-kept 15:a-runs 20:a-ends", Some(25.0)),
        ("0:speed=2 0:a=0 0:a-runs 10:a-to=1 11:a-lost 15:a-runs 20:a-ends", Some(5.0)),
        ("0:a=0 0:a-runs 10:a-lost 15:a=1 16:a-runs 20:a-ends", Some(4.0)),
        // From nothing, since its answer is compared.
        ("0:a=0 0:a-runs 10:a-kept 10:quorum 15:a=1 15:a-runs 20:a-ends", Some(5.0)),
        // It was to stop, and ended first.
        ("0:a=0 0:a-runs 10:a-to=1 11:a-ends", None),
        // Out of reach while it ended.
        ("0:a=0 0:a-runs 10:m0-lost 20:a-ends", None),
        // A copy, begun later on another machine; the first of the two ends.
        ("0:speed=4 0:a=0 0:a-runs 20:a-copy=1 25:a-runs 30:a-ends", Some(120.0)),
        ("0:speed=4 0:a=0 0:a-runs 20:a-copy=1 25:a-runs 30:a-new-ends", Some(5.0)),
    ] {
        let mut scheduler = grid(false);
        for word in story.split_whitespace() {
            step(&mut scheduler, word);
        }
        let took = scheduler.grid().took(task('a')).map(gleaner_core::Took::ops);
        assert_eq!(took, expected, "{story}");
    }
    // One that is to run again has no length any more.
    let mut scheduler = grid(false);
    for word in "0:a=0 0:a-runs 10:a-ends".split_whitespace() {
        step(&mut scheduler, word);
    }
    let again = Event::TasksRerun { tasks: vec![(task('a'), 1)] };
    tell(&mut scheduler, Time::ZERO.after_seconds(20.0), &again);
    assert_eq!(scheduler.grid().took(task('a')), None, "it is not over");
}
