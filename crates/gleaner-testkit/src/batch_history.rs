//! What the outside of a grid under batches may report, drawn from a seed: machines that join, close, open, are lost, return and
//! are measured anew, at another price too, while tasks wait, are planned and run; batches that begin late; events that meet the
//! batch at one moment.

use crate::naive_batch::{Follower, Terms};
use crate::random::Choices;
use gleaner_core::{
    Alarm, Availability, Decision, Event, Grid, Policy, Run, RunEnd, Scheduler, Settled, Stage,
};
use gleaner_sim::Setup;
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId, TaskId, Time};

/// So many events after the opening.
const EVENTS: usize = 90;

/// The outside.
struct Outside {
    choices: Choices,
    now: Time,
    period_s: f64,
    /// Lengths are of a few values, so that ties abound.
    is_round: bool,
    opening: Vec<Event>,
}

impl Outside {
    /// Of a setup with a period; its tasks are not the setup's.
    fn of(setup: &Setup, period_s: f64, seed: u64) -> Self {
        let mut choices = Choices::seeded(seed ^ 0x6c61_7465);
        let machine_classes = setup.machine_classes.iter().cloned().map(Box::new).map(Event::MachineClassMet);
        let task_classes = setup.task_classes.iter().cloned().map(Box::new).map(Event::TaskClassMet);
        let joined = setup.machines.iter().enumerate();
        let joined =
            joined.map(|(index, &class)| Event::MachineJoined { machine: MachineId::new(index), class });
        let budget = Event::BudgetSet(setup.budget);
        let mut opening: Vec<Event> =
            machine_classes.chain(task_classes).chain([budget]).chain(joined).collect();
        opening.reverse();
        Self { is_round: choices.one_in(2), choices, now: Time::ZERO, period_s, opening }
    }

    /// A fact that may be reported about this grid.
    fn next(&mut self, grid: &Grid) -> Event {
        if let Some(event) = self.opening.pop() {
            return event;
        }
        if let Some(event) = self.pass(grid) {
            return event;
        }
        match self.choices.below(16) {
            0..=3 => self.submission(grid),
            4..=9 => self.about_a_run(grid),
            10 | 11 => self.measurement(grid),
            12 => {
                let load = [0.0, 1.0, self.choices.unit(), 0.0][self.choices.below(4)];
                Event::OwnerLoadReported { machine: self.machine(grid), load }
            }
            _ => self.about_a_machine(grid),
        }
    }

    /// Time goes on, not at all sometimes, and often to the very moment of the next batch; which then begins at once, after
    /// others have spoken, or late.
    fn pass(&mut self, grid: &Grid) -> Option<Event> {
        let due = grid.alarm(Alarm::Batch);
        if due.is_some_and(|at| at <= self.now) && !self.choices.one_in(3) {
            return Some(Event::WokeUp { alarm: Alarm::Batch });
        }
        match (self.choices.below(6), due.filter(|at| *at > self.now)) {
            (0 | 1, _) => {}
            (2 | 3, Some(at)) => self.now = at,
            _ => self.now = self.now.after_seconds(self.period_s * self.choices.unit()),
        }
        None
    }

    fn machine(&mut self, grid: &Grid) -> MachineId {
        MachineId::new(self.choices.below(grid.machines().len()))
    }

    fn submission(&mut self, grid: &Grid) -> Event {
        let class = TaskClassId::new(self.choices.below(grid.classes().task_classes().len()));
        let amount = if self.is_round {
            1e4 * (1 + self.choices.below(4)) as f64
        } else {
            1e3 + 1e5 * self.choices.unit()
        };
        let length = if self.choices.one_in(12) { None } else { Ops::new(amount) };
        let count = 1 + self.choices.below(4) as u32;
        Event::TasksSubmitted { first: TaskId::new(grid.task_count()), count, class, length }
    }

    /// One of those that are on machines starts there, or comes to an end of some kind.
    fn about_a_run(&mut self, grid: &Grid) -> Event {
        let known = grid.tasks().flat_map(|(id, _)| grid.runs_of(id));
        let known: Vec<&Run> = known.filter(|run| run.stage() != Stage::Missing).collect();
        if known.is_empty() {
            return self.about_a_machine(grid);
        }
        let chosen = known[self.choices.below(known.len())];
        let run = chosen.id();
        match self.choices.below(8) {
            0 => Event::RunEnded { run, end: RunEnd::Lost },
            1 => Event::RunEnded { run, end: RunEnd::Kept },
            2..=4 if chosen.stage() == Stage::Sent => Event::RunStarted(run),
            _ => Event::RunEnded { run, end: RunEnd::Finished },
        }
    }

