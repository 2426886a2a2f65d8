//! What each event makes of a task, of its machine, and of those that wait.

use crate::plain::{empty, joined, life, machine, stage_name, submitted, task};
use crate::puppet::{Puppet, tell, wish};
use gleaner_core::{
    Availability, Cause, Change, Decision, Event, MachineClass, Needs, Refusal, Room, Run, RunEnd, Scheduler,
    TaskClass, TaskState,
};
use gleaner_units::{RunId, TaskClassId, TaskId};

fn class(cores: u32, memory: u64, priority: i32) -> Event {
    let needs = Needs { cores, memory, disk: 0 };
    Event::TaskClassMet(Box::new(TaskClass { needs, priority, ..TaskClass::plain(vec![1.0]) }))
}

/// Two machines with room for two cores and ten bytes each.
fn grid(events: &[Event]) -> Scheduler<Puppet> {
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let room = Room { slots: Some(2), memory: Some(10), disk: None };
    let kind = MachineClass { room, ..MachineClass::plain(vec![1.0], 2) };
    for event in [&[Event::MachineClassMet(Box::new(kind)), joined(0, 0), joined(1, 0)], events].concat() {
        tell(&mut scheduler, &event);
    }
    scheduler
}

fn start(scheduler: &mut Scheduler<Puppet>, index: usize, on: usize) -> Option<Refusal> {
    wish(scheduler, Decision::Start { task: task(index), on: machine(on) })
}

/// One task, in one line: where it is in its life, and its runs that are not over, the newest first.
fn state(scheduler: &Scheduler<Puppet>) -> String {
    let run = |run: &Run| {
        let stage = stage_name(run.stage());
        format!(" {}:{stage}@{}", run.id().number, run.on())
    };
    let state = life(scheduler.grid(), task(0));
    scheduler.grid().runs_of(task(0)).fold(state, |state, next| state + &run(next))
}

/// One step of a story, in one word; whether the event was a stale reply.
fn step(scheduler: &mut Scheduler<Puppet>, word: &str) -> bool {
    let (verb, number) = word.split_at(word.len() - 1);
    let number: usize = number.parse().expect("a digit");
    let (task, run) = (task(0), RunId::new(task(0), number as u32));
    let on = machine(number);
    let decision = match verb {
        "start" => Some(Decision::Start { task, on }),
        "move" => Some(Decision::Relocate { task, to: on }),
        "also" => Some(Decision::Replicate { task, on }),
        _ => None,
    };
    if let Some(decision) = decision {
        assert_eq!(wish(scheduler, decision), None, "{word}");
        return false;
    }
    let event = match verb {
        "started" => Event::RunStarted(run),
        "finished" => Event::RunEnded { run, end: RunEnd::Finished },
        "lost" => Event::RunEnded { run, end: RunEnd::Lost },
        "kept" => Event::RunEnded { run, end: RunEnd::Kept },
        "gone" => Event::MachineLost { machine: on },
        "back" => Event::MachineReturned { machine: on },
        "withdrawn" => Event::TasksWithdrawn { first: task, count: 1 },
        "returned" => Event::TasksReturned { first: task, count: 1 },
        "rerun" => Event::TasksRerun { tasks: vec![(task, 1)] },
        other => panic!("no step is called {other}"),
    };
    tell(scheduler, &event).contains(&Change::StaleReply(run))
}

/// The digit is a machine, or the number of a run. The last reply of each story is stale or counts.
fn check(stories: &[(&str, &str, bool)]) {
    for &(story, expected, stale) in stories {
        let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 1, 0)]);
        let last = story.split_whitespace().map(|word| step(&mut scheduler, word)).last();
        assert_eq!((state(&scheduler).as_str(), last), (expected, Some(stale)), "{story}");
    }
}

/// Policies keep their indices by what changed alone.
#[test]
fn what_waits_already_does_not_come_to_wait_again() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 1, 0)]);
    for word in ["start0", "started1", "gone0"] {
        step(&mut scheduler, word);
    }
    let lost = Event::RunEnded { run: RunId::new(task(0), 1), end: RunEnd::Lost };
    assert_eq!(tell(&mut scheduler, &lost), []);
    assert_eq!(state(&scheduler), "waits");
}

/// Nobody was asked about those who waited behind it.
#[test]
fn a_result_of_a_lost_machine_is_news_to_those_who_wait() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 2, 0)]);
    for word in ["start0", "started1", "gone0"] {
        step(&mut scheduler, word);
    }
    scheduler.set_policy(Puppet::default());
    step(&mut scheduler, "finished1");
    assert_eq!(state(&scheduler), "done@m0");
    assert_eq!(scheduler.policy().asked, [Cause::Withdrawn]);
}

