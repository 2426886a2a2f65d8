//! A backlog under a budget: what waits beyond what the machines can do does not keep them idle.

use gleaner_core::{Budget, Charged, GridConfig, MachineClass, Migration, Room, Scope, TaskClass};
use gleaner_policy::{Cheapest, Order, Recipe, Savings, Spending};
use gleaner_sim::{Answers, Setup, Simulation, Tasks};
use gleaner_units::{Credits, MachineClassId, Ops, Span, TaskClassId, Time};
use std::collections::BTreeSet;

const PERIOD: Span = Span::from_nanos(10_000_000_000);

/// A slow machine and one four times as fast that asks four times as much; 200 tasks of ten operations, which both do
/// in 400 s; and twice the credits that both can use.
fn overloaded() -> Setup {
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
        machine_classes: [1.0, 4.0].map(machine).to_vec(),
        machines: [0, 1].map(MachineClassId::new).to_vec(),
        availability: None,
        task_classes: vec![task],
        tasks: Tasks::truly_declared(
            vec![Time::ZERO; 200],
            vec![Ops::new(10.0).expect("a length"); 200],
            vec![TaskClassId::new(0); 200],
        ),
        loads: Vec::new(),
        answers: Answers::default(),
        budget: Some(Budget {
            recharge: Credits::new(400),
            period: PERIOD,
            charged: Charged::Planned,
            scope: Scope::Shared,
        }),
    }
}

fn makespan_s(spending: Spending) -> f64 {
    let setup = overloaded();
    let recipe = Recipe { spending, ..Recipe::in_batches(Order::MinMin, PERIOD) };
    let mut simulation = Simulation::new(&setup, recipe.build());
    simulation.run();
    assert_eq!(simulation.history().unfinished(), 0, "{spending:?}");
    simulation.history().makespan().seconds()
}

#[test]
fn a_backlog_keeps_the_fast_machine_idle_under_btt_and_busy_within_reach() {
    let btt = makespan_s(Spending::PerTaskAndTime(Savings::AsPrinted, Cheapest::First));
    let within_reach = makespan_s(Spending::WithinReach);
    assert!(btt > 1_500.0, "only the slow machine is cheap enough for most of the time: {btt} s");
    assert!(within_reach < 450.0, "both machines can be paid for: {within_reach} s");
}
