//! Machines of one class during a batch: when they are ready, and what that lets the class offer.

use super::Open;
use crate::spending::{Savings, Spending};
use gleaner_core::{Grid, Machine, Queue};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId, Time};
use std::collections::BTreeSet;

/// Seconds from now, 0 or more: the bits of such numbers are in the order of the numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Moment(u64);

impl Moment {
    fn at(seconds: f64) -> Self {
        // Adding 0 makes 0 of −0.
        Self((seconds + 0.0).to_bits())
    }

    fn seconds(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A core of a machine; when it is ready, by which it is found; which of the machine's cores it is, to tell them apart.
type Core = (Moment, MachineId, u32);

/// A machine of the class could begin a task then.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Offer {
    /// Seconds from now.
    pub(super) ready_s: f64,
    /// Whether another core of the class could at the same moment.
    pub(super) several: bool,
}

/// Which core a task goes to, or that any of the class will do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Core(MachineId, f64),
    Any(MachineClassId),
}

impl Place {
    /// What decides between equals.
    pub(super) fn rank(self) -> usize {
        match self {
            Place::Core(machine, _) => machine.index(),
            Place::Any(class) => class.index(),
        }
    }
}

/// The machines of one class.
pub(super) struct Pool {
    pub(super) class: MachineClassId,
    pub(super) price: f64,
    cores: Cores,
    offers: Vec<Offer>,
}

enum Cores {
    /// Each by itself; which offers of theirs can matter.
    Each { ready: BTreeSet<Core>, wanted: Wanted },
    /// By equation (6): as one whose ready time is what there is to do over how many there are.
    Shared { cores: f64, idle: usize, ready_s: f64 },
}

/// Which moments of readiness can matter: in each stretch the first ones, up to so many cores.
#[derive(Clone, Copy)]
enum Wanted {
    Earliest(usize),
    /// Idle ones and busy ones are under different conditions.
    EarliestIdleAndBusy(usize),
    /// The later a core is ready, the easier the condition.
    All,
}

/// One pool for each class of the open machines, each machine by itself.
pub(super) fn of_machines(
    grid: &Grid,
    now: Time,
    open: Open<'_>,
    (spending, depth): (Spending, usize),
) -> Vec<Pool> {
    let wanted = match spending {
        Spending::PerTaskAndTime(Savings::AsPrinted) => Wanted::EarliestIdleAndBusy(depth),
        Spending::PerTaskAndTime(Savings::AsDerived) => Wanted::All,
        Spending::Free | Spending::Cap | Spending::PerTask | Spending::Share | Spending::LeastShare => {
            Wanted::Earliest(depth)
        }
    };
    let pools = by_class(grid, open).into_iter().map(|(class, machines)| {
        let cores = machines.iter().flat_map(|&id| {
            let mut ready = ready_times(grid, now, id);
            for task in grid.plans().ranked(Queue::Machine(id)) {
                let earliest = ready.iter_mut().min_by(|one, other| one.total_cmp(other)).expect("a core");
                *earliest += seconds(grid, task, class);
            }
            (0..).zip(ready).map(move |(number, ready_s)| (Moment::at(ready_s), id, number))
        });
        Pool::new(grid, class, Cores::Each { ready: cores.collect(), wanted })
    });
    pools.collect()
}

/// One pool for each class of the open machines, all its machines as one.
pub(super) fn of_classes(grid: &Grid, now: Time, open: Open<'_>) -> Vec<Pool> {
    let pools = by_class(grid, open).into_iter().map(|(class, machines)| {
        let ready: Vec<f64> = machines.iter().flat_map(|&id| ready_times(grid, now, id)).collect();
        let running = machines.iter().map(|&id| grid.machine(id).count() as usize).sum();
        let cores = ready.len() as f64;
        let idle = ready.len().saturating_sub(running);
        let mut pool =
            Pool::new(grid, class, Cores::Shared { cores, idle, ready_s: ready.iter().sum::<f64>() / cores });
        for task in grid.plans().ranked(Queue::Class(class)) {
            pool.take(Place::Any(class), seconds(grid, task, class));
        }
        pool
    });
    pools.collect()
}

fn by_class(grid: &Grid, open: Open<'_>) -> Vec<(MachineClassId, Vec<MachineId>)> {
    let mut classes: Vec<Vec<MachineId>> = vec![Vec::new(); grid.classes().machine_classes().len()];
    for &id in open {
        classes[grid.machine(id).class().index()].push(id);
    }
    let numbered = classes.into_iter().enumerate().filter(|(_, machines)| !machines.is_empty());
    numbered.map(|(index, machines)| (MachineClassId::new(index), machines)).collect()
}

/// How long a planned task takes there.
fn seconds(grid: &Grid, task: TaskId, class: MachineClassId) -> f64 {
    let length = grid.declared_length(task).map_or(0.0, gleaner_units::Ops::amount);
    length * grid.classes().seconds_per_op(grid.task(task).class(), class)
}

/// When each core of a machine is done with what it has, by its declared length: a task that should have ended already
/// is expected to end at once.
fn ready_times(grid: &Grid, now: Time, id: MachineId) -> Vec<f64> {
    let machine = grid.machine(id);
    let mut ready: Vec<f64> = residents(machine)
        .map(|(_, task)| (seconds(grid, task, machine.class()) - grid.task(task).seconds_run(now)).max(0.0))
        .collect();
    ready.resize(ready.len().max(machine.cores() as usize), 0.0);
    ready
}