#[test]
fn a_reply_counts_until_its_run_is_known_to_be_over() {
    check(&[
        ("start0 started1 finished1", "done@m0", false),
        ("start0 finished1", "done@m0", false),
        ("start0 started1 finished2", "placed 1:runs@m0", true),
        ("start0 started1 started1", "placed 1:runs@m0", true),
        ("start0 started1 lost1", "waits", false),
        ("start0 lost1 finished1", "waits", true),
        ("start0 lost1 start1 finished1", "placed 2:sent@m1", true),
        ("start0 started1 lost1 start0 started2", "placed 2:runs@m0", false),
        ("start0 started1 gone0", "waits 1:missing@m0", false),
        ("start0 started1 gone0 finished1", "done@m0", false),
        ("start0 started1 gone0 back0 finished1", "done@m0", false),
        ("start0 started1 gone0 lost1", "waits", false),
        ("start0 started1 gone0 started1", "waits 1:missing@m0", true),
        ("start0 started1 gone0 start1 finished1", "placed 2:sent@m1", true),
        ("start0 started1 gone0 start1 started2 finished2", "done@m1", false),
        ("start0 started1 gone0 withdrawn0 returned0 finished1", "done@m0", false),
        ("start0 started1 finished1 finished1", "done@m0", true),
        ("start0 started1 finished1 returned0", "done@m0", false),
        ("start0 finished1 withdrawn0", "done@m0", false),
        ("start0 finished1 rerun0 start1", "placed 2:sent@m1", false),
        ("start0 returned0", "placed 1:sent@m0", false),
        ("finished0", "waits", true),
    ]);
}

#[test]
fn what_is_withdrawn_stops_and_its_end_counts() {
    check(&[
        ("withdrawn0", "withdrawn", false),
        ("start0 started1 withdrawn0", "withdrawn 1:stops@m0", false),
        ("start0 withdrawn0 started1", "withdrawn 1:stops@m0", false),
        ("start0 started1 withdrawn0 kept1", "withdrawn", false),
        ("start0 started1 withdrawn0 finished1", "done@m0", false),
        ("start0 started1 withdrawn0 returned0", "placed 1:stops@m0", false),
        ("start0 started1 withdrawn0 returned0 lost1", "waits", false),
        ("start0 started1 withdrawn0 returned0 finished1", "done@m0", false),
        ("start0 started1 withdrawn0 kept1 returned0", "waits", false),
        ("start0 gone0 withdrawn0 lost1", "withdrawn", false),
        ("start0 gone0 withdrawn0 rerun0 finished1", "waits", true),
        ("start0 withdrawn0 rerun0 finished1", "waits", false),
        ("start0 started1 withdrawn0 gone0 returned0 finished1", "done@m0", false),
    ]);
}

#[test]
fn a_move_loses_no_task() {
    check(&[
        ("start0 started1 move1", "placed 2:held@m1 1:stops@m0", false),
        ("start0 started1 move1 kept1", "placed 2:sent@m1", false),
        ("start0 started1 move1 lost1", "placed 2:sent@m1", false),
        ("start0 started1 move1 finished2", "placed 2:held@m1 1:stops@m0", true),
        ("start0 started1 move1 finished1", "done@m0", false),
        ("start0 started1 move1 kept1 finished1", "placed 2:sent@m1", true),
        // The target is lost before, or after, the run there was sent.
        ("start0 started1 move1 gone1", "placed 1:stops@m0", false),
        ("start0 started1 move1 gone1 kept1", "waits", false),
        ("start0 started1 move1 gone1 finished1", "done@m0", false),
        ("start0 started1 move1 kept1 gone1", "waits 2:missing@m1", false),
        // The source is lost.
        ("start0 started1 move1 gone0", "placed 2:sent@m1", false),
        ("start0 started1 move1 gone0 finished1", "placed 2:sent@m1", true),
        ("start0 started1 move1 gone1 gone0", "waits 1:missing@m0", false),
        // Its user has other plans.
        ("start0 started1 move1 withdrawn0", "withdrawn 1:stops@m0", false),
        ("start0 started1 move1 withdrawn0 kept1 returned0 start1", "placed 3:sent@m1", false),
    ]);
}

#[test]
fn the_first_result_of_several_runs_counts() {
    check(&[
        ("start0 also1", "placed 2:sent@m1 1:sent@m0", false),
        ("start0 started1 also1 started2 finished2", "done@m1 1:stops@m0", false),
        ("start0 started1 also1 started2 finished2 lost1", "done@m1", false),
        // Too late, but no surprise.
        ("start0 started1 also1 started2 finished2 finished1", "done@m1", false),
        ("start0 started1 also1 lost1", "placed 2:sent@m1", false),
        ("start0 started1 also1 lost1 lost2", "waits", false),
        ("start0 started1 also1 gone0", "placed 2:sent@m1 1:missing@m0", false),
        ("start0 started1 also1 gone0 finished1", "done@m0 2:stops@m1", false),
        ("start0 started1 also1 gone0 gone1", "waits 2:missing@m1 1:missing@m0", false),
        ("start0 started1 also1 gone0 gone1 finished1", "done@m0", false),
        ("start0 also1 withdrawn0", "withdrawn 2:stops@m1 1:stops@m0", false),
        ("start0 also1 finished1 rerun0", "placed 2:stops@m1", false),
        ("start0 also1 finished1 rerun0 finished2", "waits", false),
    ]);
}

