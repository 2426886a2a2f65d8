//! `gleaner/bags`: a user who has all the cores that are theirs has no second run, and keeps none from others.

use gleaner_core::{
    Alarm, Decision, Event, Grid, GridConfig, MachineClass, Migration, Room, RunEnd, Scheduler, TaskClass,
};
use gleaner_policy::{AnyPolicy, Preset};
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time, UserId};

const CAPPED: usize = 0;
const FREE: usize = 1;

/// What is decided about an event and the end of its instant, but for what peers are told.
fn tell(scheduler: &mut Scheduler<AnyPolicy>, now: Time, event: &Event) -> Vec<Decision> {
    let mut decisions = Vec::new();
    scheduler.apply(now, event);
    scheduler.decide(now, &mut decisions);
    while scheduler.grid().alarm(Alarm::Batch).is_some_and(|at| at <= now) {
        scheduler.apply(now, &Event::WokeUp { alarm: Alarm::Batch });
        scheduler.decide(now, &mut decisions);
    }
    scheduler.check().expect("the grid and the index are whole");
    decisions.retain(|decision| matches!(decision, Decision::Start { .. } | Decision::Replicate { .. }));
    decisions
}

/// Three machines, each faster than the one before, for a task each; a class of tasks for each of two users.
fn grid(now: Time) -> Scheduler<AnyPolicy> {
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let recipe = Preset::named("gleaner/bags").expect("a preset").recipe;
    let mut scheduler = Scheduler::new(grid, recipe.build());
    let room = Room { slots: Some(1), memory: None, disk: None };
    for speed in [1.0, 2.0, 10.0] {
        let class = MachineClass { room, ..MachineClass::plain(vec![speed], 1) };
        tell(&mut scheduler, now, &Event::MachineClassMet(Box::new(class)));
    }
    for user in [CAPPED, FREE] {
        let class = TaskClass { payer: UserId::new(user), ..TaskClass::plain(vec![1.0]) };
        tell(&mut scheduler, now, &Event::TaskClassMet(Box::new(class)));
    }
    for index in 0..3 {
        let (machine, class) = (MachineId::new(index), MachineClassId::new(index));
        tell(&mut scheduler, now, &Event::MachineJoined { machine, class });
    }
    tell(&mut scheduler, now, &Event::CoresCapped { user: Some(UserId::new(CAPPED)), cores: Some(1) });
    scheduler
}

#[test]
fn a_user_at_the_bound_keeps_no_second_run_from_another() {
    let now = Time::ZERO.after_seconds(1.0);
    let mut scheduler = grid(now);
    for (task, (user, on)) in [(FREE, 2), (CAPPED, 1), (FREE, 0)].into_iter().enumerate() {
        let (task, on) = (TaskId::new(task), MachineId::new(on));
        let class = TaskClassId::new(user);
        let submitted = Event::TasksSubmitted { first: task, count: 1, class, length: None };
        assert_eq!(tell(&mut scheduler, now, &submitted), [Decision::Start { task, on }]);
        tell(&mut scheduler, now, &Event::RunStarted(RunId::new(task, 1)));
    }
    let finished = Event::RunEnded { run: RunId::new(TaskId::new(0), 1), end: RunEnd::Finished };
    let again = Decision::Replicate { task: TaskId::new(2), on: MachineId::new(2) };
    assert_eq!(tell(&mut scheduler, now.after_seconds(100.0), &finished), [again]);
}
