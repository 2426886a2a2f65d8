//! Runs that are sent ahead: what each event makes of them and of the run that they follow.

use crate::plain::{empty, joined, submitted};
use crate::puppet::{Puppet, orders, tell, tell_at, wish};
use gleaner_core::{
    Command, Decision, Event, MachineClass, Needs, Refusal, Room, Run, RunEnd, Scheduler, Stage, TaskClass,
    TaskState,
};
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};

const ON: MachineId = MachineId::new(0);

/// A machine with one slot, four tasks of one class, and a fifth of another.
fn grid() -> Scheduler<Puppet> {
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let room = Room { slots: Some(1), memory: Some(10), disk: None };
    let class = |memory| {
        let needs = Needs { cores: 1, memory, disk: 0 };
        Event::TaskClassMet(Box::new(TaskClass { needs, ..TaskClass::plain(vec![1.0]) }))
    };
    for event in [
        Event::MachineClassMet(Box::new(MachineClass { room, ..MachineClass::plain(vec![1.0], 1) })),
        joined(0, 0),
        class(4),
        class(5),
        submitted(0, 4, 0),
        submitted(4, 1, 1),
    ] {
        tell(&mut scheduler, &event);
    }
    scheduler
}

fn first(task: usize) -> RunId {
    RunId::new(TaskId::new(task), 1)
}

fn follow(task: usize, after: RunId) -> Decision {
    Decision::Follow { task: TaskId::new(task), on: ON, after }
}

/// `start0`, `follow1` (which follows the run of the task before), `started0`, `finished0`, `lost0`, `kept0`, `takeback1`,
/// `withdrawn0`: of the task of that number. `gone`, `back`, `closed`, `opened`: of the machine.
fn step(scheduler: &mut Scheduler<Puppet>, word: &str) {
    let (verb, number) = word.split_at(word.trim_end_matches(|letter: char| letter.is_ascii_digit()).len());
    let number: usize = number.parse().unwrap_or(0);
    let (task, run) = (TaskId::new(number), first(number));
    let decision = match verb {
        "start" => Some(Decision::Start { task, on: ON }),
        "follow" => Some(follow(number, first(number - 1))),
        "takeback" => Some(Decision::TakeBack { task }),
        _ => None,
    };
    if let Some(decision) = decision {
        assert_eq!(wish(scheduler, decision), None, "{word}");
        return;
    }
    let event = match verb {
        "started" => Event::RunStarted(run),
        "finished" => Event::RunEnded { run, end: RunEnd::Finished },
        "lost" => Event::RunEnded { run, end: RunEnd::Lost },
        "kept" => Event::RunEnded { run, end: RunEnd::Kept },
        "withdrawn" => Event::TasksWithdrawn { first: task, count: 1 },
        "gone" => Event::MachineLost { machine: ON },
        "back" => Event::MachineReturned { machine: ON },
        "closed" => Event::MachineClosed { machine: ON },
        other => panic!("no step is called {other}"),
    };
    tell(scheduler, &event);
}

fn told(word: &str, story: &str) -> Scheduler<Puppet> {
    let mut scheduler = grid();
    story.split_whitespace().chain(Some(word).filter(|word| !word.is_empty())).for_each(|word| {
        step(&mut scheduler, word);
    });
    scheduler
}

