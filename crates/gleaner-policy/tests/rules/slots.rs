//! Machines with fewer slots than cores, or more.

use crate::lab::{Lab, plain};
use gleaner_core::{
    Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs, Queue, Room, Scheduler, TaskClass,
};
use gleaner_policy::{Backfill, Lengths, Preset, Recipe};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

/// It is ready when the first of these is over.
#[test]
fn a_core_without_a_slot_is_not_ready() {
    let config = GridConfig { weights: vec![1.0], migration: Migration::default() };
    let recipe = Preset::named("immediate/mct").expect("a preset").recipe;
    let mut scheduler = Scheduler::new(Grid::new(config), recipe.build());
    let room = Room { slots: Some(1), memory: None, disk: None };
    scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
    for (index, cores) in [8, 1].into_iter().enumerate() {
        let class = MachineClass { room, ..MachineClass::plain(vec![1.0], cores) };
        scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
        let (machine, class) = (MachineId::new(index), MachineClassId::new(index));
        scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class });
    }
    let (first, class) = (TaskId::FIRST, TaskClassId::FIRST);
    let length = Ops::new(100.0);
    scheduler.apply(Time::ZERO, &Event::TasksSubmitted { first, count: 8, class, length });
    let mut decisions = Vec::new();
    scheduler.decide(Time::ZERO, &mut decisions);
    scheduler.check().expect("the grid and the index are whole");
    let planned = |on: usize| {
        let on = Queue::Machine(MachineId::new(on));
        let is_there =
            |decision: &&Decision| matches!(decision, Decision::Plan { on: queue, .. } if *queue == on);
        decisions.iter().filter(is_there).count()
    };
    assert_eq!([planned(0), planned(1)], [4, 4]);
}

/// What a shared core had divided was not multiplied again: cores were promised for half the time.
#[test]
fn a_queue_learns_for_how_long_cores_are_held_where_there_are_more_slots() {
    for cores in [2, 4] {
        let room = Room { slots: Some(4), ..Room::default() };
        let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], cores) };
        let wide = TaskClass { needs: Needs { cores: 4, ..Needs::default() }, ..plain() };
        for backfill in [Backfill::Easy, Backfill::Conservative] {
            let recipe = Recipe { lengths: Lengths::Learnt, ..Recipe::in_line(backfill) };
            let mut lab = Lab::new(recipe, std::slice::from_ref(&machine), &[0], wide.clone());
            for _ in 0..2 {
                let before = lab.submit(None);
                lab.pass(3.0);
                lab.end(before);
                lab.pass(1.0);
            }
            lab.submit(None);
            let waits = lab.submit(None);
            lab.pass(0.0);
            let (grid, policy) = (lab.scheduler.grid(), lab.scheduler.policy());
            assert_eq!(policy.length(grid, waits).map(Ops::amount), Some(3.0), "{cores} cores, {backfill:?}");
            let kept = policy.holds_back(grid, lab.now, waits).and_then(|back| back.kept());
            let begins = kept.map(|kept| (kept.task, kept.at.since(lab.now).seconds()));
            assert_eq!(begins, Some((waits, 3.0)), "{cores} cores, {backfill:?}");
        }
    }
}
