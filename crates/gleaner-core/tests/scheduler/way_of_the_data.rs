//! Events in, commands out: what is admitted, what is refused, and what a late reply does.

use crate::plain::{joined, machine, submitted};
use crate::puppet::{self, NOW, Puppet, orders, tell_at};
use gleaner_core::{
    Alarm, Cause, Change, Command, DECISIONS_MAX, Decision, Event, Grid, GridConfig, MachineClass, Migration,
    Occasion, Policy, Refusal, RunEnd, Scheduler, Stage, StopReason, TaskClass, TaskState,
};
use gleaner_units::{RunId, TaskId, Time};

fn task() -> TaskId {
    TaskId::new(0)
}

fn run(number: u32) -> RunId {
    RunId::new(task(), number)
}

/// Two machines, of which the second lacks the speed that tasks need, a third like the first, and one task.
fn grid() -> Grid {
    let mut grid = Scheduler::new(
        Grid::new(GridConfig { weights: vec![1.0, 1.0], migration: Migration::default() }),
        Puppet::default(),
    );
    let class = |speeds: [f64; 2]| Event::MachineClassMet(Box::new(MachineClass::plain(speeds.to_vec(), 1)));
    let kind = TaskClass::plain(vec![0.5, 0.5]);
    let events = [
        class([1.0, 1.0]),
        class([1.0, 0.0]),
        Event::TaskClassMet(Box::new(kind)),
        joined(0, 0),
        joined(1, 1),
        joined(2, 0),
        submitted(0, 1, 0),
    ];
    for event in &events {
        tell(&mut grid, event);
    }
    grid.grid().clone()
}

/// The commands that follow when the policy wishes for these, in this order, at the next occasion.
fn wish(scheduler: &mut Scheduler<Puppet>, wishes: &[Decision]) -> Vec<Command> {
    scheduler.set_policy(Puppet::wishing(wishes));
    tell(scheduler, &Event::WokeUp { alarm: Alarm::Batch })
}

/// The commands that follow from an event.
fn tell(scheduler: &mut Scheduler<Puppet>, event: &Event) -> Vec<Command> {
    puppet::tell(scheduler, event);
    orders(scheduler)
}

#[test]
fn refusals_carry_the_fact_that_stands_in_the_way() {
    let start = |on| Decision::Start { task: task(), on: machine(on) };
    let relocate = |to| Decision::Relocate { task: task(), to: machine(to) };
    let cases = [
        (relocate(0), Refusal::NotRunning(task())),
        (start(1), Refusal::CannotRun(task(), machine(1))),
        (Decision::Wake { alarm: Alarm::Batch, at: Time::ZERO }, Refusal::Passed(Time::ZERO)),
    ];
    for (decision, refusal) in cases {
        let mut scheduler = Scheduler::new(grid(), Puppet::default());
        assert_eq!(wish(&mut scheduler, &[decision]), []);
        assert_eq!(scheduler.policy().refusals, [refusal]);
        assert_eq!(scheduler.grid().task(task()).state(), TaskState::Waiting);
    }

    let mut running = Scheduler::new(grid(), Puppet::default());
    wish(&mut running, &[start(0)]);
    running.apply(NOW, &Event::RunStarted(run(1)));
    for (decision, refusal) in [
        (start(0), Refusal::NotWaiting(task())),
        (relocate(0), Refusal::AlreadyThere(task(), machine(0))),
        (relocate(1), Refusal::CannotRun(task(), machine(1))),
    ] {
        assert_eq!(wish(&mut running, &[decision]), []);
        assert_eq!(running.policy().refusals, [refusal]);
    }
}

#[test]
fn a_policy_that_insists_on_a_refused_wish_is_not_heard_again() {
    let mut scheduler = Scheduler::new(grid(), Puppet::default());
    let refused = Decision::Start { task: task(), on: machine(1) };
    let good = Decision::Start { task: task(), on: machine(0) };
    assert_eq!(wish(&mut scheduler, &[refused.clone(), refused.clone(), good]), []);
    assert_eq!(scheduler.policy().refusals.len(), 1);
}