/// The tasks that do not just wait, and what is free.
fn state(scheduler: &Scheduler<Puppet>) -> String {
    let grid = scheduler.grid();
    let run = |run: &Run| match run.stage() {
        Stage::Next => "next",
        Stage::Sent => "sent",
        Stage::Running => "runs",
        Stage::Stopping => "stops",
        Stage::Missing => "missing",
        Stage::Held | Stage::Asked => unreachable!("nothing is moved or asked for here"),
    };
    let tasks = (0..5).map(TaskId::new).filter_map(|id| {
        let stages: Vec<&str> = grid.runs_of(id).map(run).collect();
        let own = match grid.task(id).state() {
            TaskState::Waiting if stages.is_empty() => return None,
            TaskState::Waiting => "waits ",
            TaskState::Placed => "",
            TaskState::Finished(_) => "done ",
            TaskState::Withdrawn => "withdrawn ",
            TaskState::Retired => unreachable!("nothing is retired here"),
        };
        Some(format!("{}: {own}{}", id.index(), stages.join(" ")).trim_end().to_owned())
    });
    let free = grid.machine(ON).free().slots.unwrap_or(0);
    format!("{}; {free} free", tasks.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_run_ahead_has_the_room_of_the_run_before_it_and_no_other() {
    for (story, expected) in [
        ("start0 follow1", "0: sent, 1: next; 0 free"),
        ("start0 started0 follow1", "0: runs, 1: next; 0 free"),
        ("start0 follow1 finished0", "0: done, 1: sent; 0 free"),
        ("start0 follow1 lost0", "1: sent; 0 free"),
        ("start0 follow1 finished0 started1", "0: done, 1: runs; 0 free"),
        ("start0 follow1 finished0 follow2 started1 finished1", "0: done, 1: done, 2: sent; 0 free"),
        // Its machine knew first that the one before is over.
        ("start0 started0 follow1 started1", "0: runs, 1: runs; 0 free"),
        ("start0 started0 follow1 started1 finished0", "0: done, 1: runs; 0 free"),
        ("start0 started0 follow1 finished1", "0: runs, 1: done; 0 free"),
        ("start0 started0 follow1 finished1 finished0", "0: done, 1: done; 1 free"),
        // It could not begin.
        ("start0 follow1 lost1", "0: sent; 0 free"),
        ("start0 follow1 lost1 finished0", "0: done; 1 free"),
    ] {
        assert_eq!(state(&told("", story)), expected, "{story}");
    }
}

#[test]
fn what_is_taken_back_may_have_begun_and_its_end_is_awaited() {
    for (story, expected) in [
        ("start0 follow1 takeback1", "0: sent, 1: next; 0 free"),
        ("start0 follow1 takeback1 kept1", "0: sent; 0 free"),
        ("start0 follow1 takeback1 finished0", "0: done, 1: sent; 0 free"),
        ("start0 follow1 takeback1 finished0 kept1", "0: done; 1 free"),
        ("start0 follow1 takeback1 finished0 started1", "0: done, 1: runs; 0 free"),
        ("start0 follow1 takeback1 started1", "0: sent, 1: runs; 0 free"),
        ("start0 follow1 takeback1 finished0 finished1", "0: done, 1: done; 1 free"),
        ("start0 follow1 takeback1 withdrawn1", "0: sent, 1: withdrawn stops; 0 free"),
        ("start0 follow1 takeback1 withdrawn1 started1 lost1", "0: sent, 1: withdrawn; 0 free"),
        ("start0 follow1 takeback1 kept1 follow2", ""),
        ("start0 follow1 withdrawn1", "0: sent, 1: withdrawn stops; 0 free"),
        ("start0 follow1 withdrawn1 lost1 finished0", "0: done, 1: withdrawn; 1 free"),
        ("start0 follow1 withdrawn0", "0: withdrawn stops, 1: next; 0 free"),
        ("start0 follow1 withdrawn0 lost0", "0: withdrawn, 1: sent; 0 free"),
        ("start0 follow1 gone", "0: waits missing, 1: waits missing; 1 free"),
        ("start0 follow1 gone back finished1", "0: waits missing, 1: done; 1 free"),
        ("start0 follow1 takeback1 gone", "0: waits missing, 1: waits missing; 1 free"),
    ] {
        if expected.is_empty() {
            let mut scheduler = told("", story.rsplit_once(' ').expect("several words").0);
            let after = first(0);
            assert_eq!(wish(&mut scheduler, follow(2, after)), None, "{story}");
            assert_eq!(state(&scheduler), "0: sent, 2: next; 0 free");
            continue;
        }
        assert_eq!(state(&told("", story)), expected, "{story}");
    }
}

#[test]
fn only_one_of_its_class_follows_a_run_that_goes_on_there() {
    let cannot = |task: usize, after: RunId| Some(Refusal::CannotFollow(TaskId::new(task), after));
    let refused = |story: &str, task: usize, after: usize| {
        let mut scheduler = told("", story);
        (wish(&mut scheduler, follow(task, first(after))), cannot(task, first(after)))
    };
    for (story, task, after) in [
        ("start0 follow1", 2, 0),
        // What is next itself is followed by none.
        ("start0 follow1", 2, 1),
        // Nor are two that both say that they run, where there is room for one.
        ("start0 started0 follow1 started1", 2, 0),
        ("start0 started0 follow1 started1", 2, 1),
        ("start0 withdrawn0", 1, 0),
        ("start0 finished0", 1, 0),
        ("start0 gone", 1, 0),
        ("start0 closed", 1, 0),
        // Another class.
        ("start0", 4, 0),
        ("", 1, 0),
    ] {
        let (found, expected) = refused(story, task, after);
        assert_eq!(found, expected, "{story}, then {task} after {after}");
    }
    let mut scheduler = told("start0", "");
    assert_eq!(wish(&mut scheduler, follow(0, first(0))), Some(Refusal::NotWaiting(TaskId::new(0))));
    let take_back = |task| Decision::TakeBack { task: TaskId::new(task) };
    assert_eq!(wish(&mut scheduler, take_back(0)), Some(Refusal::NotAhead(TaskId::new(0))));
    assert_eq!(wish(&mut scheduler, take_back(3)), Some(Refusal::NotAhead(TaskId::new(3))));
    step(&mut scheduler, "follow1");
    step(&mut scheduler, "takeback1");
    assert_eq!(wish(&mut scheduler, take_back(1)), Some(Refusal::NotAhead(TaskId::new(1))), "it was asked");
}

#[test]
fn its_machine_is_told_which_run_it_follows_and_nothing_more() {
    let mut scheduler = told("", "start0 follow1");
    let follow = Command::StartAfter { run: first(1), on: ON, after: first(0) };
    assert_eq!(orders(&mut scheduler), [Command::Start { run: first(0), on: ON }, follow]);
    step(&mut scheduler, "finished0");
    assert_eq!(orders(&mut scheduler), [], "it begins without a word");
}

#[test]
fn how_long_tasks_took_lately_follows_the_longest_of_the_last_ones() {
    let mut scheduler = grid();
    let class = TaskClassId::new(0);
    assert_eq!(scheduler.grid().took_lately(class), None);
    let (mut at, mut found) = (0, Vec::new());
    for (task, took) in [(0, 8), (1, 2), (2, 1), (3, 3)] {
        step(&mut scheduler, &format!("start{task}"));
        tell_at(&mut scheduler, Time::from_nanos(at), &Event::RunStarted(first(task)));
        at += took;
        tell_at(
            &mut scheduler,
            Time::from_nanos(at),
            &Event::RunEnded { run: first(task), end: RunEnd::Finished },
        );
        found.push(scheduler.grid().took_lately(class).map(Span::nanos));
    }
    assert_eq!(found, [Some(8), Some(4), Some(2), Some(3)]);
}
