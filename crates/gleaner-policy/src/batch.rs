//! One batch: the waiting tasks are given to machines, or to classes of machines, one after another.
//!
//! The rules are those of the second paper (figures 1 and 2), with [`Spending`](crate::Spending) for the budget; ties go to
//! the lowest task, then to the lowest machine. They are not carried out as the figures have them, which look at every
//! task and machine for each assignment:
//!
//! - Machines of a class differ only in when they are ready, and a class offers the one that is ready first ([`pool`]).
//!   Where a condition depends on that moment too, it offers one for each moment that can matter.
//! - What a machine may take of the tasks in order of length is a stretch of them ([`Purse::first_allowed`]), and a
//!   shorter task is done earlier on any machine. So Min-Min looks at the shortest of each stretch, Max-Min at the
//!   longest task and at those just before a stretch begins ([`heuristics`]). Sufferage looks at all tasks, but only at
//!   the offers that can be among anyone's best two.
//!
//! Cost: O(tasks·log tasks + machines·log machines), and then for each assignment O(offers), with Sufferage O(tasks)
//! more. **What a batch does is a function of the grid alone**, also in the middle of one.

mod heuristics;
mod kinds;
mod pool;

use crate::recipe::{Aim, Batching, Level, Order};
use crate::spending::{Purse, Seat};
use gleaner_core::{Grid, Queue};
use gleaner_units::{MachineId, TaskId, Time};
use kinds::{Kind, Left};
use pool::{Offer, Pool};
use std::collections::VecDeque;

/// Which machines take tasks, by id; they need not be free.
pub(crate) type Open<'a> = &'a std::collections::BTreeSet<MachineId>;

/// A task and its place.
pub(crate) type Assignment = (TaskId, Queue);

/// Gives all waiting tasks that are not planned yet their places, as far as there are any. Tasks without a declared
/// length have none.
pub(crate) fn assignments(recipe: &Batching, grid: &Grid, now: Time, open: Open<'_>) -> VecDeque<Assignment> {
    let mut batch = Batch::new(recipe, grid, now, open);
    batch.run();
    batch.made
}

struct Batch<'a> {
    recipe: &'a Batching,
    /// Seconds from now to the deadline, if there is one.
    deadline_s: f64,
    purse: Option<Purse>,
    kinds: Vec<Kind>,
    pools: Vec<Pool>,
    made: VecDeque<Assignment>,
}

/// Where a task would go: in which pool to which of the machines.
#[derive(Clone, Copy, Debug)]
struct Target {
    pool: usize,
    place: pool::Place,
}

impl<'a> Batch<'a> {
    fn new(recipe: &'a Batching, grid: &Grid, now: Time, open: Open<'_>) -> Self {
        let depth = if recipe.order == Order::Sufferage { 2 } else { 1 };
        let pools = match recipe.level {
            Level::Machines => pool::of_machines(grid, now, open, (recipe.spending, depth)),
            Level::Classes => pool::of_classes(grid, now, open),
        };
        let kinds = kinds::waiting(grid, &pools);
        let ops = kinds.iter().flat_map(|kind| &kind.left).map(|task| task.length.into()).sum();
        let tasks = kinds.iter().map(|kind| kind.left.len()).sum();
        let deadline_s = recipe.deadline.map_or(f64::INFINITY, |deadline| deadline.since(now).seconds());
        Self {
            recipe,
            deadline_s,
            purse: Purse::new(recipe.spending, grid.account(), now, (tasks, ops)),
            kinds,
            pools,
            made: VecDeque::new(),
        }
    }

    fn run(&mut self) {
        let first = match self.recipe.order {
            Order::Submission => usize::MAX,
            Order::MinMin | Order::MaxMin | Order::Sufferage => self.recipe.aging as usize,
        };
        for (kind, task) in kinds::oldest(&self.kinds, first) {
            self.assign_by_aim(kind, task);
        }
        while let Some((kind, task)) = heuristics::next(self) {
            let length = self.kinds[kind].left[task].length.amount();
            let target = self.earliest(kind, length).expect("a task that is left has a place");
            self.assign(kind, task, target);
        }
    }

    fn assign_by_aim(&mut self, kind: usize, id: TaskId) {
        let at = self.kinds[kind].position(id);
        let length = self.kinds[kind].left[at].length.amount();
        match self.aimed(kind, length) {
            Some(target) => self.assign(kind, at, target),
            None => self.set_aside(kind, at),
        }
    }

    fn aimed(&self, kind: usize, length: f64) -> Option<Target> {
        let in_time = match self.recipe.aim {
            Aim::Earliest => None,
            Aim::Cheapest => self.cheapest(kind, length),
            Aim::CheapestThenEarliest => self.earliest_of_cheapest(kind, length),
        };
        in_time.or_else(|| self.earliest(kind, length))
    }

    fn assign(&mut self, kind: usize, at: usize, target: Target) {
        let Kind { left, seconds_per_op, .. } = &mut self.kinds[kind];
        let Left { id, length } = left.remove(at).expect("a task that is left");
        let pool = &mut self.pools[target.pool];
        if let Some(purse) = &mut self.purse {
            purse.spend(length, pool.price);
        }
        let queue = pool.take(target.place, length.amount() * seconds_per_op[target.pool]);
        self.made.push_back((id, queue));
    }

