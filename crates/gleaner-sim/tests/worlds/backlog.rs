//! A backlog under a budget: what waits beyond what the machines can do does not keep them idle.

use gleaner_core::{Budget, Charged, GridConfig, MachineClass, Migration, Room, Scope, TaskClass};
use gleaner_policy::{Cheapest, Holding, Recipe, Savings, Spending, TaskOrder};
use gleaner_sim::{Answers, Setup, Simulation, Tasks};
use gleaner_units::{Credits, MachineClassId, Ops, Span, TaskClassId, Time};
use std::collections::BTreeSet;

const PERIOD: Span = Span::from_nanos(10_000_000_000);

/// A slow machine and one that is faster and asks as much more; tasks of one length.
fn slow_and_fast(faster: f64, (tasks, length): (usize, f64), recharge: u64) -> Setup {
    let machine = |speed: f64| MachineClass {
        speeds: vec![speed],
        cores: 1,
        room: Room { slots: Some(1), ..Room::default() },
        price: speed,
        provides: BTreeSet::new(),
        ad: None,
    };
    let task = TaskClass { requires: BTreeSet::new(), ..TaskClass::plain(vec![1.0]) };
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: [1.0, faster].map(machine).to_vec(),
        machines: [0, 1].map(MachineClassId::new).to_vec(),
        availability: None,
        task_classes: vec![task],
        tasks: Tasks::truly_declared(
            vec![Time::ZERO; tasks],
            vec![Ops::new(length).expect("a length"); tasks],
            vec![TaskClassId::new(0); tasks],
        ),
        loads: Vec::new(),
        answers: Answers::default(),
        budget: Some(Budget {
            recharge: Credits::new(recharge),
            period: PERIOD,
            charged: Charged::Planned,
            scope: Scope::Shared,
        }),
    }
}

fn makespan_s(setup: &Setup, recipe: Recipe) -> f64 {
    let mut simulation = Simulation::new(setup, recipe.build());
    simulation.run();
    assert_eq!(simulation.history().unfinished(), 0, "{recipe}");
    simulation.history().makespan().seconds()
}

/// 200 tasks of ten operations, which both machines do in 400 s, and twice the credits that both can use.
#[test]
fn a_backlog_keeps_the_fast_machine_idle_under_btt_and_busy_within_reach_or_by_a_moving_price() {
    let makespan_s = |spending| {
        let recipe = Recipe { spending, ..Recipe::in_batches(TaskOrder::MinMin, PERIOD) };
        makespan_s(&slow_and_fast(4.0, (200, 10.0), 400), recipe)
    };
    let btt = makespan_s(Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First));
    assert!(btt > 1_500.0, "only the slow machine is cheap enough for most of the time: {btt} s");
    for spending in [Spending::WithinReach, Spending::MovingPrice] {
        let makespan_s = makespan_s(spending);
        assert!(makespan_s < 450.0, "both machines can be paid for, {spending:?}: {makespan_s} s");
    }
}

/// What is left of the recharge after the first of two tasks pays for the slow machine alone, which takes 1,000 s.
#[test]
fn the_last_task_waits_for_the_fast_machine_where_it_is_held_back_from_the_slow_one() {
    let makespan_s = |hold| {
        let recipe =
            Recipe { spending: Spending::Cap, hold, ..Recipe::in_batches(TaskOrder::MinMin, PERIOD) };
        makespan_s(&slow_and_fast(100.0, (2, 1_000.0), 101_000), recipe)
    };
    assert!(makespan_s(Holding::Never) > 1_000.0);
    assert!(makespan_s(Holding::WhenSlower) < 50.0);
}