fn residents(machine: &Machine) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
    machine.counts().flat_map(|(class, _)| machine.tasks_of(class).map(move |task| (class, task)))
}

impl Pool {
    fn new(grid: &Grid, class: MachineClassId, cores: Cores) -> Self {
        let price = grid.classes().machine_class(class).price;
        let mut pool = Self { class, price, cores, offers: Vec::new() };
        pool.offer();
        pool
    }

    /// What it can offer now, in order of readiness.
    #[inline]
    pub(super) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// A task that takes so many seconds goes there; in which queue it is to wait.
    pub(super) fn take(&mut self, place: Place, seconds: f64) -> Queue {
        let queue = match (&mut self.cores, place) {
            (Cores::Each { ready, .. }, Place::Core(machine, ready_s)) => {
                let from = (Moment::at(ready_s), machine, 0);
                let core = *ready.range(from..).next().expect("a core that was offered");
                ready.remove(&core);
                ready.insert((Moment::at(ready_s + seconds), core.1, core.2));
                Queue::Machine(machine)
            }
            (Cores::Shared { cores, idle, ready_s }, _) => {
                *idle = idle.saturating_sub(1);
                *ready_s += seconds / *cores;
                Queue::Class(self.class)
            }
            (Cores::Each { .. }, Place::Any(_)) => unreachable!("a place of another pool"),
        };
        self.offer();
        queue
    }

    fn offer(&mut self) {
        self.offers.clear();
        match &self.cores {
            Cores::Shared { idle, ready_s, .. } => {
                let ready_s = if *idle > 0 { 0.0 } else { *ready_s };
                self.offers.push(Offer { ready_s, several: false });
            }
            Cores::Each { ready, wanted } => match *wanted {
                Wanted::Earliest(count) => offer_first(ready, Moment::at(0.0), count, &mut self.offers),
                Wanted::All => offer_first(ready, Moment::at(0.0), usize::MAX, &mut self.offers),
                Wanted::EarliestIdleAndBusy(count) => {
                    offer_first(ready, Moment::at(0.0), count, &mut self.offers);
                    self.offers.retain(|offer| offer.ready_s == 0.0);
                    offer_first(ready, Moment(1), count, &mut self.offers);
                }
            },
        }
    }

    /// The lowest of the cores that are ready at the offer's moment, or next after it as long as they tie with it.
    pub(super) fn lowest_tied(&self, offer: Offer, ties: impl Fn(Offer) -> bool) -> Place {
        let Cores::Each { ready, .. } = &self.cores else { return Place::Any(self.class) };
        let tied = moments(ready, Moment::at(offer.ready_s))
            .take_while(|(moment, _)| ties(Offer { ready_s: moment.seconds(), several: false }));
        let lowest = tied.min_by_key(|&(_, machine)| machine).expect("the offer ties with itself");
        Place::Core(lowest.1, lowest.0.seconds())
    }

    /// The core that is ready first, if it is by then, and when.
    pub(super) fn earliest_within(&self, limit: f64) -> Option<(f64, Place)> {
        match &self.cores {
            Cores::Each { ready, .. } => {
                let &(moment, machine, _) = ready.first()?;
                let ready_s = moment.seconds();
                (ready_s <= limit).then_some((ready_s, Place::Core(machine, ready_s)))
            }
            Cores::Shared { .. } => self.lowest_within(limit),
        }
    }

    /// The lowest machine that is ready by then, and when.
    pub(super) fn lowest_within(&self, limit: f64) -> Option<(f64, Place)> {
        match &self.cores {
            Cores::Each { ready, .. } => {
                let in_time = ready.iter().take_while(|(moment, _, _)| moment.seconds() <= limit);
                let &(moment, machine, _) = in_time.min_by_key(|(moment, machine, _)| (*machine, *moment))?;
                Some((moment.seconds(), Place::Core(machine, moment.seconds())))
            }
            Cores::Shared { .. } => {
                let ready_s = self.offers[0].ready_s;
                (ready_s <= limit).then_some((ready_s, Place::Any(self.class)))
            }
        }
    }
}

/// Each moment from `from` on at which a core is ready, with the lowest machine that has one then.
fn moments(ready: &BTreeSet<Core>, from: Moment) -> impl Iterator<Item = (Moment, MachineId)> + '_ {
    let first = move |from: Moment| ready.range((from, MachineId::new(0), 0)..).next();
    let next = move |&(moment, ..): &Core| first(Moment(moment.0 + 1)).copied();
    std::iter::successors(first(from).copied(), next).map(|(moment, machine, _)| (moment, machine))
}

/// The moments from `from` on, up to so many cores.
fn offer_first(ready: &BTreeSet<Core>, from: Moment, count: usize, offers: &mut Vec<Offer>) {
    let mut found = 0;
    for (moment, _) in moments(ready, from) {
        let mut same = ready.range((moment, MachineId::new(0), 0)..).take_while(|core| core.0 == moment);
        let several = count > 1 && same.nth(1).is_some();
        offers.push(Offer { ready_s: moment.seconds(), several });
        found += 1 + usize::from(several);
        if found >= count {
            return;
        }
    }
}
