//! A machine that takes fewer tasks at a time than it has cores is ready when the first of these is over.

use gleaner_core::{
    Decision, Event, Grid, GridConfig, MachineClass, Migration, Queue, Room, Scheduler, TaskClass,
};
use gleaner_policy::Preset;
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

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
