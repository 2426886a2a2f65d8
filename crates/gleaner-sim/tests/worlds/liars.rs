//! Machines that give wrong answers, as long as they are given anything.

use crate::basics::at;
use gleaner_core::{GridConfig, MachineClass, Migration, Room, TaskClass};
use gleaner_policy::{Recipe, Replicate, Score};
use gleaner_sim::{Answers, Liars, Setup, Simulation, Tasks};
use gleaner_units::{MachineClassId, Ops, TaskClassId};

const MACHINES: usize = 5;
const TASKS: usize = 60;

/// One of five machines lies, two have to agree, and all machines are needed.
fn setup() -> Setup {
    let room = Room { slots: Some(1), ..Room::default() };
    let Some(Replicate::Quorum(checking)) = Replicate::agreeing(2, 5, None) else { panic!("a quorum") };
    let mut tasks = Tasks::default();
    for task in 0..TASKS {
        tasks.push(at(4.0 * task as f64), Ops::new(10.0).expect("a length"), TaskClassId::new(0));
    }
    let liars = Liars::drawn(MACHINES, 0.2, (1.0, false), 7);
    Setup {
        config: GridConfig { weights: vec![1.0], migration: Migration::default() },
        machine_classes: vec![MachineClass { room, ..MachineClass::plain(vec![1.0], 1) }],
        machines: vec![MachineClassId::new(0); MACHINES],
        availability: None,
        task_classes: vec![TaskClass::plain(vec![1.0])],
        tasks,
        loads: Vec::new(),
        budget: None,
        answers: Answers { checking: Some(checking), liars: Some(liars), owned: None },
    }
}

#[test]
fn a_machine_that_is_outvoted_again_and_again_is_given_nothing_more() {
    let setup = setup();
    let mut simulation = Simulation::new(&setup, Recipe::by(Score::Greedy).build());
    simulation.run();
    let answered = simulation.answered().expect("answers are compared");
    assert_eq!((answered.liars, answered.accepted, answered.wrong), (1, TASKS, 0));
    assert_eq!((answered.closed, answered.honest_closed), (1, 0));
    // What it had answered or was running when it was closed counts as well.
    assert!((3..=6).contains(&answered.outvoted), "{answered:?}");
}
