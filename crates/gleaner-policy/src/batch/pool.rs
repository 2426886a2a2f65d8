//! Machines of one class during a batch: when they are ready, and what that lets the class offer.

use super::Open;
use crate::spending::{Savings, Spending};
use gleaner_core::{Grid, Machine, Queue};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

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

/// A machine, after the moment at which the first of its cores is ready.
type Ready = (Moment, MachineId);

/// A machine of the class could begin a task then: one of its cores is ready.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Offer {
    /// Seconds from now.
    pub(super) ready_s: f64,
    /// Whether another machine of the class could at the same moment.
    pub(super) several: bool,
}

/// Which machine a task goes to, and when that is ready; or that any of the class will do.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    One(MachineId, f64),
    Any(MachineClassId),
}

impl Place {
    /// What decides between equals.
    pub(super) fn rank(self) -> usize {
        match self {
            Place::One(machine, _) => machine.index(),
            Place::Any(class) => class.index(),
        }
    }
}

/// The machines of one class.
pub(super) struct Pool {
    pub(super) class: MachineClassId,
    pub(super) price: f64,
    machines: Machines,
    offers: Vec<Offer>,
}

enum Machines {
    /// Each by itself.
    Each {
        ready: BTreeSet<Ready>,
        /// When the other cores are ready, of machines that have several.
        others: BTreeMap<MachineId, Vec<f64>>,
        /// Which offers can matter.
        wanted: Wanted,
    },
    /// By equation (6): as one whose ready time is what there is to do over how many there are.
    Shared { cores: f64, idle: usize, ready_s: f64 },
}

/// Which moments of readiness can matter: in each stretch the first ones, up to so many machines.
#[derive(Clone, Copy)]
enum Wanted {
    Earliest(usize),
    /// Idle ones and busy ones are under different conditions.
    EarliestIdleAndBusy(usize),
    /// The later a machine is ready, the easier the condition.
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
        let mut ready = Vec::with_capacity(machines.len());
        let mut others = BTreeMap::new();
        for id in machines {
            let mut cores = ready_times(grid, now, id);
            if cores.is_empty() {
                continue;
            }
            let mut first = take_least(&mut cores);
            for task in grid.plans().ranked(Queue::Machine(id)) {
                cores.push(first + seconds(grid, task, class));
                first = take_least(&mut cores);
            }
            ready.push((Moment::at(first), id));
            if !cores.is_empty() {
                others.insert(id, cores);
            }
        }
        let ready = ready.into_iter().collect();
        Pool::new(grid, class, Machines::Each { ready, others, wanted })
    });
    pools.collect()
}

