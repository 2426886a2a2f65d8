//! Events in, commands out: what is admitted, what is refused, and what a late reply does.

use gleaner_core::{
    Cause, Change, Command, DECISIONS_MAX, Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs,
    Occasion, Policy, Refusal, Room, Scheduler, Tags, TaskClass, TaskState,
};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId, Time, UserId};

const NOW: Time = Time::from_nanos(5);

/// Proposes what it is told, and keeps what it is told of.
#[derive(Default)]
struct Puppet {
    wishes: Vec<Decision>,
    refusals: Vec<Refusal>,
    stale: Vec<(TaskId, u32)>,
}

impl Policy for Puppet {
    fn observe(&mut self, _: &Grid, change: &Change) {
        match *change {
            Change::Refused(_, refusal) => self.refusals.push(refusal),
            Change::StaleReply { task, attempt } => self.stale.push((task, attempt)),
            _ => {}
        }
    }

    fn propose(&mut self, _: &Grid, _: Time, _: Occasion) -> Option<Decision> {
        self.wishes.pop()
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

fn task() -> TaskId {
    TaskId::new(0)
}

fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

/// Two machines, of which the second lacks the speed that tasks need, a third like the first, and one task.
fn grid() -> Grid {
    let mut grid = Scheduler::new(
        Grid::new(GridConfig { weights: vec![1.0, 1.0], migration: Migration::default() }),
        Puppet::default(),
    );
    let class = |speeds: [f64; 2]| {
        Event::MachineClassMet(MachineClass {
            speeds: speeds.to_vec(),
            cores: 1,
            room: Room::default(),
            price: 0.0,
            provides: Tags::new(),
            ad: None,
        })
    };
    let joined =
        |index, class| Event::MachineJoined { machine: machine(index), class: MachineClassId::new(class) };
    let submitted =
        Event::TasksSubmitted { first: task(), count: 1, class: TaskClassId::new(0), length: None };
    let kind = TaskClass {
        composition: vec![0.5, 0.5],
        needs: Needs::default(),
        priority: 0,
        restarts: false,
        payer: UserId::default(),
        requires: Tags::new(),
        ad: None,
    };
    let events = [
        class([1.0, 1.0]),
        class([1.0, 0.0]),
        Event::TaskClassMet(kind),
        joined(0, 0),
        joined(1, 1),
        joined(2, 0),
        submitted,
    ];
    for event in &events {
        grid.apply(NOW, event);
        grid.decide(NOW, &mut Vec::new());
    }
    grid.grid().clone()
}

/// The commands that follow when the policy wishes for these, in this order, at the next occasion.
fn wish(scheduler: &mut Scheduler<Puppet>, wishes: &[Decision]) -> Vec<Command> {
    let wishes = wishes.iter().rev().copied().collect();
    scheduler.set_policy(Puppet { wishes, ..Puppet::default() });
    scheduler.apply(NOW, &Event::WokeUp);
    let mut commands = Vec::new();
    scheduler.decide(NOW, &mut commands);
    scheduler.check().expect("a whole grid");
    commands
}

#[test]
fn refusals_carry_the_fact_that_stands_in_the_way() {
    let start = |on| Decision::Start { task: task(), on: machine(on) };
    let relocate = |to| Decision::Relocate { task: task(), to: machine(to) };
    let cases = [
        (relocate(0), Refusal::NotRunning(task())),
        (start(1), Refusal::CannotRun(task(), machine(1))),
        (Decision::Wake { at: NOW }, Refusal::Passed(NOW)),
    ];
    for (decision, refusal) in cases {
        let mut scheduler = Scheduler::new(grid(), Puppet::default());
        assert_eq!(wish(&mut scheduler, &[decision]), []);
        assert_eq!(scheduler.policy().refusals, [refusal]);
        assert_eq!(scheduler.grid().task(task()).state(), TaskState::Waiting);
    }

    let mut running = Scheduler::new(grid(), Puppet::default());
    wish(&mut running, &[start(0)]);
    running.apply(NOW, &Event::AttemptStarted { task: task(), attempt: 1 });
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
    assert_eq!(wish(&mut scheduler, &[refused, refused, good]), []);
    assert_eq!(scheduler.policy().refusals.len(), 1);
}

#[test]
fn a_reply_with_an_old_number_is_refused_and_shown() {
    let mut scheduler = Scheduler::new(grid(), Puppet::default());
    wish(&mut scheduler, &[Decision::Start { task: task(), on: machine(0) }]);
    scheduler.apply(NOW, &Event::AttemptStarted { task: task(), attempt: 1 });
    let moved = wish(&mut scheduler, &[Decision::Relocate { task: task(), to: machine(2) }]);
    assert_eq!(moved, [Command::Move { task: task(), attempt: 2, from: machine(0), to: machine(2) }]);
    // The first attempt ended after all, but it was given up: only the second counts.
    for attempt in [1, 3] {
        scheduler.apply(NOW, &Event::AttemptFinished { task: task(), attempt });
        assert_eq!(scheduler.grid().task(task()).state(), TaskState::Sent(machine(2)));
    }
    assert_eq!(scheduler.policy().stale, [(task(), 1), (task(), 3)]);
    scheduler.apply(NOW, &Event::AttemptStarted { task: task(), attempt: 2 });
    scheduler.apply(NOW, &Event::AttemptFinished { task: task(), attempt: 2 });
    assert_eq!(scheduler.grid().task(task()).state(), TaskState::Finished(machine(2)));
    scheduler.check().expect("a whole grid");
}

#[test]
fn a_load_that_stays_the_same_is_no_event() {
    let mut scheduler = Scheduler::new(grid(), Puppet::default());
    scheduler.set_policy(Puppet {
        wishes: vec![Decision::Start { task: task(), on: machine(0) }],
        ..Puppet::default()
    });
    scheduler.apply(NOW, &Event::OwnerLoadReported { machine: machine(0), load: 0.0 });
    let mut commands = Vec::new();
    scheduler.decide(NOW, &mut commands);
    assert_eq!(commands, [], "no occasion, so the policy is not asked");
}

/// Wishes for ever: one wake-up after the other.
struct Restless(u64);

impl Policy for Restless {
    fn observe(&mut self, _: &Grid, _: &Change) {
        self.0 += 1;
    }
    fn propose(&mut self, _: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        assert!(matches!(occasion.cause, Cause::WokeUp { .. }));
        Some(Decision::Wake { at: Time::from_nanos(now.nanos() + 1 + self.0) })
    }
    fn rebuild(&mut self, _: &Grid) {}
    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn decide_ends_after_its_bound_and_wakes_itself_at_once() {
    let mut scheduler = Scheduler::new(grid(), Restless(0));
    scheduler.apply(NOW, &Event::WokeUp);
    let mut commands = Vec::new();
    scheduler.decide(NOW, &mut commands);
    assert_eq!(commands.len(), DECISIONS_MAX + 1);
    assert_eq!(commands.last(), Some(&Command::WakeAt { at: NOW }));
}
