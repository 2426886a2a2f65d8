//! A scheduler that carries out what another decided has the same grid after every event, to the byte, whatever its own
//! policy would have wished.

use crate::basics::empty;
use gleaner_core::{
    Change, DECISIONS_MAX, Decision, Diverged, Event, Grid, MachineClass, Policy, Refusal, RunEnd, Scheduler,
    Settled, TaskClass,
};
use gleaner_policy::{Ahead, Choose, Recipe, Relocate, Replicate, Score, When};
use gleaner_testkit::history::{self, Step, bytes};
use gleaner_testkit::random;
use gleaner_units::{MachineClassId, MachineId, RunId, Span, TaskClassId, TaskId, Time};

const NOW: Time = Time::from_nanos(7);

fn recipes() -> impl Iterator<Item = Recipe> {
    let every = When::Every(Span::from_seconds(5.0).expect("a span"));
    let relocate = [None, Some(When::AtEvents), Some(every)];
    let drawn = Recipe { choose: Choose::TwoChoices, ..Recipe::by(Score::Greedy) };
    let copied = Recipe { replicate: Replicate::runs(2).expect("two runs"), ..drawn };
    let moving = Score::ALL.into_iter().flat_map(move |score| {
        relocate.map(|when| Recipe {
            relocate: when.map(|when| Relocate { when, ..Relocate::by(score) }),
            ..Recipe::by(score)
        })
    });
    let ahead = Recipe { ahead: Ahead::WhereShort, ..drawn };
    moving.chain([drawn, copied, ahead])
}

#[test]
fn what_was_decided_is_carried_out_to_the_same_grid() {
    for (recipe, seed) in recipes().flat_map(|recipe| (1..=25).map(move |seed| (recipe, seed))) {
        let empty = Grid::new(random::setup(seed).config);
        let mut recovered = Scheduler::new(empty.clone(), Recipe::by(Score::MinNum).build());
        let same = history::live(seed, empty, recipe.build(), |step| {
            let Step { now, event, decisions, commands, settled, scheduler, .. } = step;
            recovered.apply(*now, event);
            recovered.carry_out(*now, decisions, *settled).map_err(|error| error.to_string())?;
            recovered.check()?;
            if !recovered.take_orders().eq(commands.iter().cloned()) {
                return Err(format!("other orders after {event:?}"));
            }
            if bytes(recovered.grid()) == bytes(scheduler.grid()) {
                Ok(())
            } else {
                Err(format!("{event:?}"))
            }
        });
        same.unwrap_or_else(|broken| panic!("seed {seed}, {recipe:?}: {broken}"));
    }
}

/// One machine without bounds and an array on it, which is not answered yet.
fn crowded(count: u32) -> Scheduler<impl Policy + Clone> {
    let recipe = Recipe::by(Score::Greedy);
    let mut scheduler = Scheduler::new(empty(), recipe.build());
    let machine = MachineClass::plain(vec![1.0], 1);
    let task = TaskClass::plain(vec![1.0]);
    let events = [
        Event::MachineClassMet(Box::new(machine)),
        Event::TaskClassMet(Box::new(task)),
        Event::MachineJoined { machine: MachineId::new(0), class: MachineClassId::new(0) },
        Event::TasksSubmitted { first: TaskId::new(0), count, class: TaskClassId::new(0), length: None },
    ];
    for event in &events {
        scheduler.apply(NOW, event);
    }
    scheduler
}

#[test]
fn an_answer_that_was_cut_short_goes_on_where_it_was() {
    let mut first = crowded(DECISIONS_MAX as u32 + 100);
    let mut second = first.clone();
    for expected in [DECISIONS_MAX, 100] {
        let mut decisions = Vec::new();
        let settled = first.decide(NOW, &mut decisions);
        assert_eq!(decisions.len(), expected);
        second.carry_out(NOW, &decisions, settled).expect("what was just decided");
        assert_eq!(bytes(first.grid()), bytes(second.grid()));
    }
    assert!(!first.is_asked());
}

#[test]
fn a_record_of_another_grid_is_noticed() {
    let start = Decision::Start { task: TaskId::new(0), on: MachineId::new(0) };
    let refused = Diverged::Refused { decision: start.clone(), refusal: Refusal::NotWaiting(TaskId::new(0)) };
    let left = |occasions_left| Settled { occasions_left, moves: 0 };
    let cases = [
        (vec![start.clone()], left(2), None),
        (vec![start.clone(), start], left(0), Some(refused)),
        (vec![], left(3), Some(Diverged::Occasions { recorded: 3, found: 2 })),
    ];
    for (decisions, settled, expected) in cases {
        assert_eq!(crowded(1).carry_out(NOW, &decisions, settled).err(), expected, "{decisions:?}");
    }
}

#[test]
fn an_event_shows_what_it_changed() {
    let mut scheduler = crowded(1);
    let run = RunId::new(TaskId::new(0), 1);
    let changes = scheduler.apply(NOW, &Event::RunEnded { run, end: RunEnd::Finished });
    assert_eq!(changes, [Change::StaleReply(run)]);
}