#[test]
fn a_move_holds_room_first_and_sends_when_the_run_before_is_over() {
    let mut scheduler = Scheduler::new(grid(), Puppet::default());
    let on = machine;
    let started = wish(&mut scheduler, &[Decision::Start { task: task(), on: on(0) }]);
    assert_eq!(started, [Command::Start { run: run(1), on: on(0) }]);
    scheduler.apply(NOW, &Event::RunStarted(run(1)));
    let stopped = wish(&mut scheduler, &[Decision::Relocate { task: task(), to: on(2) }]);
    assert_eq!(stopped, [Command::Stop { run: run(1), on: on(0), why: StopReason::Moved }]);
    let stage = |scheduler: &Scheduler<Puppet>, number| {
        scheduler.grid().find_run(run(number)).map(gleaner_core::Run::stage)
    };
    assert_eq!([1, 2].map(|n| stage(&scheduler, n)), [Some(Stage::Stopping), Some(Stage::Held)]);
    // Nobody can have heard of the second yet, and there is no third.
    for number in [2, 3, 0] {
        for event in
            [Event::RunStarted(run(number)), Event::RunEnded { run: run(number), end: RunEnd::Finished }]
        {
            assert_eq!(tell(&mut scheduler, &event), []);
        }
    }
    assert_eq!(scheduler.policy().stale, [2, 2, 3, 3, 0, 0].map(run));
    let sent = tell(&mut scheduler, &Event::RunEnded { run: run(1), end: RunEnd::Kept });
    assert_eq!(sent, [Command::Start { run: run(2), on: on(2) }]);
    // What is over is over.
    assert_eq!(tell(&mut scheduler, &Event::RunEnded { run: run(1), end: RunEnd::Finished }), []);
    assert_eq!(scheduler.grid().task(task()).state(), TaskState::Placed);
    tell(&mut scheduler, &Event::RunStarted(run(2)));
    tell(&mut scheduler, &Event::RunEnded { run: run(2), end: RunEnd::Finished });
    assert_eq!(scheduler.grid().task(task()).state(), TaskState::Finished(on(2)));
}

#[test]
fn a_load_that_stays_the_same_is_no_event() {
    let mut scheduler = Scheduler::new(grid(), Puppet::default());
    scheduler.set_policy(Puppet::wishing(&[Decision::Start { task: task(), on: machine(0) }]));
    scheduler.apply(NOW, &Event::OwnerLoadReported { machine: machine(0), load: 0.0 });
    let mut decisions = Vec::new();
    scheduler.decide(NOW, &mut decisions);
    assert_eq!(decisions, [], "no occasion, so the policy is not asked");
}

/// Wishes for ever: one wake-up after the other.
struct Restless(u64);

impl Policy for Restless {
    fn observe(&mut self, _: &Grid, _: &Change) {
        self.0 += 1;
    }
    fn propose(&mut self, _: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        assert!(matches!(occasion.cause, Cause::WokeUp { .. }));
        Some(Decision::Wake { alarm: Alarm::Batch, at: Time::from_nanos(now.nanos() + 1 + self.0) })
    }
    fn rebuild(&mut self, _: &Grid) {}
    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn alarms_come_by_name_and_earliest_first() {
    let at = |nanos: u64| Time::from_nanos(NOW.nanos() + nanos);
    let held = Alarm::Held;
    let wishes = [(Alarm::Relocation, 3), (held, 5), (Alarm::Batch, 3), (held, 2), (Alarm::Recharge, 9)];
    let wishes = wishes.map(|(alarm, nanos)| Decision::Wake { alarm, at: at(nanos) });
    let mut scheduler = Scheduler::new(grid(), Puppet::wishing(&wishes));
    tell(&mut scheduler, &Event::RuleChanged);
    assert_eq!(scheduler.grid().alarm(held), Some(at(2)), "asked for again, it comes once, and then");
    let mut came = Vec::new();
    while let Some((due, alarm)) = scheduler.grid().next_alarm() {
        came.push((alarm, due));
        // Late, as an alarm may be.
        tell_at(&mut scheduler, at(20), &Event::WokeUp { alarm });
    }
    let expected =
        [(held, at(2)), (Alarm::Batch, at(3)), (Alarm::Relocation, at(3)), (Alarm::Recharge, at(9))];
    assert_eq!(came, expected);
    let heard = scheduler.policy().asked.iter().filter_map(|cause| match *cause {
        Cause::WokeUp { alarm, due } => Some((alarm, due)),
        _ => None,
    });
    assert_eq!(heard.collect::<Vec<_>>(), expected);
}

#[test]
fn decide_ends_after_its_bound_and_is_to_be_called_again() {
    let mut scheduler = Scheduler::new(grid(), Restless(0));
    scheduler.apply(NOW, &Event::WokeUp { alarm: Alarm::Batch });
    let mut decisions = Vec::new();
    scheduler.decide(NOW, &mut decisions);
    assert_eq!((decisions.len(), scheduler.is_asked()), (DECISIONS_MAX, true));
}