    /// No machine may take the task now; it is not looked at again in this batch.
    fn set_aside(&mut self, kind: usize, at: usize) {
        self.kinds[kind].left.remove(at);
        if let Some(purse) = &mut self.purse {
            purse.set_aside();
        }
    }

    #[inline]
    fn seat(&self, kind: usize, pool: usize, offer: Offer) -> Seat {
        let price = self.pools[pool].price;
        let is_cheapest = price > 0.0 && price <= self.kinds[kind].cheapest;
        Seat { price, ready_s: offer.ready_s, is_cheapest }
    }

    #[inline]
    fn allows(&self, kind: usize, length: f64, pool: usize, offer: Offer) -> bool {
        self.purse.as_ref().is_none_or(|purse| purse.allows(length, self.seat(kind, pool, offer)))
    }

    /// The offers of all pools that could run tasks of a kind, with the time per operation there.
    #[inline]
    fn offers(&self, kind: usize) -> impl Iterator<Item = (usize, Offer, f64)> + '_ {
        let Kind { seconds_per_op, usable, .. } = &self.kinds[kind];
        usable.iter().flat_map(move |&pool| {
            let offers = self.pools[pool].offers().iter();
            offers.map(move |&offer| (pool, offer, seconds_per_op[pool]))
        })
    }

    /// When a task of that length would be done at best.
    fn earliest_end(&self, kind: usize, length: f64) -> Option<f64> {
        let allowed = self.offers(kind).filter(|&(pool, offer, _)| self.allows(kind, length, pool, offer));
        let ends = allowed.map(|(_, offer, seconds)| offer.ready_s + length * seconds);
        ends.min_by(f64::total_cmp)
    }

    /// The machine that would be done first with a task of that length, among equals the lowest.
    fn earliest(&self, kind: usize, length: f64) -> Option<Target> {
        let offers = self.offers(kind).filter(|&(pool, offer, _)| self.allows(kind, length, pool, offer));
        self.first_done(kind, length, offers.collect())
    }

    fn first_done(&self, kind: usize, length: f64, offers: Vec<(usize, Offer, f64)>) -> Option<Target> {
        let end = |offer: Offer, seconds: f64| offer.ready_s + length * seconds;
        let ends = offers.iter().map(|&(_, offer, seconds)| end(offer, seconds));
        let limit = highest_tie(ends.min_by(f64::total_cmp)?);
        let tied = offers.into_iter().filter(|&(_, offer, seconds)| end(offer, seconds) <= limit);
        let targets = tied.map(|(pool, offer, seconds)| {
            let ties = |offer: Offer| end(offer, seconds) <= limit && self.allows(kind, length, pool, offer);
            Target { pool, place: self.pools[pool].lowest_tied(offer, ties) }
        });
        targets.min_by_key(|target| target.place.rank())
    }

    /// The lowest price for which some machine would be done by the deadline, and the pools that ask it.
    fn cheapest_in_time(&self, kind: usize, length: f64) -> Vec<usize> {
        let able = self.offers(kind).filter(|&(pool, offer, _)| self.is_in_time(kind, length, pool, offer));
        let able: Vec<usize> = able.map(|(pool, ..)| pool).collect();
        let price = |pool: usize| self.pools[pool].price;
        let least = able.iter().map(|&pool| price(pool)).fold(f64::INFINITY, f64::min);
        let mut cheapest: Vec<usize> = able.into_iter().filter(|&pool| price(pool) == least).collect();
        cheapest.dedup();
        cheapest
    }

    #[inline]
    fn is_in_time(&self, kind: usize, length: f64, pool: usize, offer: Offer) -> bool {
        let end = offer.ready_s + length * self.kinds[kind].seconds_per_op[pool];
        end <= self.deadline_s && self.allows(kind, length, pool, offer)
    }

    /// Of the cheapest machines that would be done by the deadline the lowest. Costs O(machines that ask as much).
    fn cheapest(&self, kind: usize, length: f64) -> Option<Target> {
        let pools = self.cheapest_in_time(kind, length).into_iter();
        let targets = pools.filter_map(|pool| {
            let place = self.pools[pool].lowest(|offer| self.is_in_time(kind, length, pool, offer))?;
            Some(Target { pool, place })
        });
        targets.min_by_key(|target| target.place.rank())
    }

    /// Of the cheapest machines that would be done by the deadline the one that is done first, among equals the
    /// lowest.
    fn earliest_of_cheapest(&self, kind: usize, length: f64) -> Option<Target> {
        let pools = self.cheapest_in_time(kind, length);
        let offers = self.offers(kind).filter(|(pool, ..)| pools.contains(pool));
        let offers = offers.filter(|&(pool, offer, _)| self.is_in_time(kind, length, pool, offer));
        self.first_done(kind, length, offers.collect())
    }
}

/// The largest value that ties with `least`, where less is better.
#[inline]
fn highest_tie(least: f64) -> f64 {
    -gleaner_core::tie_threshold(-least)
}