    fn about_a_machine(&mut self, grid: &Grid) -> Event {
        let machine = self.machine(grid);
        match self.choices.below(9) {
            0 | 1 => Event::MachineClosed { machine },
            2 | 3 => Event::MachineOpened { machine },
            4 | 5 => Event::MachineLost { machine },
            6 | 7 => Event::MachineReturned { machine },
            _ => {
                let class = self.choices.below(grid.classes().machine_classes().len());
                let (machine, class) = (MachineId::new(grid.machines().len()), MachineClassId::new(class));
                Event::MachineJoined { machine, class }
            }
        }
    }

    /// So that what runs where it is could run there still, or not; what is planned for it may not begin there any more.
    fn measurement(&mut self, grid: &Grid) -> Event {
        let machine = self.machine(grid);
        let class = MachineClassId::new(self.choices.below(grid.classes().machine_classes().len()));
        let mut there = grid.machine(machine).counts();
        let goes_on = there.all(|(task, _)| grid.classes().seconds_per_op(task, class).is_finite());
        let is_there = grid.machine(machine).availability() != Availability::Lost;
        if is_there && (goes_on || self.choices.one_in(3)) {
            Event::MachineMeasured { machine, class }
        } else {
            self.submission(grid)
        }
    }
}

/// How much of what should happen in such histories did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Tasks that were planned.
    pub planned: usize,
    /// Tasks that were started.
    pub started: usize,
    /// Machines whose price changed while something was planned for them, or ran there.
    pub prices_changed: usize,
}

/// Lets a policy live through the history of a seed on the machines of a setup, and its naive reference through the same; or says where the two first differ.
pub fn compare(
    setup: &Setup,
    seed: u64,
    policy: impl Policy,
    terms: Terms,
    seen: &mut Seen,
) -> Result<(), String> {
    let mut outside = Outside::of(setup, terms.period.seconds(), seed);
    let mut scheduler = Scheduler::new(Grid::new(setup.config.clone()), policy);
    let mut follower = Follower::new(setup, terms);
    for step in 0..EVENTS + outside.opening.len() {
        let event = outside.next(scheduler.grid());
        let now = outside.now;
        seen.prices_changed += usize::from(changes_a_price(scheduler.grid(), &event));
        scheduler.apply(now, &event);
        let mut decisions = Vec::new();
        let settled = scheduler.decide(now, &mut decisions);
        let (wishes, left) = follower.step(now, &event);
        let at = || format!("step {step} at {now}, {event:?}");
        if let Some(difference) = first_difference((&decisions, settled), (&wishes, left)) {
            return Err(format!("{}: {difference}", at()));
        }
        scheduler.check().map_err(|broken| format!("{}: {broken}", at()))?;
        seen.planned += count(&decisions, |decision| matches!(decision, Decision::Plan { .. }));
        seen.started += count(&decisions, |decision| matches!(decision, Decision::Start { .. }));
        drop(scheduler.take_orders());
    }
    Ok(())
}

fn count(decisions: &[Decision], is_such: impl Fn(&Decision) -> bool) -> usize {
    decisions.iter().filter(|decision| is_such(decision)).count()
}

/// The number of the first decision that is not the same, and both.
fn first_difference(
    (one, settled): (&[Decision], Settled),
    (other, left): (&[Decision], Settled),
) -> Option<String> {
    let most = one.len().max(other.len());
    let differs = (0..most).find(|number| one.get(*number) != other.get(*number));
    match differs {
        Some(number) => Some(format!(
            "decision {number} of {most}: {:?}\n   against the reference's {:?}",
            one.get(number),
            other.get(number)
        )),
        None => (settled != left).then(|| format!("{settled:?}\n   against the reference's {left:?}")),
    }
}

/// Whether a machine for which something is planned, or where something runs, asks another price from now on.
fn changes_a_price(grid: &Grid, event: &Event) -> bool {
    let Event::MachineMeasured { machine, class } = *event else { return false };
    let price = |class| grid.classes().machine_class(class).price;
    let is_used = grid.machine(machine).count() > 0
        || grid.plans().ranked(gleaner_core::Queue::Machine(machine)).next().is_some();
    is_used && price(class) != price(grid.machine(machine).class())
}
