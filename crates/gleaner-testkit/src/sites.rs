//! What a broker may be told, drawn from a seed: sites that publish their state late or never, files that come and go, tasks
//! that are sent, begin and end.

use crate::random::Choices;
use gleaner_core::{
    Command, Decision, Event, Grid, GridConfig, MachineClass, Migration, Needs, Policy, Room, RunEnd,
    Scheduler, SiteState, Tags, TaskClass,
};
use gleaner_units::{
    FileId, MachineClassId, MachineId, Ops, RunId, SiteId, TaskClassId, TaskId, Time, UserId,
};

/// What is known of a run that was sent.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Sent,
    Arrived,
    Started,
}

/// Two schedulers are told the same, and should decide the same: the first decision in which they differ, or what their own
/// check finds.
pub fn first_difference(seed: u64, one: impl Policy, other: impl Policy) -> Option<String> {
    let choices = &mut Choices::seeded(seed ^ 0x7369_7465);
    let (sites, files, classes) = (1 + choices.below(9), choices.below(4), 1 + choices.below(3));
    let grid = || Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
    let mut pair =
        Pair { one: Scheduler::new(grid(), one), other: Scheduler::new(grid(), other), live: Vec::new() };
    let mut now = Time::ZERO;
    let seeded = Event::SeedDrawn(seed);
    for event in std::iter::once(seeded).chain(beginning(choices, (sites, files, classes))) {
        if let Err(difference) = pair.tell(now, &event) {
            return Some(difference);
        }
    }
    let mut submitted = 0;
    for _ in 0..150 {
        now = now.after_seconds(if choices.one_in(3) { 0.0 } else { 10.0 * choices.unit() });
        let event = something(choices, now, &mut pair.live, (sites, files, classes), &mut submitted);
        if let Some(Err(difference)) = event.map(|event| pair.tell(now, &event)) {
            return Some(difference);
        }
    }
    None
}

struct Pair<P, Q> {
    one: Scheduler<P>,
    other: Scheduler<Q>,
    live: Vec<(RunId, MachineId, Seen)>,
}

impl<P: Policy, Q: Policy> Pair<P, Q> {
    /// An error says what differs.
    fn tell(&mut self, now: Time, event: &Event) -> Result<(), String> {
        let (one, orders) = answer(&mut self.one, now, event);
        let (other, _) = answer(&mut self.other, now, event);
        if one != other {
            return Err(format!("at {now}, {event:?}: {one:?} against {other:?}"));
        }
        if let Err(broken) = self.one.check() {
            return Err(format!("at {now}, {event:?}: {broken}"));
        }
        for order in orders {
            match order {
                Command::Start { run, on } => self.live.push((run, on, Seen::Sent)),
                Command::Ask { .. }
                | Command::Survey { .. }
                | Command::StartAfter { .. }
                | Command::StartWide { .. }
                | Command::Stop { .. }
                | Command::Recheck { .. }
                | Command::Close { .. }
                | Command::Lending(_) => {}
            }
        }
        Ok(())
    }
}

fn answer<P: Policy>(
    scheduler: &mut Scheduler<P>,
    now: Time,
    event: &Event,
) -> (Vec<Decision>, Vec<Command>) {
    scheduler.apply(now, event);
    let mut decisions = Vec::new();
    while scheduler.is_asked() {
        scheduler.decide(now, &mut decisions);
    }
    (decisions, scheduler.take_orders().collect())
}

fn beginning(choices: &mut Choices, (sites, files, classes): (usize, usize, usize)) -> Vec<Event> {
    let mut events = Vec::new();
    for speed in [1.0, 2.0] {
        let slots = choices.one_in(3).then_some(2);
        let room = Room { slots, ..Room::default() };
        let cores = 1 + choices.below(4) as u32;
        let class = MachineClass { room, ..MachineClass::plain(vec![speed], cores) };
        events.push(Event::MachineClassMet(Box::new(class)));
    }
    for file in (0..files).map(FileId::new) {
        events.push(Event::FileMet { file, bytes: 100 * (1 + choices.below(5) as u64) });
    }
    for class in (0..classes).map(TaskClassId::new) {
        let priority = i32::from(choices.one_in(2));
        let (restarts, payer, requires) = (false, UserId::default(), Tags::new());
        let needs = Needs::default();
        let met = TaskClass { composition: vec![1.0], needs, priority, restarts, payer, requires, ad: None };
        events.push(Event::TaskClassMet(Box::new(met)));
        let read = (0..files).map(FileId::new).filter(|_| choices.one_in(2)).collect();
        events.push(Event::InputsNamed { class, files: read });
    }
    for site in (0..sites).map(SiteId::new) {
        for from in (0..sites).map(SiteId::new) {
            if choices.one_in(5) {
                continue;
            }
            let bytes_per_s = [5.0, 10.0, 25.0][choices.below(3)];
            events.push(Event::LinkMeasured { from, to: site, bytes_per_s });
        }
        for file in (0..files).map(FileId::new).filter(|_| choices.one_in(2)) {
            events.push(Event::FileStored { file, site });
        }
    }
    for machine in (0..sites).map(MachineId::new) {
        if !choices.one_in(6) {
            events.push(Event::MachineSited { machine, site: SiteId::new(machine.index()) });
        }
        let class = MachineClassId::new(choices.below(2));
        events.push(Event::MachineJoined { machine, class });
    }
    events
}

fn something(
    choices: &mut Choices,
    now: Time,
    live: &mut Vec<(RunId, MachineId, Seen)>,
    (sites, files, classes): (usize, usize, usize),
    submitted: &mut usize,
) -> Option<Event> {
    let machine = MachineId::new(choices.below(sites));
    match choices.below(16) {
        0..=4 => {
            let count = 1 + choices.below(3) as u32;
            let first = TaskId::new(*submitted);
            *submitted += count as usize;
            let length = Ops::new([50.0, 50.0, 80.0][choices.below(3)]).filter(|_| !choices.one_in(8));
            Some(Event::TasksSubmitted {
                first,
                count,
                class: TaskClassId::new(choices.below(classes)),
                length,
            })
        }
        5..=8 => {
            let traversal_s = [0.0, 0.0, 30.0, 100.0 * choices.unit()][choices.below(4)];
            let state =
                SiteState { cores_free: choices.below(3) as u32, traversal_s, ..SiteState::default() };
            let back = Time::from_seconds((now.seconds() - 20.0 * choices.unit()).max(0.0));
            Some(Event::StatePublished { machine, state, known_at: back.expect("a moment") })
        }
        9 => Some(Event::MachineClosed { machine }),
        10 => Some(Event::MachineOpened { machine }),
        11 if files > 0 => {
            let (file, site) = (FileId::new(choices.below(files)), SiteId::new(machine.index()));
            Some(if choices.one_in(2) {
                Event::FileStored { file, site }
            } else {
                Event::FileRemoved { file, site }
            })
        }
        _ if live.is_empty() => None,
        _ => {
            let at = choices.below(live.len());
            let (run, _, seen) = live[at];
            Some(match seen {
                Seen::Sent => {
                    live[at].2 = Seen::Arrived;
                    Event::RunArrived { run, since: now }
                }
                Seen::Arrived => {
                    live[at].2 = Seen::Started;
                    Event::RunStarted(run)
                }
                Seen::Started => {
                    live.swap_remove(at);
                    Event::RunEnded { run, end: RunEnd::Finished }
                }
            })
        }
    }
}
