//! What each event makes of a run of several parts: all or none.

use crate::plain::{empty, joined, life, machine as on, stage_name, submitted};
use crate::puppet::{NOW, Puppet, orders, tell, tell_at, wish};
use gleaner_core::{
    Change, Command, Decision, Event, MachineClass, Needs, Part, Refusal, Room, RunEnd, Scheduler, SiteState,
    StopReason, TaskClass,
};
use gleaner_units::{MachineClassId, RunId, TaskId, Time};

fn wide_task() -> TaskId {
    TaskId::new(0)
}

fn part(machine: usize, cores: u32) -> Part {
    Part { on: on(machine), cores }
}

/// Four machines of two cores with ten bytes of memory and of disk each, the last of which is half as fast; a task of five
/// cores, nine bytes of memory and four of disk, and one of a core.
fn grid() -> Scheduler<Puppet> {
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let room = Room { slots: Some(2), memory: Some(10), disk: Some(10) };
    let kind = |speed| {
        Event::MachineClassMet(Box::new(MachineClass { room, ..MachineClass::plain(vec![speed], 2) }))
    };
    let class = |needs| Event::TaskClassMet(Box::new(TaskClass { needs, ..TaskClass::plain(vec![1.0]) }));
    let wide = Needs { cores: 5, memory: 9, disk: 4 };
    let events = [kind(2.0), kind(1.0), joined(0, 0), joined(1, 0), joined(2, 0), joined(3, 1)];
    for event in
        events.iter().chain(&[class(wide), class(Needs::default()), submitted(0, 1, 0), submitted(1, 1, 1)])
    {
        tell(&mut scheduler, event);
    }
    scheduler
}

fn start(scheduler: &mut Scheduler<Puppet>, parts: &[Part]) -> Option<Refusal> {
    wish(scheduler, Decision::StartWide { task: wide_task(), parts: parts.into() })
}

/// The wide task, and how many cores each machine has free.
fn state(scheduler: &Scheduler<Puppet>) -> String {
    let grid = scheduler.grid();
    let state = life(grid, wide_task());
    let runs = grid.runs_of(wide_task()).map(|run| {
        let stage = stage_name(run.stage());
        let parts: Vec<String> =
            grid.parts_of(run).map(|part| format!("{}x{}", part.cores, part.on)).collect();
        format!(" {}:{stage}@{}", run.id().number, parts.join("+"))
    });
    let free = grid.machines().iter().map(|machine| machine.free().slots.expect("a bound").to_string());
    format!("{state}{} free {}", runs.collect::<String>(), free.collect::<Vec<_>>().join(" "))
}

fn step(scheduler: &mut Scheduler<Puppet>, word: &str) -> bool {
    let (verb, number) = word.split_at(word.len() - 1);
    let number: usize = number.parse().expect("a digit");
    let run = RunId::new(wide_task(), number as u32);
    let event = match verb {
        "wide" => {
            let parts = [part(0, 2), part(1, 1), part(2, 2)];
            assert_eq!(start(scheduler, &parts), None, "{word}");
            return false;
        }
        "small" => {
            let small = Decision::Start { task: TaskId::new(1), on: on(number) };
            assert_eq!(wish(scheduler, small), None, "{word}");
            return false;
        }
        "started" => Event::RunStarted(run),
        "finished" => Event::RunEnded { run, end: RunEnd::Finished },
        "lost" => Event::RunEnded { run, end: RunEnd::Lost },
        "kept" => Event::RunEnded { run, end: RunEnd::Kept },
        "gone" => Event::MachineLost { machine: on(number) },
        "back" => Event::MachineReturned { machine: on(number) },
        "withdrawn" => Event::TasksWithdrawn { first: wide_task(), count: 1 },
        "returned" => Event::TasksReturned { first: wide_task(), count: 1 },
        "rerun" => Event::TasksRerun { tasks: vec![(wide_task(), 1)] },
        other => panic!("no step is called {other}"),
    };
    tell(scheduler, &event).contains(&Change::StaleReply(run))
}