/// One pool for each class of the open machines, all its machines as one.
pub(super) fn of_classes(grid: &Grid, now: Time, open: Open<'_>) -> Vec<Pool> {
    let pools = by_class(grid, open).into_iter().filter_map(|(class, machines)| {
        let ready: Vec<f64> = machines.iter().flat_map(|&id| ready_times(grid, now, id)).collect();
        if ready.is_empty() {
            return None;
        }
        let running = machines.iter().map(|&id| grid.machine(id).count() as usize).sum();
        let cores = ready.len() as f64;
        let idle = ready.len().saturating_sub(running);
        let mut pool = Pool::new(
            grid,
            class,
            Machines::Shared { cores, idle, ready_s: ready.iter().sum::<f64>() / cores },
        );
        for task in grid.plans().ranked(Queue::Class(class)) {
            pool.take(Place::Any(class), seconds(grid, task, class));
        }
        Some(pool)
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
/// is expected to end at once, as one is that has no length. Cores on which a task stands still are not among them.
fn ready_times(grid: &Grid, now: Time, id: MachineId) -> Vec<f64> {
    let machine = grid.machine(id);
    let mut ready: Vec<f64> =
        residents(machine).map(|(_, task)| grid.seconds_left(now, task).unwrap_or(0.0)).collect();
    ready.resize(ready.len().max(machine.cores() as usize), 0.0);
    ready.retain(|seconds| seconds.is_finite());
    ready
}

/// The least of at least one number, which is taken out.
fn take_least(numbers: &mut Vec<f64>) -> f64 {
    let least = (0..numbers.len()).min_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    numbers.swap_remove(least.expect("a number"))
}

fn residents(machine: &Machine) -> impl Iterator<Item = (TaskClassId, TaskId)> + '_ {
    machine.counts().flat_map(|(class, _)| machine.tasks_of(class).map(move |task| (class, task)))
}

impl Pool {
    fn new(grid: &Grid, class: MachineClassId, machines: Machines) -> Self {
        let price = grid.classes().machine_class(class).price;
        let mut pool = Self { class, price, machines, offers: Vec::new() };
        pool.offer();
        pool
    }

    /// What it can offer now, in order of readiness.
    #[inline]
    pub(super) fn offers(&self) -> &[Offer] {
        &self.offers
    }

    /// How many operations its machines at least do before the first of their cores is ready only then, if each takes
    /// tasks up to a length and `seconds_per_op`: each that is ready earlier takes another. Costs O(machines).
    pub(super) fn ops_before(&self, then_s: f64, seconds_per_op: f64, longest: f64) -> f64 {
        let Machines::Each { ready, .. } = &self.machines else { return 0.0 };
        let earlier = ready.range(..(Moment::at(then_s), MachineId::new(0)));
        earlier.map(|(moment, _)| ((then_s - moment.seconds()) / seconds_per_op - longest).max(0.0)).sum()
    }

    /// A task that takes so many seconds goes there; in which queue it is to wait.
    pub(super) fn take(&mut self, place: Place, seconds: f64) -> Queue {
        let queue = match (&mut self.machines, place) {
            (Machines::Each { ready, others, .. }, Place::One(machine, ready_s)) => {
                ready.remove(&(Moment::at(ready_s), machine));
                let next = match others.get_mut(&machine) {
                    None => ready_s + seconds,
                    Some(cores) => {
                        cores.push(ready_s + seconds);
                        take_least(cores)
                    }
                };
                ready.insert((Moment::at(next), machine));
                Queue::Machine(machine)
            }
            (Machines::Shared { cores, idle, ready_s }, _) => {
                *idle = idle.saturating_sub(1);
                *ready_s += seconds / *cores;
                Queue::Class(self.class)
            }
            (Machines::Each { .. }, Place::Any(_)) => unreachable!("a place of another pool"),
        };
        self.offer();
        queue
    }

    fn offer(&mut self) {
        self.offers.clear();
        match &self.machines {
            Machines::Shared { idle, ready_s, .. } => {
                let ready_s = if *idle > 0 { 0.0 } else { *ready_s };
                self.offers.push(Offer { ready_s, several: false });
            }
            Machines::Each { ready, wanted, .. } => match *wanted {
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

    /// The lowest of the machines that are ready at a moment that was offered, or next after it as long as they tie
    /// with it.
    pub(super) fn lowest_tied(&self, ready_s: f64, ties: impl Fn(f64) -> bool) -> Place {
        let Machines::Each { ready, .. } = &self.machines else { return Place::Any(self.class) };
        let tied = moments(ready, Moment::at(ready_s)).take_while(|(moment, _)| ties(moment.seconds()));
        let lowest = tied.min_by_key(|&(_, machine)| machine).expect("the offer ties with itself");
        Place::One(lowest.1, lowest.0.seconds())
    }

    /// The lowest machine that is ready at a moment that is `wanted`. Costs O(machines).
    pub(super) fn lowest(&self, wanted: impl Fn(f64) -> bool) -> Option<Place> {
        match &self.machines {
            Machines::Each { ready, .. } => {
                let wanted = ready.iter().filter(|(moment, _)| wanted(moment.seconds()));
                let &(moment, machine) = wanted.min_by_key(|(_, machine)| *machine)?;
                Some(Place::One(machine, moment.seconds()))
            }
            Machines::Shared { .. } => wanted(self.offers[0].ready_s).then_some(Place::Any(self.class)),
        }
    }
}

/// Each moment from `from` on at which a machine is ready, with the lowest that is.
fn moments(ready: &BTreeSet<Ready>, from: Moment) -> impl Iterator<Item = (Moment, MachineId)> + '_ {
    let first = move |from: Moment| ready.range((from, MachineId::new(0))..).next();
    let next = move |&(moment, _): &Ready| first(Moment(moment.0 + 1)).copied();
    std::iter::successors(first(from).copied(), next)
}

/// The moments from `from` on, up to so many machines.
fn offer_first(ready: &BTreeSet<Ready>, from: Moment, count: usize, offers: &mut Vec<Offer>) {
    let mut found = 0;
    for (moment, _) in moments(ready, from) {
        let mut same = ready.range((moment, MachineId::new(0))..).take_while(|machine| machine.0 == moment);
        let several = count > 1 && same.nth(1).is_some();
        offers.push(Offer { ready_s: moment.seconds(), several });
        found += 1 + usize::from(several);
        if found >= count {
            return;
        }
    }
}
