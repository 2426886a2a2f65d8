//! A rule takes over from one that plans: what was planned keeps no credits from the tasks that it was planned for. And from one that has
//! answers compared: what is being compared stays where it is.

use gleaner_core::{
    Answer, Budget, Charged, Checking, Decision, Event, Grid, GridConfig, MachineClass, Migration, Room,
    Rule, RunEnd, Scheduler, Scope, TaskClass, TaskState,
};
use gleaner_policy::{AnyPolicy, Preset, Recipe, Relocate, Replicate, Score, Spending};
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

/// The faster of two machines has answered; the other's answer is still to come, and may not be the first one's too.
#[test]
fn what_is_being_compared_is_not_moved_under_the_next_rule() {
    let replicate = Replicate::agreeing(2, 5, None).expect("a quorum");
    let recipe = Recipe { replicate, ..Recipe::by(Score::Greedy) };
    let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut scheduler = Scheduler::new(grid, recipe.build());
    let rule = Checking { quorum: 2, most: 5, trust: None };
    tell(&mut scheduler, &Event::CheckingSet(Some(rule)));
    tell(&mut scheduler, &Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))));
    for (index, speed) in [2.0, 1.0].into_iter().enumerate() {
        let (machine, class) = (MachineId::new(index), MachineClassId::new(index));
        tell(&mut scheduler, &Event::MachineClassMet(Box::new(MachineClass::plain(vec![speed], 1))));
        tell(&mut scheduler, &Event::MachineJoined { machine, class });
    }
    let submitted = |index: usize| Event::TasksSubmitted {
        first: TaskId::new(index),
        count: 1,
        class: TaskClassId::FIRST,
        length: None,
    };
    let (task, on) = (TaskId::new(0), MachineId::new);
    let both = [Decision::Start { task, on: on(0) }, Decision::Replicate { task, on: on(1) }];
    assert_eq!(tell(&mut scheduler, &submitted(0)), both);
    let [first, second] = [1, 2].map(|number| RunId::new(task, number));
    for run in [first, second] {
        tell(&mut scheduler, &Event::RunStarted(run));
    }
    let answered = |run| Event::RunEnded { run, end: RunEnd::Answered(Answer(7)) };
    assert_eq!(tell(&mut scheduler, &answered(first)), []);

    let moving = Recipe { relocate: Some(Relocate::by(Score::Greedy)), ..Recipe::by(Score::Greedy) };
    scheduler.set_rule(NOW, Rule { policy: moving.build(), budget: None, checking: None });
    assert_eq!(answer(&mut scheduler, NOW), []);
    let short = Decision::Start { task: TaskId::new(1), on: on(0) };
    assert_eq!(tell(&mut scheduler, &submitted(1)), [short]);
    let run = RunId::new(TaskId::new(1), 1);
    tell(&mut scheduler, &Event::RunStarted(run));
    assert_eq!(tell(&mut scheduler, &Event::RunEnded { run, end: RunEnd::Finished }), [], "nobody moves");
    tell(&mut scheduler, &answered(second));
    assert_eq!(scheduler.grid().task(task).state(), TaskState::Finished(on(1)));
    assert_eq!(scheduler.grid().trust(on(0)).agreed, 1);
}