#[test]
fn which_of_several_runs_is_to_move_nobody_can_say() {
    let refused = |story: &str, decision: Decision| {
        let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 1, 0)]);
        for word in story.split_whitespace() {
            step(&mut scheduler, word);
        }
        wish(&mut scheduler, decision.clone()).unwrap_or_else(|| panic!("{story}: {decision:?} was granted"))
    };
    let (task, on) = (task(0), machine(1));
    let relocate = Decision::Relocate { task, to: on };
    let replicate = Decision::Replicate { task, on };
    assert_eq!(refused("start0 started1 also1", relocate.clone()), Refusal::SeveralRuns(task));
    assert_eq!(refused("start0 started1 move1", relocate.clone()), Refusal::SeveralRuns(task));
    assert_eq!(refused("start0 started1 move1", replicate.clone()), Refusal::SeveralRuns(task));
    assert_eq!(refused("start0", relocate.clone()), Refusal::NotRunning(task));
    assert_eq!(refused("withdrawn0", replicate.clone()), Refusal::NotRunning(task));
    assert_eq!(refused("start0 also1", replicate.clone()), Refusal::AlreadyThere(task, on));
}

#[test]
fn a_machine_is_full_until_the_end_is_reported() {
    let (first, second) = (RunId::new(task(0), 1), RunId::new(task(0), 2));
    let one = Needs { cores: 2, memory: 1, disk: 0 };
    let mut scheduler = grid(&[class(2, 1, 0), submitted(0, 2, 0)]);
    start(&mut scheduler, 0, 0);
    tell(&mut scheduler, &Event::RunStarted(first));
    assert_eq!(wish(&mut scheduler, Decision::Relocate { task: task(0), to: machine(1) }), None);
    let full = |on| {
        Some(Refusal::NoRoom {
            task: task(1),
            on: machine(on),
            needs: one,
            free: Room { slots: Some(0), memory: Some(9), disk: None },
        })
    };
    for on in [0, 1] {
        assert_eq!(start(&mut scheduler, 1, on), full(on), "both are taken");
    }
    assert_eq!(scheduler.grid().machine(machine(0)).count(), 0, "what stops slows nobody");
    tell(&mut scheduler, &Event::RunEnded { run: first, end: RunEnd::Kept });
    assert_eq!(start(&mut scheduler, 1, 0), None);
    tell(&mut scheduler, &Event::TasksWithdrawn { first: task(0), count: 1 });
    assert_eq!(wish(&mut scheduler, Decision::Replicate { task: task(1), on: machine(1) }), full(1));
    tell(&mut scheduler, &Event::RunEnded { run: second, end: RunEnd::Lost });
    assert_eq!(wish(&mut scheduler, Decision::Replicate { task: task(1), on: machine(1) }), None);
}

#[test]
fn a_machine_takes_what_it_has_room_for() {
    let (small, wide, large) = (class(1, 1, 0), class(2, 1, 0), class(1, 8, 0));
    let events = [small, wide, large, submitted(0, 2, 0), submitted(2, 1, 1), submitted(3, 2, 2)];
    let mut scheduler = grid(&events);
    let no_room =
        |index, needs, free| Some(Refusal::NoRoom { task: task(index), on: machine(0), needs, free });
    let (wide, large) = (Needs { cores: 2, memory: 1, disk: 0 }, Needs { cores: 1, memory: 8, disk: 0 });
    assert_eq!(start(&mut scheduler, 3, 0), None);
    let free = Room { slots: Some(1), memory: Some(2), disk: None };
    assert_eq!(scheduler.grid().machine(machine(0)).free(), free);
    assert_eq!(start(&mut scheduler, 2, 0), no_room(2, wide, free));
    assert_eq!(start(&mut scheduler, 4, 0), no_room(4, large, free));
    assert_eq!(start(&mut scheduler, 0, 0), None);
    let full = Room { slots: Some(0), memory: Some(1), disk: None };
    assert_eq!(start(&mut scheduler, 1, 0), no_room(1, Needs { cores: 1, memory: 1, disk: 0 }, full));
    assert_eq!(start(&mut scheduler, 2, 1), None, "the other machine is empty");
    tell(&mut scheduler, &Event::RunEnded { run: RunId::new(task(3), 1), end: RunEnd::Finished });
    assert_eq!(start(&mut scheduler, 4, 0), None, "one of its kind has ended");
}

