//! Who pays for what ends though it was to stop.

use crate::plain::{empty, joined, machine};
use crate::puppet::{NOW, Puppet, tell, wish};
use gleaner_core::{
    Budget, Charged, Decision, Event, MachineClass, RunEnd, Scheduler, Scope, TaskClass, TaskState,
};
use gleaner_units::{Credits, Ops, RunId, Span, TaskClassId, TaskId};

const TASK: TaskId = TaskId::new(0);

/// Two machines, and a task that runs on the first and costs 10 of 100 credits.
fn running(charged: Charged) -> Scheduler<Puppet> {
    let mut scheduler = Scheduler::new(empty(), Puppet::default());
    let class = MachineClass { price: 1.0, ..MachineClass::plain(vec![1.0], 1) };
    let budget = Budget {
        recharge: Credits::new(100),
        period: Span::from_seconds(1_000.0).expect("a period"),
        charged,
        scope: Scope::Shared,
    };
    let submitted =
        Event::TasksSubmitted { first: TASK, count: 1, class: TaskClassId::new(0), length: Ops::new(10.0) };
    for event in [
        Event::BudgetSet(Some(budget)),
        Event::MachineClassMet(Box::new(class)),
        joined(0, 0),
        joined(1, 0),
        Event::TaskClassMet(Box::new(TaskClass::plain(vec![1.0]))),
        submitted,
    ] {
        tell(&mut scheduler, &event);
    }
    assert_eq!(wish(&mut scheduler, Decision::Start { task: TASK, on: machine(0) }), None);
    tell(&mut scheduler, &Event::RunStarted(RunId::new(TASK, 1)));
    scheduler
}

/// What was spent, and what is left.
fn credits(scheduler: &Scheduler<Puppet>) -> (u64, u64) {
    let accounts = scheduler.grid().accounts().expect("a budget");
    (accounts.paid().count(), accounts.left(NOW, 1).count())
}

fn withdrawn() -> Event {
    Event::TasksWithdrawn { first: TASK, count: 1 }
}

fn returned() -> Event {
    Event::TasksReturned { first: TASK, count: 1 }
}

fn ended(number: u32, end: RunEnd) -> Event {
    Event::RunEnded { run: RunId::new(TASK, number), end }
}

fn lost() -> Event {
    Event::MachineLost { machine: machine(0) }
}

/// What happens to a task that runs, and what is paid and left afterwards.
#[test]
fn what_ends_though_it_was_cancelled_is_paid_and_what_does_not_is_given_back() {
    for charged in [Charged::Planned, Charged::Started, Charged::Ended, Charged::Reserved] {
        let held = if charged == Charged::Ended { (0, 90) } else { (10, 90) };
        for (story, events, expected) in [
            ("runs", vec![], held),
            ("is cancelled", vec![withdrawn()], held),
            ("and ends", vec![withdrawn(), ended(1, RunEnd::Finished)], (10, 90)),
            ("and stops", vec![withdrawn(), ended(1, RunEnd::Kept)], (0, 100)),
            ("and is lost", vec![withdrawn(), ended(1, RunEnd::Lost)], (0, 100)),
            ("and its machine is", vec![withdrawn(), lost()], (0, 100)),
            ("twice", vec![withdrawn(), withdrawn(), ended(1, RunEnd::Finished)], (10, 90)),
            ("is asked for again", vec![withdrawn(), returned()], held),
            ("and ends", vec![withdrawn(), returned(), ended(1, RunEnd::Finished)], (10, 90)),
            ("and stops", vec![withdrawn(), returned(), ended(1, RunEnd::Kept)], (0, 100)),
        ] {
            let mut scheduler = running(charged);
            for event in &events {
                tell(&mut scheduler, event);
            }
            assert_eq!(credits(&scheduler), expected, "{charged:?}: {story}, {events:?}");
            assert!(scheduler.grid().task(TASK).state() != TaskState::Retired);
        }
    }
}

/// The run that is moved goes on until it has stopped, and may end before.
#[test]
fn what_is_cancelled_while_it_is_moved_is_paid_if_it_ends() {
    for (end, expected) in [(RunEnd::Finished, (10, 90)), (RunEnd::Kept, (0, 100))] {
        let mut scheduler = running(Charged::Started);
        assert_eq!(wish(&mut scheduler, Decision::Relocate { task: TASK, to: machine(1) }), None);
        tell(&mut scheduler, &withdrawn());
        tell(&mut scheduler, &ended(1, end));
        assert_eq!(credits(&scheduler), expected, "{end:?}");
    }
}
