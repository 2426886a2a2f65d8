//! Of a task with several runs at a time one is lost: another takes its place at once, though nothing waits.

use gleaner_core::{
    Alarm, Decision, Event, Grid, GridConfig, MachineClass, Migration, Room, RunEnd, Scheduler, TaskClass,
};
use gleaner_policy::{AnyPolicy, Recipe, Replicate, Score};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time};

const NOW: Time = Time::from_nanos(5);
const TASK: TaskId = TaskId::FIRST;

/// What is decided about an event, and about the end of its instant.
fn tell(scheduler: &mut Scheduler<AnyPolicy>, event: &Event) -> Vec<Decision> {
    let mut decisions = Vec::new();
    scheduler.apply(NOW, event);
    scheduler.decide(NOW, &mut decisions);
    while scheduler.grid().alarm(Alarm::Batch).is_some() {
        scheduler.apply(NOW, &Event::WokeUp { alarm: Alarm::Batch });
        scheduler.decide(NOW, &mut decisions);
    }
    scheduler.check().expect("the grid and the index are whole");
    decisions.retain(|decision| !matches!(decision, Decision::Wake { .. }));
    decisions
}

#[test]
fn a_copy_that_its_machine_gave_up_is_replaced() {
    let replicate = Replicate::runs(2).expect("two runs");
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let recipe = Recipe { replicate, ..Recipe::by(Score::Greedy) };
    let mut scheduler = Scheduler::new(grid, recipe.build());
    let room = Room { slots: Some(1), memory: None, disk: None };
    let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], 1) };
    tell(&mut scheduler, &Event::MachineClassMet(Box::new(machine)));
    tell(&mut scheduler, &Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
    for index in 0..3 {
        let (machine, class) = (MachineId::new(index), MachineClassId::FIRST);
        tell(&mut scheduler, &Event::MachineJoined { machine, class });
    }
    let submitted = Event::TasksSubmitted { first: TASK, count: 1, class: TaskClassId::FIRST, length: None };
    let on = MachineId::new;
    let both = [Decision::Start { task: TASK, on: on(0) }, Decision::Replicate { task: TASK, on: on(1) }];
    assert_eq!(tell(&mut scheduler, &submitted), both);
    for number in 1..=2 {
        tell(&mut scheduler, &Event::RunStarted(RunId::new(TASK, number)));
    }
    // Its agent leaves: first it takes no more, then it ends what it has.
    assert_eq!(tell(&mut scheduler, &Event::MachineClosed { machine: on(1) }), []);
    let lost = Event::RunEnded { run: RunId::new(TASK, 2), end: RunEnd::Lost };
    assert_eq!(tell(&mut scheduler, &lost), [Decision::Replicate { task: TASK, on: on(2) }]);
}