#[test]
fn all_parts_or_none() {
    let whole = "runs@2xm0+1xm1+2xm2";
    for (story, expected, stale) in [
        ("wide0", "placed 1:sent@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        ("wide0 started1", &format!("placed 1:{whole} free 0 1 0 2"), false),
        ("wide0 started1 started1", &format!("placed 1:{whole} free 0 1 0 2"), true),
        ("small1 wide0", "placed 1:sent@2xm0+1xm1+2xm2 free 0 0 0 2", false),
        // Its end is that of all parts, and counts once.
        ("wide0 started1 finished1", "done@m0 free 2 2 2 2", false),
        ("wide0 started1 finished1 finished1", "done@m0 free 2 2 2 2", true),
        ("wide0 started1 lost1", "waits free 2 2 2 2", false),
        ("wide0 started1 kept1 wide0", "placed 2:sent@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        // A part is lost: the others stop, and nothing of the run counts.
        ("wide0 started1 gone1", "placed 1:stops@2xm0+2xm2 free 0 2 0 2", false),
        ("wide0 gone0", "placed 1:stops@1xm1+2xm2 free 2 1 0 2", false),
        ("wide0 started1 gone1 kept1", "waits free 2 2 2 2", false),
        ("wide0 started1 gone1 finished1", "waits free 2 2 2 2", false),
        ("wide0 started1 gone0 gone2", "placed 1:stops@1xm1 free 2 1 2 2", false),
        ("wide0 started1 gone0 gone2 gone1", "waits free 2 2 2 2", false),
        ("wide0 started1 gone0 gone2 gone1 finished1", "waits free 2 2 2 2", true),
        ("wide0 gone1 back1 lost1 wide0", "placed 2:sent@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        ("wide0 gone3", "placed 1:sent@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        // Its user has other plans.
        ("wide0 started1 withdrawn0", "withdrawn 1:stops@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        ("wide0 started1 withdrawn0 kept1", "withdrawn free 2 2 2 2", false),
        ("wide0 started1 withdrawn0 finished1", "done@m0 free 2 2 2 2", false),
        ("wide0 withdrawn0 gone0 finished1", "withdrawn free 2 2 2 2", false),
        ("wide0 withdrawn0 gone0 gone1 gone2", "withdrawn free 2 2 2 2", false),
        ("wide0 withdrawn0 returned0", "placed 1:stops@2xm0+1xm1+2xm2 free 0 1 0 2", false),
        ("wide0 withdrawn0 returned0 kept1", "waits free 2 2 2 2", false),
        ("wide0 withdrawn0 rerun0 finished1", "waits free 2 2 2 2", false),
        ("wide0 finished1 rerun0 wide0", "placed 2:sent@2xm0+1xm1+2xm2 free 0 1 0 2", false),
    ] {
        let mut scheduler = grid();
        let last = story.split_whitespace().map(|word| step(&mut scheduler, word)).last();
        assert_eq!((state(&scheduler).as_str(), last), (expected, Some(stale)), "{story}");
    }
}

#[test]
fn what_is_ordered_names_every_part() {
    let mut scheduler = grid();
    let run = RunId::new(wide_task(), 1);
    step(&mut scheduler, "wide0");
    let parts = [part(0, 2), part(1, 1), part(2, 2)].into();
    assert_eq!(orders(&mut scheduler), [Command::StartWide { run, parts }]);
    step(&mut scheduler, "gone0");
    let stop = Command::Stop { run, on: on(1), why: StopReason::PartLost };
    assert_eq!(orders(&mut scheduler), [stop]);
    // Who was told to stop is not told again.
    step(&mut scheduler, "gone1");
    assert_eq!(orders(&mut scheduler), []);
}

#[test]
fn a_part_takes_what_falls_to_its_cores() {
    let mut scheduler = grid();
    step(&mut scheduler, "wide0");
    let free = |machine: usize| scheduler.grid().machine(on(machine)).free();
    // Of nine bytes for five cores two cores have four, rounded up, and one core has two.
    assert_eq!((free(0).memory, free(1).memory, free(3).memory), (Some(6), Some(8), Some(10)));
    assert_eq!((free(0).disk, free(1).disk, free(3).disk), (Some(8), Some(9), Some(10)));
}

#[test]
fn parts_that_do_not_make_up_the_task_are_refused() {
    let cores = Refusal::Parts { task: wide_task(), cores: 5 };
    for parts in [
        &[][..],
        &[part(0, 5), part(1, 0)],
        &[part(0, 2), part(1, 2)],
        &[part(0, 2), part(1, 2), part(2, 2)],
        &[part(1, 2), part(0, 2), part(2, 1)],
        &[part(0, 2), part(0, 2), part(1, 1)],
        &[part(0, u32::MAX), part(1, 6)],
    ] {
        assert_eq!(start(&mut grid(), parts), Some(cores), "{parts:?}");
    }
    let mut scheduler = grid();
    // One part that is the whole is a start, for which the machine is too small.
    assert_eq!(start(&mut scheduler, &[part(0, 5)]), Some(Refusal::CannotRun(wide_task(), on(0))));
    assert!(matches!(
        start(&mut scheduler, &[part(0, 2), part(1, 3)]),
        Some(Refusal::NoRoom { on: machine, .. }) if machine == on(1)
    ));
    tell(&mut scheduler, &Event::MachineClosed { machine: on(2) });
    let parts = [part(0, 2), part(1, 1), part(2, 2)];
    assert_eq!(start(&mut scheduler, &parts), Some(Refusal::Closed(on(2))));
    assert_eq!(state(&scheduler), "waits free 2 2 2 2");
}

#[test]
fn runs_of_several_parts_are_neither_moved_nor_replicated() {
    let mut scheduler = grid();
    for word in ["wide0", "started1"] {
        step(&mut scheduler, word);
    }
    assert!(scheduler.grid().stays(wide_task()));
    let relocate = Decision::Relocate { task: wide_task(), to: on(3) };
    assert_eq!(wish(&mut scheduler, relocate), Some(Refusal::SeveralParts(wide_task())));
    let replicate = Decision::Replicate { task: wide_task(), on: on(3) };
    assert_eq!(wish(&mut scheduler, replicate), Some(Refusal::SeveralParts(wide_task())));
}

#[test]
fn it_has_come_as_far_as_its_slowest_part() {
    let mut scheduler = grid();
    assert_eq!(start(&mut scheduler, &[part(0, 2), part(1, 2), part(3, 1)]), None);
    let run = RunId::new(wide_task(), 1);
    tell(&mut scheduler, &Event::RunStarted(run));
    let later = NOW.after_seconds(10.0);
    assert_eq!(scheduler.grid().ops_done(later, run), 10.0);
    let measured = Event::MachineMeasured { machine: on(3), class: MachineClassId::new(0) };
    tell_at(&mut scheduler, later, &measured);
    assert_eq!(scheduler.grid().ops_done(later.after_seconds(1.0), run), 12.0);
}

const UNTIL: Time = Time::from_nanos(9);

fn ask(scheduler: &mut Scheduler<Puppet>, parts: &[Part]) -> Option<Refusal> {
    let refusal = wish(scheduler, Decision::Ask { task: wide_task(), parts: parts.into(), until: UNTIL });
    if refusal.is_none() {
        let run = RunId::new(wide_task(), scheduler.grid().task(wide_task()).runs());
        assert_eq!(orders(scheduler), [Command::Ask { run, parts: parts.into() }]);
    }
    refusal
}

fn asked() -> RunId {
    RunId::new(wide_task(), 1)
}

fn granted(machine: usize) -> Event {
    Event::RunGranted { run: asked(), on: on(machine), since: NOW }
}

#[test]
fn what_is_asked_for_is_sent_when_all_of_its_sites_hold_their_parts() {
    let mut scheduler = grid();
    let parts = [part(0, 2), part(1, 2), part(2, 1)];
    assert_eq!(ask(&mut scheduler, &parts), None);
    assert_eq!(state(&scheduler), "placed 1:asked@2xm0+2xm1+1xm2 free 0 0 1 2");
    // Nothing begins where nothing is held for it.
    for early in [Event::RunStarted(asked()), Event::RunArrived { run: asked(), since: NOW }] {
        assert_eq!(tell(&mut scheduler, &early), [Change::StaleReply(asked())]);
    }
    for machine in [2, 0] {
        assert_eq!(tell(&mut scheduler, &granted(machine)), []);
        assert_eq!(tell(&mut scheduler, &granted(machine)), [Change::StaleReply(asked())], "said twice");
        assert_eq!(orders(&mut scheduler), []);
    }
    assert_eq!(scheduler.grid().silent(asked()).collect::<Vec<_>>(), [on(1)]);
    tell(&mut scheduler, &granted(1));
    assert_eq!(orders(&mut scheduler), [Command::StartWide { run: asked(), parts: parts.into() }]);
    assert_eq!(scheduler.grid().next_alarm(), None, "nobody is waited for");
    tell_at(&mut scheduler, UNTIL, &Event::RunStarted(asked()));
    assert_eq!(state(&scheduler), "placed 1:runs@2xm0+2xm1+1xm2 free 0 0 1 2");
}

/// Each site's state contains its part or stands beside it, whatever the other sites say, and when.
#[test]
fn what_one_site_holds_is_in_its_state_whatever_the_others_say() {
    let mut scheduler = grid();
    let at = Time::from_nanos;
    let published = |site, known_at| {
        let (state, known_at) = (SiteState::default(), at(known_at));
        Event::StatePublished { machine: on(site), state, known_at }
    };
    for site in [0, 1, 2] {
        tell(&mut scheduler, &published(site, 1));
    }
    assert_eq!(ask(&mut scheduler, &[part(0, 2), part(1, 2), part(2, 1)]), None);
    let beside = |scheduler: &Scheduler<Puppet>| {
        [0, 1, 2].map(|site| scheduler.grid().belief(on(site)).expect("its state").sent_since().len())
    };
    let granted = |site, since| Event::RunGranted { run: asked(), on: on(site), since: at(since) };
    // One grants before its state comes, one after, and one after all is given up.
    tell(&mut scheduler, &granted(0, 2));
    assert_eq!(beside(&scheduler), [1, 1, 1]);
    tell(&mut scheduler, &published(0, 3));
    tell(&mut scheduler, &published(1, 3));
    assert_eq!(beside(&scheduler), [0, 1, 1]);
    assert_eq!(tell(&mut scheduler, &granted(1, 2)), [Change::BeliefChanged(on(1))]);
    assert_eq!(beside(&scheduler), [0, 0, 1]);
    tell(&mut scheduler, &Event::WokeUp { alarm: gleaner_core::Alarm::Silence(asked()) });
    tell(&mut scheduler, &published(2, 3));
    assert_eq!(beside(&scheduler), [0, 0, 1]);
    tell(&mut scheduler, &granted(2, 2));
    assert_eq!(beside(&scheduler), [0, 0, 0]);
    tell(&mut scheduler, &Event::RunEnded { run: asked(), end: RunEnd::Lost });
    assert_eq!(state(&scheduler), "waits free 2 2 2 2");
}

#[test]
fn one_refusal_or_silence_ends_what_was_asked_for() {
    let parts = [part(0, 2), part(1, 2), part(2, 1)];
    let refused = Event::RunRefused { run: asked(), on: on(2) };
    let silence = Event::WokeUp { alarm: gleaner_core::Alarm::Silence(asked()) };
    for end in [refused, silence] {
        let mut scheduler = grid();
        ask(&mut scheduler, &parts);
        assert_eq!(scheduler.grid().next_alarm(), Some((UNTIL, gleaner_core::Alarm::Silence(asked()))));
        tell(&mut scheduler, &granted(0));
        tell_at(&mut scheduler, UNTIL, &end);
        let stop = Command::Stop { run: asked(), on: on(0), why: StopReason::NotHeld };
        assert_eq!(orders(&mut scheduler), [stop], "{end:?}");
        assert_eq!(state(&scheduler), "placed 1:stops@2xm0+2xm1+1xm2 free 0 0 1 2");
        // An answer that crossed the order is no harm, and changes nothing.
        assert_eq!(tell_at(&mut scheduler, UNTIL, &granted(1)), []);
        assert_eq!(orders(&mut scheduler), []);
        tell_at(&mut scheduler, UNTIL, &Event::RunEnded { run: asked(), end: RunEnd::Lost });
        assert_eq!(state(&scheduler), "waits free 2 2 2 2");
        assert_eq!(tell_at(&mut scheduler, UNTIL, &granted(1)), [Change::StaleReply(asked())]);
        assert_eq!(scheduler.grid().next_alarm(), None);
    }
}

#[test]
fn what_is_asked_for_is_checked_as_what_is_started() {
    let mut scheduler = grid();
    assert_eq!(ask(&mut scheduler, &[part(0, 2)]), Some(Refusal::Parts { task: wide_task(), cores: 5 }));
    let early = Time::from_nanos(4);
    let parts: Box<[Part]> = [part(0, 2), part(1, 2), part(2, 1)].into();
    let late = Decision::Ask { task: wide_task(), parts: parts.clone(), until: early };
    assert_eq!(wish(&mut scheduler, late), Some(Refusal::Passed(early)));
    assert_eq!(ask(&mut scheduler, &parts), None);
    // It has its run; one more is a copy, for which there is no room.
    assert!(matches!(ask(&mut scheduler, &parts), Some(Refusal::NoRoom { .. })));
    tell(&mut scheduler, &Event::TasksWithdrawn { first: wide_task(), count: 1 });
    let stop = Command::Stop { run: asked(), on: on(0), why: StopReason::Withdrawn };
    assert_eq!(orders(&mut scheduler), [stop]);
    assert_eq!(scheduler.grid().next_alarm(), None);
}

#[test]
fn whatever_a_site_says_of_what_it_was_never_told_does_no_harm() {
    let mut scheduler = grid();
    ask(&mut scheduler, &[part(0, 2), part(1, 2), part(2, 1)]);
    let before = (state(&scheduler), scheduler.grid().next_alarm());
    for (task, number) in [(0, 0), (0, 2), (0, u32::MAX), (1, 0), (1, 1), (2, 1), (usize::MAX >> 33, 7)] {
        let run = RunId::new(TaskId::new(task), number);
        for machine in [0, 3, 4, usize::MAX >> 33] {
            let (on, state, known_at) = (on(machine), SiteState::default(), NOW);
            let ended =
                [RunEnd::Finished, RunEnd::Kept, RunEnd::Lost].map(|end| Event::RunEnded { run, end });
            let said = [
                Event::RunGranted { run, on, since: NOW },
                Event::RunRefused { run, on },
                Event::RunArrived { run, since: NOW },
                Event::RunStarted(run),
                Event::WokeUp { alarm: gleaner_core::Alarm::Silence(run) },
            ];
            for event in said.iter().chain(&ended) {
                tell(&mut scheduler, event);
            }
            if machine > 3 {
                tell(&mut scheduler, &Event::StatePublished { machine: on, state, known_at });
            }
        }
    }
    // Of a run that is known, from a site that has no part in it.
    for event in [granted(3), Event::RunRefused { run: asked(), on: on(9) }] {
        assert_eq!(tell(&mut scheduler, &event), [Change::StaleReply(asked())]);
    }
    assert_eq!((state(&scheduler), scheduler.grid().next_alarm()), before);
    assert_eq!(orders(&mut scheduler), []);
}
