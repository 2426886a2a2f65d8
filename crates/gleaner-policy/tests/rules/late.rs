//! The first in line waits, since its machine was lost; then its result comes after all, and whoever it kept waiting starts.

use gleaner_core::{
    Alarm, Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs, Room, RunEnd, Scheduler,
    TaskClass,
};
use gleaner_policy::{AnyPolicy, Backfill, Recipe};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, TaskClassId, TaskId, Time};

const NOW: Time = Time::from_nanos(5);

/// What is decided about an event, and about the end of its instant.
fn tell(scheduler: &mut Scheduler<AnyPolicy>, event: &Event) -> Vec<Decision> {
    let mut decisions = Vec::new();
    scheduler.apply(NOW, event);
    scheduler.decide(NOW, &mut decisions);
    while scheduler.grid().alarm(Alarm::Batch).is_some_and(|at| at <= NOW) {
        scheduler.apply(NOW, &Event::WokeUp { alarm: Alarm::Batch });
        scheduler.decide(NOW, &mut decisions);
    }
    scheduler.check().expect("the grid and the index are whole");
    decisions.retain(|decision| !matches!(decision, Decision::Wake { .. }));
    decisions
}

/// Two machines of four cores. Tasks take all of one, or half.
fn grid(backfill: Backfill) -> Scheduler<AnyPolicy> {
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut scheduler = Scheduler::new(grid, Recipe::in_line(backfill).build());
    let room = Room { slots: Some(4), memory: None, disk: None };
    let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], 4) };
    tell(&mut scheduler, &Event::MachineClassMet(Box::new(machine)));
    for cores in [4, 2] {
        let needs = Needs { cores, memory: 0, disk: 0 };
        let class = TaskClass { needs, ..TaskClass::plain(vec![1.0]) };
        tell(&mut scheduler, &Event::TaskClassMet(Box::new(class)));
    }
    for index in 0..2 {
        let (machine, class) = (MachineId::new(index), MachineClassId::FIRST);
        tell(&mut scheduler, &Event::MachineJoined { machine, class });
    }
    scheduler
}

#[test]
fn whoever_a_task_kept_waiting_starts_when_its_result_comes_late() {
    for backfill in [Backfill::Fcfs, Backfill::Easy, Backfill::Conservative] {
        let mut scheduler = grid(backfill);
        let (task, on) = (TaskId::new, MachineId::new);
        let first = RunId::new(task(0), 1);
        let submitted = |index: usize, class: usize, length: f64| Event::TasksSubmitted {
            first: task(index),
            count: 1,
            class: TaskClassId::new(class),
            length: Ops::new(length),
        };
        let starts = |index: usize, machine: usize| Decision::Start { task: task(index), on: on(machine) };
        assert_eq!(tell(&mut scheduler, &submitted(0, 0, 10.0)), [starts(0, 0)]);
        assert_eq!(tell(&mut scheduler, &submitted(1, 1, 100.0)), [starts(1, 1)]);
        for run in [first, RunId::new(task(1), 1)] {
            tell(&mut scheduler, &Event::RunStarted(run));
        }
        assert_eq!(tell(&mut scheduler, &Event::MachineLost { machine: on(0) }), []);
        // The first has the whole of the other machine kept for it, when the second is over.
        assert_eq!(tell(&mut scheduler, &submitted(2, 1, 1e6)), [], "{backfill:?}");
        let finished = Event::RunEnded { run: first, end: RunEnd::Finished };
        assert_eq!(tell(&mut scheduler, &finished), [starts(2, 1)], "{backfill:?}");
    }
}
