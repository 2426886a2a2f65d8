//! What a published state says, and which of the runs that were sent there it cannot know of.

use crate::plain::{empty, joined, submitted};
use crate::puppet::tell_at;
use gleaner_core::{
    Cause, Change, Decision, Event, Grid, MachineClass, Occasion, Policy, Room, RunEnd, Scheduler, SiteState,
    TaskClass,
};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};

/// Starts what comes on the only site, and starts what waits again when that publishes its state.
struct Sender;

impl Policy for Sender {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        assert!(!matches!(occasion.cause, Cause::Published(_)), "nothing waits");
        let (_, task) = grid.waiting_tasks().next()?;
        Some(Decision::Start { task, on: SITE })
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

const SITE: MachineId = MachineId::FIRST;

fn run(task: usize) -> RunId {
    RunId::new(TaskId::new(task), 1)
}

/// A site, and three runs that were sent there.
fn scheduler() -> Scheduler<Sender> {
    let mut scheduler = Scheduler::new(empty(), Sender);
    let site = MachineClass::plain(vec![1.0], 4);
    let tasks = TaskClass::plain(vec![1.0]);
    for event in [
        Event::MachineClassMet(Box::new(site)),
        Event::TaskClassMet(Box::new(tasks)),
        joined(0, 0),
        published(0, 0),
        submitted(0, 3, 0),
    ] {
        tell(&mut scheduler, 1, &event);
    }
    scheduler
}

fn published(known_at: u64, waiting: u32) -> Event {
    let state = SiteState { waiting, ..SiteState::default() };
    Event::StatePublished { machine: SITE, state, known_at: Time::from_nanos(known_at) }
}

/// A task's run is there since then.
fn arrived(task: usize, since: u64) -> Event {
    Event::RunArrived { run: run(task), since: Time::from_nanos(since) }
}

fn tell(scheduler: &mut Scheduler<Sender>, now: u64, event: &Event) {
    tell_at(scheduler, Time::from_nanos(now), event);
}

/// What waits there as published, and the tasks of which that does not know.
fn belief(scheduler: &Scheduler<Sender>) -> (u32, Vec<usize>) {
    let belief = scheduler.grid().belief(SITE).expect("it was published");
    (belief.state().waiting, belief.sent_since().iter().map(|sent| sent.run.task.index()).collect())
}

#[test]
fn a_run_is_news_to_a_site_until_it_was_in_the_queue_that_was_published() {
    let mut scheduler = scheduler();
    assert_eq!(belief(&scheduler), (0, vec![0, 1, 2]), "all were sent after it");
    tell(&mut scheduler, 10, &arrived(0, 10));
    tell(&mut scheduler, 20, &arrived(1, 20));
    tell(&mut scheduler, 25, &published(15, 1));
    assert_eq!(belief(&scheduler), (1, vec![1, 2]), "the first is in it");
    tell(&mut scheduler, 30, &published(5, 0));
    assert_eq!(belief(&scheduler), (1, vec![1, 2]), "what comes late is no news");
    tell(&mut scheduler, 40, &published(35, 2));
    assert_eq!(belief(&scheduler), (2, vec![2]), "one is in transfer still");
    tell(&mut scheduler, 50, &Event::RunStarted(run(2)));
    tell(&mut scheduler, 60, &published(55, 0));
    assert_eq!(belief(&scheduler), (0, vec![]), "whatever runs has arrived");
}

#[test]
fn a_state_of_a_moment_contains_what_arrived_before_it() {
    let mut scheduler = scheduler();
    tell(&mut scheduler, 10, &arrived(0, 10));
    tell(&mut scheduler, 20, &published(10, 0));
    assert_eq!(belief(&scheduler), (0, vec![0, 1, 2]), "it arrived at that moment");
    tell(&mut scheduler, 20, &published(11, 1));
    assert_eq!(belief(&scheduler), (1, vec![1, 2]));
}

#[test]
fn whichever_is_heard_first_a_run_is_in_the_state_or_beside_it() {
    let mut scheduler = scheduler();
    tell(&mut scheduler, 20, &published(15, 1));
    assert_eq!(belief(&scheduler), (1, vec![0, 1, 2]), "nobody said that any is there");
    tell(&mut scheduler, 25, &arrived(1, 15));
    tell(&mut scheduler, 25, &arrived(0, 14));
    assert_eq!(belief(&scheduler), (1, vec![1, 2]), "the first is in what is known");
    // Of several copies of a state each says the same, and of several reports of a run the first counts.
    tell(&mut scheduler, 30, &arrived(1, 2));
    for _ in 0..2 {
        tell(&mut scheduler, 30, &published(15, 1));
        assert_eq!(belief(&scheduler), (1, vec![1, 2]));
    }
    tell(&mut scheduler, 30, &published(16, 2));
    assert_eq!(belief(&scheduler), (2, vec![2]));
}

#[test]
fn a_run_that_is_over_is_nowhere() {
    let mut scheduler = scheduler();
    tell(&mut scheduler, 10, &Event::RunStarted(run(1)));
    tell(&mut scheduler, 20, &Event::RunEnded { run: run(1), end: RunEnd::Finished });
    assert_eq!(belief(&scheduler), (0, vec![0, 2]));
    tell(&mut scheduler, 30, &arrived(1, 30));
    assert_eq!(belief(&scheduler), (0, vec![0, 2]), "a stale reply");
}

/// How many there are with others', and their share of a core.
fn crowd(scheduler: &Scheduler<Sender>) -> (u32, f64) {
    let site = scheduler.grid().machine(SITE);
    (site.count(), site.share(site.shares()))
}

fn residents(known_at: u64, others: u32, load: f64) -> Event {
    let others = if others > 0 { vec![(TaskClassId::FIRST, others)] } else { Vec::new() };
    Event::ResidentsPublished { machine: SITE, others, load, known_at: Time::from_nanos(known_at) }
}

#[test]
fn tasks_of_others_share_a_machine_as_ones_own_do() {
    let mut scheduler = scheduler();
    assert_eq!(crowd(&scheduler), (3, 1.0));
    tell(&mut scheduler, 5, &residents(4, 5, 0.0));
    assert_eq!(crowd(&scheduler), (8, 0.5));
    // What is older than that is known already.
    tell(&mut scheduler, 6, &residents(3, 50, 0.9));
    assert_eq!(crowd(&scheduler), (8, 0.5));
    tell(&mut scheduler, 7, &residents(6, 1, 0.5));
    assert_eq!(crowd(&scheduler), (4, 0.5));
    // One's own are none of its business.
    tell(&mut scheduler, 8, &Event::RunEnded { run: run(0), end: RunEnd::Finished });
    assert_eq!(crowd(&scheduler), (3, 2.0 / 3.0));
    assert_eq!(scheduler.grid().machine(SITE).runs().count(), 2);
    // What is lost has nobody's.
    tell(&mut scheduler, 9, &Event::MachineLost { machine: SITE });
    assert_eq!(crowd(&scheduler).0, 0);
}

#[test]
fn tasks_of_others_take_room() {
    let mut scheduler = Scheduler::new(empty(), Sender);
    let room = Room { slots: Some(2), ..Room::default() };
    let site = MachineClass { room, ..MachineClass::plain(vec![1.0], 2) };
    let class = TaskClass::plain(vec![1.0]);
    for event in [
        Event::MachineClassMet(Box::new(site)),
        Event::TaskClassMet(Box::new(class)),
        joined(0, 0),
        residents(1, 2, 0.0),
        submitted(0, 1, 0),
    ] {
        tell(&mut scheduler, 1, &event);
    }
    assert_eq!(scheduler.take_orders().count(), 0, "it is full");
    // News that it is not are an occasion to start what waits.
    tell(&mut scheduler, 2, &residents(2, 1, 0.0));
    assert_eq!(scheduler.take_orders().count(), 1);
    assert_eq!(scheduler.grid().machine(SITE).free().slots, Some(0));
}
