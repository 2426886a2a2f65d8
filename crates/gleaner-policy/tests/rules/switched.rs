//! A rule takes over from one that plans: what was planned keeps no credits from the tasks that it was planned for.

use gleaner_core::{
    Budget, Charged, Decision, Event, Grid, GridConfig, MachineClass, Migration, Room, Rule, RunEnd,
    Scheduler, Scope, TaskClass,
};
use gleaner_policy::{AnyPolicy, Preset, Recipe, Score, Spending};
use gleaner_units::{Credits, MachineClassId, MachineId, Ops, RunId, Span, TaskClassId, TaskId, Time};

const NOW: Time = Time::from_nanos(5);

fn tell(scheduler: &mut Scheduler<AnyPolicy>, event: &Event) -> Vec<Decision> {
    scheduler.apply(NOW, event);
    answer(scheduler, NOW)
}

fn answer(scheduler: &mut Scheduler<AnyPolicy>, now: Time) -> Vec<Decision> {
    let mut decisions = Vec::new();
    scheduler.decide(now, &mut decisions);
    scheduler.check().expect("the grid and the index are whole");
    decisions
}

/// One machine for one task at a time.
fn grid(budget: Budget) -> Scheduler<AnyPolicy> {
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let recipe = Preset::named("immediate/mct").expect("a preset").recipe;
    let mut scheduler = Scheduler::new(grid, recipe.build());
    let room = Room { slots: Some(1), memory: None, disk: None };
    let machine = MachineClass { room, price: 1.0, ..MachineClass::plain(vec![1.0], 1) };
    tell(&mut scheduler, &Event::BudgetSet(Some(budget)));
    tell(&mut scheduler, &Event::MachineClassMet(Box::new(machine)));
    tell(&mut scheduler, &Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
    tell(&mut scheduler, &Event::MachineJoined { machine: MachineId::FIRST, class: MachineClassId::FIRST });
    scheduler
}

#[test]
fn what_was_planned_is_paid_for_under_the_next_rule() {
    let budget = Budget {
        recharge: Credits::new(100),
        period: Span::from_seconds(1_000.0).expect("a period"),
        charged: Charged::Reserved,
        scope: Scope::Shared,
    };
    let mut scheduler = grid(budget);
    for (index, length) in [10.0, 60.0].into_iter().enumerate() {
        let (first, class) = (TaskId::new(index), TaskClassId::FIRST);
        tell(&mut scheduler, &Event::TasksSubmitted { first, count: 1, class, length: Ops::new(length) });
    }
    let run = RunId::new(TaskId::new(0), 1);
    tell(&mut scheduler, &Event::RunStarted(run));
    assert_eq!(scheduler.grid().plans().len(), 1, "the second is planned, and its cost is held");

    let later = NOW.after_seconds(5.0);
    let recipe = Recipe { spending: Spending::Cap, ..Recipe::by(Score::Greedy) };
    let rule = Rule { policy: recipe.build(), budget: Some(budget), checking: None };
    scheduler.set_rule(later, rule);
    assert_eq!(answer(&mut scheduler, later).first(), Some(&Decision::Collect));
    scheduler.apply(later, &Event::RunEnded { run, end: RunEnd::Finished });
    let start = Decision::Start { task: TaskId::new(1), on: MachineId::FIRST };
    assert!(answer(&mut scheduler, later).contains(&start), "40 credits are left, and 60 are its own");
}
