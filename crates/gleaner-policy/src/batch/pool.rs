//! Machines of one class during a batch: when they are ready, and what that lets the class offer.

use super::looks::Looks;
use super::readiness::{Moment, Offer, Readiness};
use crate::open_machines::Members;
use crate::parts::budget::{Savings, Spending};
use gleaner_core::{Grid, Queue};
use gleaner_units::{MachineClassId, MachineId, Ops, RunId, TaskId};
use std::collections::BTreeMap;

/// Half a nanosecond. Moments are whole nanoseconds: what has less left than this is done, and a machine with it is ready now, and
/// not busy, for whoever ranks ready times or asks whether one is later than now.
const NO_TIME_S: f64 = 0.5e-9;

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
    /// How often one of its machines is lost, where that counts.
    pub(super) losses_per_s: f64,
    /// Of each machine, as many as have tasks at a time.
    cores: usize,
    machines: Machines,
    offers: Vec<Offer>,
}

enum Machines {
    /// Each by itself.
    Each {
        ready: Readiness,
        /// When the other cores are ready, of machines that have several and something to do.
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

/// One pool for each class of the open machines, each machine by itself; the cheapest first.
pub(super) fn of_machines(looks: Looks<'_>, (spending, depth): (Spending, usize)) -> Vec<Pool> {
    let Looks { grid, open, .. } = looks;
    let wanted = match spending {
        Spending::PerTaskAndTime(Savings::AsPrinted, _) | Spending::WithinReach => {
            Wanted::EarliestIdleAndBusy(depth)
        }
        Spending::PerTaskAndTime(Savings::AsDerived, _) => Wanted::All,
        Spending::Free
        | Spending::Cap
        | Spending::PerTask(_)
        | Spending::PerTaskWithinPeriod(_)
        | Spending::MovingPrice
        | Spending::Share
        | Spending::LeastShare => Wanted::Earliest(depth),
    };
    let pools = open.classes().filter_map(|(class, members)| {
        let (idle, planned) = idle_and_planned(grid, members);
        let (mut others, mut cores) = (BTreeMap::new(), Vec::new());
        let busy = members.busy.iter().copied().chain(planned).filter_map(|id| {
            // What waits there for what the machine cannot do any more is waited for in vain.
            let first = first_ready(looks, id, &mut cores).filter(|ready_s| ready_s.is_finite())?;
            if !cores.is_empty() {
                others.insert(id, cores.clone());
            }
            Some((Moment::at(first), id))
        });
        let ready = Readiness { later: busy.collect(), idle: idle.into_iter() };
        // Where none will ever be ready, that the class is the cheapest keeps no task from the others.
        let is_any = ready.first_idle().is_some() || !ready.later.is_empty();
        is_any.then(|| Pool::new(grid, class, Machines::Each { ready, others, wanted }))
    });
    by_price(pools.collect())
}

/// One pool for each class of the open machines, all its machines as one; the cheapest first.
pub(super) fn of_classes(looks: Looks<'_>) -> Vec<Pool> {
    let Looks { grid, open, .. } = looks;
    let pools = open.classes().filter_map(|(class, members)| {
        let mut ready = Vec::new();
        members.busy.iter().for_each(|&id| add_ready_times(looks, id, &mut ready));
        let running: u64 = members.busy.iter().map(|&id| grid.machine(id).shares()).sum();
        let cores = ready.len() + members.idle.len() * grid.classes().machine_class(class).width() as usize;
        if cores == 0 {
            return None;
        }
        let ready_s = ready.iter().fold(0.0, |sum, seconds| sum + seconds) / cores as f64;
        let idle = cores.saturating_sub(usize::try_from(running).unwrap_or(usize::MAX));
        let mut pool = Pool::new(grid, class, Machines::Shared { cores: cores as f64, idle, ready_s });
        for task in grid.plans().ranked(Queue::Class(class)) {
            pool.take(Place::Any(class), (cores_of(grid, task), seconds(looks, task, class)));
        }
        if !pool.offers.iter().all(|offer| offer.ready_s.is_finite()) {
            return None;
        }
        Some(pool)
    });
    by_price(pools.collect())
}

fn by_price(mut pools: Vec<Pool>) -> Vec<Pool> {
    pools.sort_by(|one, other| one.price.total_cmp(&other.price));
    pools
}

/// Those that nothing is planned for, of machines that do nothing, and the others: there are some in the middle of a batch
/// only.
fn idle_and_planned(grid: &Grid, members: &Members) -> (Vec<MachineId>, Vec<MachineId>) {
    let idle = members.idle.iter().copied();
    if grid.plans().is_empty() {
        return (idle.collect(), Vec::new());
    }
    idle.partition(|&id| grid.plans().ranked(Queue::Machine(id)).next().is_none())
}

/// When the first core of a machine is done with all that the machine has and all that is planned for it; nothing where no
/// core ever is. `cores` are then the others.
fn first_ready(looks: Looks<'_>, id: MachineId, cores: &mut Vec<f64>) -> Option<f64> {
    let grid = looks.grid;
    cores.clear();
    add_ready_times(looks, id, cores);
    if cores.is_empty() {
        return None;
    }
    let mut first = take_least(cores);
    for task in grid.plans().ranked(Queue::Machine(id)) {
        let seconds = seconds(looks, task, grid.machine(id).class());
        first = occupy(first, cores, (cores_of(grid, task), seconds));
    }
    Some(first)
}

/// When the first core of a machine is ready after a task of several cores has had those that are ready first, from when
/// the last of these is. `others` are all cores but the first.
fn occupy(first_s: f64, others: &mut Vec<f64>, (cores, seconds): (usize, f64)) -> f64 {
    if cores == 1 {
        others.push(first_s + seconds);
        return take_least(others);
    }
    others.push(first_s);
    others.sort_by(f64::total_cmp);
    let taken = cores.min(others.len());
    let end_s = others[taken - 1] + seconds;
    others[..taken].fill(end_s);
    take_least(others)
}

/// How many cores a task needs.
fn cores_of(grid: &Grid, task: TaskId) -> usize {
    grid.classes().demand(grid.task(task).class()).needs.cores as usize
}

/// How long a planned task takes there.
fn seconds(Looks { grid, forecast, .. }: Looks<'_>, task: TaskId, class: MachineClassId) -> f64 {
    let length = forecast.known(grid, task).map_or(0.0, Ops::amount);
    length * grid.classes().seconds_per_op(grid.task(task).class(), class)
}

/// When each core of a machine is done with what it has, by expected lengths: a task that should have ended already
/// is expected to end at once, as one is of whose length nothing is known, or of which no more than rounding is left. A task has all cores that it needs. Those on which a task
/// stands still are not among them, nor are those for which the machine has no slot.
fn add_ready_times(Looks { grid, now, forecast, .. }: Looks<'_>, id: MachineId, to: &mut Vec<f64>) {
    let machine = grid.machine(id);
    let width = grid.classes().machine_class(machine.class()).width();
    let idle = u64::from(width).saturating_sub(machine.shares());
    for run in machine.runs() {
        let length = forecast.expected(grid, now, run);
        let left_s = length.and_then(|length| grid.seconds_left(now, run, length)).unwrap_or(0.0);
        let left_s = if left_s < NO_TIME_S { 0.0 } else { left_s };
        let cores = if left_s.is_finite() { cores_there(grid, run, id) } else { 0 };
        to.extend(std::iter::repeat_n(left_s, cores));
    }
    to.extend(std::iter::repeat_n(0.0, idle as usize));
}

/// How many cores a run has on a machine.
fn cores_there(grid: &Grid, run: RunId, on: MachineId) -> usize {
    match grid.find_run(run).filter(|run| run.is_wide()) {
        Some(wide) => grid.parts_of(wide).filter(|part| part.on == on).map(|part| part.cores as usize).sum(),
        None => cores_of(grid, run.task),
    }
}

/// The least of at least one number, which is taken out.
fn take_least(numbers: &mut Vec<f64>) -> f64 {
    let least = (0..numbers.len()).min_by(|&one, &other| numbers[one].total_cmp(&numbers[other]));
    numbers.swap_remove(least.expect("a number"))
}

impl Pool {
    fn new(grid: &Grid, class: MachineClassId, machines: Machines) -> Self {
        let of_class = grid.classes().machine_class(class);
        let (price, cores, offers) = (of_class.price, of_class.width() as usize, Vec::new());
        let mut pool = Self { class, price, losses_per_s: 0.0, cores, machines, offers };
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
        let ops_from = |ready_s: f64| ((then_s - ready_s) / seconds_per_op - longest).max(0.0);
        let later = ready.later.range(..(Moment::at(then_s), MachineId::new(0)));
        let later: f64 = later.map(|(moment, _)| ops_from(moment.seconds())).sum();
        later + ready.idle.len() as f64 * ops_from(0.0)
    }

    /// A task that takes so many cores for so many seconds goes there; in which queue it is to wait.
    pub(super) fn take(&mut self, place: Place, (taken, seconds): (usize, f64)) -> Queue {
        let queue = match (&mut self.machines, place) {
            (Machines::Each { ready, others, .. }, Place::One(machine, ready_s)) => {
                let was_idle = ready.remove((Moment::at(ready_s), machine));
                if was_idle && self.cores > 1 {
                    others.insert(machine, vec![0.0; self.cores - 1]);
                }
                let next = match others.get_mut(&machine) {
                    None => ready_s + seconds,
                    Some(others) => occupy(ready_s, others, (taken, seconds)),
                };
                ready.later.insert((Moment::at(next), machine));
                Queue::Machine(machine)
            }
            (Machines::Shared { cores, idle, ready_s }, _) => {
                *idle = idle.saturating_sub(taken);
                *ready_s += taken as f64 * seconds / *cores;
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
                Wanted::Earliest(count) => ready.offer_first(Moment::NOW, count, &mut self.offers),
                Wanted::All => ready.offer_first(Moment::NOW, usize::MAX, &mut self.offers),
                Wanted::EarliestIdleAndBusy(count) => {
                    ready.offer_first(Moment::NOW, count, &mut self.offers);
                    self.offers.retain(|offer| offer.ready_s == 0.0);
                    ready.offer_first(Moment::NOW.next(), count, &mut self.offers);
                }
            },
        }
    }

    /// The lowest of the machines that are ready at a moment that was offered, or next after it as long as they tie
    /// with it.
    pub(super) fn lowest_tied(&self, ready_s: f64, ties: impl Fn(f64) -> bool) -> Place {
        let Machines::Each { ready, .. } = &self.machines else { return Place::Any(self.class) };
        let tied = ready.moments(Moment::at(ready_s)).take_while(|(moment, _)| ties(moment.seconds()));
        let lowest = tied.min_by_key(|&(_, machine)| machine).expect("the offer ties with itself");
        Place::One(lowest.1, lowest.0.seconds())
    }

    /// Each of its machines, or all as one, and when that is ready.
    pub(super) fn places(&self) -> impl Iterator<Item = (f64, Place)> + '_ {
        let (each, shared) = match &self.machines {
            Machines::Each { ready, .. } => (Some(ready.all()), None),
            Machines::Shared { .. } => (None, Some((self.offers[0].ready_s, Place::Any(self.class)))),
        };
        let each = each.into_iter().flatten();
        each.map(|(moment, machine)| (moment.seconds(), Place::One(machine, moment.seconds()))).chain(shared)
    }

    /// The lowest machine that is ready at a moment that is `wanted`. Costs O(machines).
    pub(super) fn lowest(&self, wanted: impl Fn(f64) -> bool) -> Option<Place> {
        match &self.machines {
            Machines::Each { ready, .. } => {
                let first_idle = ready.first_idle().into_iter();
                let all = first_idle.chain(ready.later.iter().copied());
                let wanted = all.filter(|(moment, _)| wanted(moment.seconds()));
                let (moment, machine) = wanted.min_by_key(|(_, machine)| *machine)?;
                Some(Place::One(machine, moment.seconds()))
            }
            Machines::Shared { .. } => wanted(self.offers[0].ready_s).then_some(Place::Any(self.class)),
        }
    }
}
