//! Who is chosen among machines where chance has a say: as often as the scores say, by the seed and the run alone.

use crate::basics::{CHI_SQUARE, empty};
use gleaner_core::{Event, MachineClass, RunEnd, Scheduler, TaskClass};
use gleaner_policy::{AnyPolicy, Choose, Recipe, Score};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time};

const TASKS: u32 = 200;
const SEEDS: u64 = 100;

/// Idle machines of these speeds.
fn lab(recipe: Recipe, seed: u64, speeds: [f64; 3]) -> Scheduler<AnyPolicy> {
    let mut scheduler = Scheduler::new(empty(), recipe.build());
    let class = |speed| MachineClass::plain(vec![speed], 1);
    let task = TaskClass::plain(vec![1.0]);
    let mut events = vec![Event::SeedDrawn(seed), Event::TaskClassMet(Box::new(task))];
    for (index, speed) in speeds.into_iter().enumerate() {
        events.push(Event::MachineClassMet(Box::new(class(speed))));
        let (machine, class) = (MachineId::new(index), MachineClassId::new(index));
        events.push(Event::MachineJoined { machine, class });
    }
    for event in events {
        tell(&mut scheduler, &event);
    }
    scheduler
}

fn tell(scheduler: &mut Scheduler<AnyPolicy>, event: &Event) {
    scheduler.apply(Time::ZERO, event);
    while scheduler.is_asked() {
        scheduler.decide(Time::ZERO, &mut Vec::new());
    }
}

/// Where each task goes that finds all machines idle.
fn places(recipe: Recipe, seed: u64, speeds: [f64; 3]) -> Vec<usize> {
    let mut scheduler = lab(recipe, seed, speeds);
    let mut places = Vec::new();
    for task in (0..TASKS as usize).map(TaskId::new) {
        let class = TaskClassId::FIRST;
        tell(&mut scheduler, &Event::TasksSubmitted { first: task, count: 1, class, length: None });
        let run = scheduler.grid().runs_of(task).next().expect("a machine is idle");
        places.push(run.on().index());
        let (run, end) = (run.id(), RunEnd::Finished);
        tell(&mut scheduler, &Event::RunEnded { run, end });
    }
    places
}

#[test]
fn machines_are_drawn_as_often_as_their_scores_say() {
    let greedy = Recipe::by(Score::Greedy);
    let proportional = |power| Recipe { choose: Choose::Proportional { power }, ..greedy };
    let by_lot = Recipe { choose: Choose::BestByLot, ..greedy };
    let two = Recipe { choose: Choose::TwoChoices, ..greedy };
    let costs = Recipe { choose: Choose::Proportional { power: 1 }, ..Recipe::by(Score::Social) };
    for (recipe, speeds, shares) in [
        (by_lot, [2.0, 2.0, 2.0], [1.0, 1.0, 1.0]),
        (by_lot, [2.0, 1.0, 2.0], [1.0, 0.0, 1.0]),
        (two, [1.0, 2.0, 5.0], [0.0, 1.0, 2.0]),
        (two, [2.0, 2.0, 2.0], [2.0, 1.0, 0.0]),
        (proportional(1), [1.0, 2.0, 5.0], [1.0, 2.0, 5.0]),
        (proportional(2), [1.0, 2.0, 5.0], [1.0, 4.0, 25.0]),
        // An operation takes 1, 1/2 and 1/5 s, and that is the cost of an idle machine.
        (costs, [1.0, 2.0, 5.0], [1.0, 2.0, 5.0]),
    ] {
        let mut counts = [0_u32; 3];
        for on in (0..SEEDS).flat_map(|seed| places(recipe, seed, speeds)) {
            counts[on] += 1;
        }
        let (draws, sum) = (f64::from(TASKS) * SEEDS as f64, shares.iter().sum::<f64>());
        let cells = shares.map(|share| draws * share / sum).into_iter().zip(counts);
        let possible: Vec<_> = cells.clone().filter(|(expected, _)| *expected > 0.0).collect();
        let chi: f64 =
            possible.iter().map(|(expected, count)| (f64::from(*count) - expected).powi(2) / expected).sum();
        assert!(chi < CHI_SQUARE[possible.len() - 1], "{recipe} on {speeds:?}: {counts:?}");
        assert!(cells.filter(|(expected, _)| *expected == 0.0).all(|(_, count)| count == 0), "{counts:?}");
    }
}

#[test]
fn another_seed_draws_otherwise_and_the_same_seed_the_same() {
    let two = Recipe { choose: Choose::TwoChoices, ..Recipe::by(Score::Greedy) };
    let speeds = [1.0, 2.0, 5.0];
    assert_eq!(places(two, 1, speeds), places(two, 1, speeds));
    assert_ne!(places(two, 1, speeds), places(two, 2, speeds));
}

#[test]
fn a_later_run_of_a_task_draws_anew() {
    let lot = Recipe { choose: Choose::BestByLot, ..Recipe::by(Score::Greedy) };
    let mut scheduler = lab(lot, 1, [2.0, 2.0, 2.0]);
    let (first, class) = (TaskId::FIRST, TaskClassId::FIRST);
    tell(&mut scheduler, &Event::TasksSubmitted { first, count: 1, class, length: None });
    let mut met = [false; 3];
    for number in 1..=50 {
        let run = scheduler.grid().runs_of(first).next().expect("a machine is idle");
        assert_eq!(run.id(), RunId::new(first, number));
        met[run.on().index()] = true;
        let (run, end) = (run.id(), RunEnd::Lost);
        tell(&mut scheduler, &Event::RunEnded { run, end });
    }
    assert_eq!(met, [true; 3], "what was drawn once is not drawn for ever");
}