#[test]
fn what_is_larger_than_an_empty_machine_can_never_run_there() {
    let scheduler = grid(&[class(3, 0, 0), class(1, 11, 0), class(2, 10, 0)]);
    let runs = |class| scheduler.grid().seconds_per_op(TaskClassId::new(class), machine(0)).is_finite();
    assert_eq!([0, 1, 2].map(runs), [false, false, true]);
}

#[test]
fn a_closed_machine_takes_nothing_and_keeps_what_it_has() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 3, 0)]);
    start(&mut scheduler, 0, 0);
    let (closed, opened) =
        (Event::MachineClosed { machine: machine(0) }, Event::MachineOpened { machine: machine(0) });
    let (lost, returned) =
        (Event::MachineLost { machine: machine(0) }, Event::MachineReturned { machine: machine(0) });
    let steps = [
        (&opened, Availability::Open, 1),
        (&returned, Availability::Open, 1),
        (&closed, Availability::Closed, 1),
        (&opened, Availability::Open, 1),
        (&closed, Availability::Closed, 1),
        (&lost, Availability::Lost, 0),
        (&opened, Availability::Lost, 0),
        (&closed, Availability::Lost, 0),
        (&returned, Availability::Open, 0),
    ];
    for (event, availability, tasks) in steps {
        tell(&mut scheduler, event);
        let there = scheduler.grid().machine(machine(0));
        assert_eq!((there.availability(), there.count()), (availability, tasks), "{event:?}");
        let refusal = start(&mut scheduler.clone(), 1, 0);
        let open = availability == Availability::Open;
        assert_eq!(refusal, (!open).then_some(Refusal::Closed(machine(0))), "{event:?}");
    }
}

#[test]
fn the_highest_priority_goes_first_and_then_the_lowest_task() {
    let events = [class(1, 0, 0), class(1, 1, 7), class(1, 2, 7), class(1, 3, -7)];
    let tasks = [submitted(0, 1, 3), submitted(1, 2, 0), submitted(3, 1, 2), submitted(4, 2, 1)];
    let mut scheduler = grid(&[&events[..], &tasks].concat());
    let mut order = Vec::new();
    while let Some(next) = scheduler.grid().longest_waiting(|_| true) {
        order.push(next.index());
        tell(&mut scheduler, &Event::TasksWithdrawn { first: next, count: 1 });
    }
    assert_eq!(order, [3, 4, 5, 1, 2, 0]);
}

#[test]
fn a_million_waiting_tasks_take_a_few_bytes() {
    let mut scheduler = grid(&[class(1, 0, 0), submitted(0, 3, 0)]);
    tell(&mut scheduler, &submitted(3, 1_000_000, 0));
    let saved = serde_json::to_string(scheduler.grid()).expect("plain data");
    // For each page of tasks two values, state and length: two thirds of a byte a task.
    assert!(saved.len() < 700_000, "{} bytes", saved.len());
    assert_eq!(start(&mut scheduler, 999_999, 0), None);
    assert_eq!(scheduler.grid().task(task(999_999)).runs(), 1);
    assert_eq!(scheduler.grid().task(task(1_000_002)).state(), TaskState::Waiting);
    assert_eq!(scheduler.grid().task_count(), 1_000_003);
}

/// As after each of the tasks was told of by itself.
#[test]
fn tasks_are_withdrawn_and_return_together() {
    let build = || {
        let tasks = [submitted(0, 100, 0), submitted(100, 2_000, 1), submitted(2_100, 7, 0)];
        let mut scheduler = grid(&[&[class(1, 0, 0), class(1, 0, 1)][..], &tasks].concat());
        assert_eq!(start(&mut scheduler, 1_500, 0), None);
        tell(&mut scheduler, &Event::TasksWithdrawn { first: TaskId::new(50), count: 3 });
        scheduler
    };
    for (first, count) in [(0, 2_107), (300, 1_000), (1_499, 3), (90, 600), (2_100, 7)] {
        let (mut together, mut one_by_one) = (build(), build());
        let events: [fn(TaskId, u32) -> Event; 2] = [
            |first, count| Event::TasksWithdrawn { first, count },
            |first, count| Event::TasksReturned { first, count },
        ];
        for event in events {
            tell(&mut together, &event(TaskId::new(first), count));
            for task in first..first + count as usize {
                tell(&mut one_by_one, &event(TaskId::new(task), 1));
            }
            together.check().expect("a whole grid");
            let (tasks, others) = (together.grid().tasks(), one_by_one.grid().tasks());
            assert!(tasks.eq(others), "{count} from {first} on");
        }
    }
}
