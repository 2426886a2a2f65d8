//! The tasks left to place, by class and in order of length, and what is offered to them.

use super::awake::Awake;
use super::bid::Bid;
use super::pieces::Pieces;
use super::pool::Pool;
use crate::backlog::{Backlog, Place, Shelf, Size, Waiting};
use crate::spending::{Conditions, Terms, Waking};
use gleaner_core::Grid;
use gleaner_units::{OpsTotal, TaskClassId};
use std::ops::Range;

/// The tasks left of one class.
pub(super) struct Kind<'a> {
    pub(super) class: TaskClassId,
    /// How many each needs.
    pub(super) cores: usize,
    /// Higher ones are placed first.
    pub(super) priority: i32,
    /// Which one pays.
    pub(super) conditions: usize,
    shelf: &'a mut Shelf,
    /// Those before this place lie there still, but were taken.
    front: Place,
    /// Those that were taken from between others, and are not there.
    picked: Vec<Waiting>,
    /// How long all are together that were not taken.
    ops: OpsTotal,
    /// The sizes of those that lie there still and are out of this batch: from the first to the last of each stretch.
    aside: Vec<(Size, Size)>,
    /// The shortest and the longest task.
    span: Option<(Waiting, Waiting)>,
    /// What the pools that could run them offer, in order of pool, and so of price.
    pub(super) bids: Vec<Bid>,
    /// Those of them that any task left may take, as far as is known.
    awake: Awake,
    /// What the tasks would lose without their best.
    pub(super) pieces: Pieces,
    /// By pool; infinite where no machine could run them.
    seconds_per_op: Vec<f64>,
    /// By pool; the least of it and of those before it.
    least_seconds: Vec<f64>,
    /// The lowest price above 0 that pools ask which could.
    cheapest: f64,
    /// By pool; longer tasks had better wait than go there.
    longest: Vec<f64>,
}

/// All kinds of tasks that have no place.
pub(super) fn all<'a>(grid: &Grid, backlog: &'a mut Backlog, pools: &[Pool]) -> Vec<Kind<'a>> {
    backlog.shelves().map(|(class, shelf)| Kind::new(grid, class, shelf, pools)).collect()
}

impl<'a> Kind<'a> {
    fn new(grid: &Grid, class: TaskClassId, shelf: &'a mut Shelf, pools: &[Pool]) -> Self {
        let seconds = pools.iter().map(|pool| grid.classes().seconds_per_op(class, pool.class));
        let seconds_per_op: Vec<f64> = seconds.collect();
        let least = seconds_per_op.iter().scan(f64::INFINITY, |least, seconds| {
            *least = least.min(*seconds);
            Some(*least)
        });
        let least_seconds = least.collect();
        let able = pools.iter().zip(&seconds_per_op).filter(|(_, seconds)| seconds.is_finite());
        let prices = able.map(|(pool, _)| pool.price).filter(|price| *price > 0.0);
        let cheapest = prices.fold(f64::INFINITY, f64::min);
        let demand = grid.classes().demand(class);
        let mut kind = Self {
            class,
            cores: demand.needs.cores as usize,
            priority: demand.priority,
            conditions: 0,
            front: Place::FIRST,
            picked: Vec::new(),
            ops: shelf.ops(),
            shelf,
            aside: Vec::new(),
            span: None,
            bids: Vec::new(),
            awake: Awake::stale(),
            pieces: Pieces::default(),
            seconds_per_op,
            least_seconds,
            cheapest,
            longest: vec![f64::INFINITY; pools.len()],
        };
        kind.measure();
        (0..pools.len()).for_each(|number| kind.hear(number, &pools[number]));
        kind
    }

    /// Takes in what a pool offers now.
    pub(super) fn hear(&mut self, number: usize, pool: &Pool) {
        let seconds = self.seconds_per_op[number];
        if !seconds.is_finite() {
            return;
        }
        self.pieces.hear(number);
        let longest = self.longest[number];
        let is_cheapest = pool.price > 0.0 && pool.price <= self.cheapest;
        let bids = pool.offers().iter().map(|offer| {
            let terms = Terms { price: pool.price, ready_s: offer.ready_s, is_cheapest };
            let losses_per_s = pool.losses_per_s;
            Bid { pool: number, terms, seconds, several: offer.several, longest, losses_per_s }
        });
        let before = self.numbers_of(number);
        if before.len() == bids.len() {
            self.bids[before.clone()].iter_mut().zip(bids).for_each(|(before, bid)| *before = bid);
            before.for_each(|number| self.awake.changed(number));
        } else {
            self.bids.splice(before, bids);
            self.awake.renumbered();
        }
    }

    /// The numbers of what a pool offers.
    fn numbers_of(&self, pool: usize) -> Range<usize> {
        let from = self.bids.partition_point(|bid| bid.pool < pool);
        let count = self.bids[from..].iter().take_while(|bid| bid.pool == pool).count();
        from..from + count
    }

    /// What a pool offers.
    pub(super) fn bids_of(&self, pool: usize) -> &[Bid] {
        &self.bids[self.numbers_of(pool)]
    }

    /// The offers that any of the tasks left may take, as far as is known, with their numbers; the dearest first.
    #[inline]
    pub(super) fn awake(&self) -> impl Iterator<Item = (usize, &Bid)> {
        self.awake.numbers().iter().rev().map(|&number| (number, &self.bids[number]))
    }

    /// Those that no task left may take, if that is known rightly.
    pub(super) fn asleep(&self) -> impl Iterator<Item = &Bid> {
        let numbers =
            (0..self.bids.len()).filter(|number| self.awake.numbers().binary_search(number).is_err());
        numbers.map(|number| &self.bids[number])
    }

    /// Looks again at what may be taken now.
    #[inline]
    pub(super) fn rouse(&mut self, conditions: Option<&Conditions>) {
        self.awake.rouse(self.bids.len(), conditions);
    }

    /// None of the tasks left may take that offer: it is not looked at until one may.
    pub(super) fn sleep(&mut self, number: usize, conditions: &Conditions) {
        let (Some((shortest, longest)), bid) = (self.lengths(), self.bids[number]) else { return };
        let until = if shortest > bid.longest {
            Some(Waking::NEVER)
        } else {
            conditions.waking((shortest, longest.min(bid.longest)), bid.terms)
        };
        if let Some(until) = until {
            self.awake.sleeps(number, until);
        }
    }

    /// Longer tasks do not go to a pool in this batch.
    pub(super) fn hold_back(&mut self, number: usize, longest: f64) {
        self.longest[number] = longest;
        self.bids.iter_mut().filter(|bid| bid.pool == number).for_each(|bid| bid.longest = longest);
        self.awake.renumbered();
    }

    /// The offers for which an operation costs no more than that, and the cheapest.
    #[inline]
    pub(super) fn bids_up_to(&self, dearest: f64) -> &[Bid] {
        let dearest = dearest.max(self.cheapest);
        &self.bids[..self.bids.partition_point(|bid| bid.terms.price <= dearest)]
    }

    /// How long a task of that length takes on the machines of a pool.
    pub(super) fn seconds(&self, length: f64, pool: usize) -> f64 {
        length * self.seconds_per_op[pool]
    }

    /// Seconds from now until a task of that length is done at the earliest by the pool of a bid, or one that is cheaper.
    #[inline]
    pub(super) fn least_end(&self, length: f64, bid: &Bid) -> f64 {
        length * self.least_seconds[bid.pool]
    }

    /// How many there are before anything is taken. Costs O(blocks).
    pub(super) fn count(&self) -> usize {
        self.shelf.count()
    }

    /// Those that were not taken, the shortest first, those that are aside too.
    fn tasks(&self) -> impl Iterator<Item = Waiting> + '_ {
        let first = self.shelf.at(self.front);
        self.shelf.tasks().skip_while(move |task| Some(*task) != first)
    }

    /// How long they are together, those that are aside too.
    pub(super) fn ops(&self) -> OpsTotal {
        self.ops
    }

    /// The shortest and the longest task left.
    #[inline]
    pub(super) fn span(&self) -> Option<(Waiting, Waiting)> {
        self.span
    }

    /// How long these are.
    #[inline]
    pub(super) fn lengths(&self) -> Option<(f64, f64)> {
        self.span.map(|(shortest, longest)| (shortest.length.amount(), longest.length.amount()))
    }

    /// A task is no longer one of those left.
    pub(super) fn take(&mut self, task: Waiting) {
        self.pieces.take(task);
        self.ops -= task.length.into();
        if self.shelf.at(self.front) == Some(task) {
            self.front = self.shelf.next(self.front);
        } else {
            let was_there = self.shelf.remove(task);
            debug_assert!(was_there, "{} is left", task.id);
            self.picked.push(task);
        }
        let Some((shortest, longest)) = self.span else { return };
        // Mostly it was one of these two, and the other is the same as before.
        let shortest = if shortest == task { self.at_or_after(task.size()) } else { Some(shortest) };
        let longest = if longest == task { self.before(task.size().next()) } else { Some(longest) };
        self.span = shortest.zip(longest);
    }

    /// The shelf is as it was.
    pub(super) fn put_back(self) {
        self.picked.into_iter().for_each(|task| self.shelf.insert(task));
    }

    /// All of these sizes are no longer among those left; how many that are.
    pub(super) fn set_aside(&mut self, (first, last): (Size, Size)) -> usize {
        let (mut from, mut count) = (first, 0);
        while let Some(task) = self.at_or_after(from).filter(|task| task.size() <= last) {
            // Up to what is aside already.
            let next = self.aside.iter().map(|aside| aside.0).filter(|first| *first > task.size()).min();
            let until = next.map_or(last, |next| next.previous().min(last));
            count += self.shelf.count_between(self.place_of(task.size()), self.place_of(until.next()));
            self.aside.push((task.size(), until));
            from = until.next();
        }
        self.measure();
        count
    }

    fn measure(&mut self) {
        self.span = self.at_or_after(Size::LEAST).zip(self.before(Size::BEYOND));
    }

    /// The first task left of that size or larger.
    #[inline]
    pub(super) fn at_or_after(&self, size: Size) -> Option<Waiting> {
        let mut place = self.place_of(size);
        loop {
            let task = self.shelf.at(place)?;
            match self.aside_with(task.size()) {
                None => return Some(task),
                Some((_, last)) => place = self.place_of(last.next()),
            }
        }
    }

    /// The last task left that is smaller.
    pub(super) fn before(&self, mut size: Size) -> Option<Waiting> {
        loop {
            let place = self.place_of(size);
            if place == self.front {
                return None;
            }
            let task = self.shelf.at(self.shelf.previous(place))?;
            match self.aside_with(task.size()) {
                None => return Some(task),
                Some((first, _)) => size = first,
            }
        }
    }

    /// The lowest of these sizes, none of which is aside, and some of which there is.
    pub(super) fn lowest_of(&self, (first, last): (Size, Size)) -> Waiting {
        let lowest = self.shelf.lowest_between(self.place_of(first), self.place_of(last.next()), None);
        lowest.expect("a task of these sizes")
    }

    /// The place of the first of that size or larger that was not taken, aside or not.
    #[inline]
    fn place_of(&self, size: Size) -> Place {
        let is_smaller = |place| self.shelf.at(place).is_some_and(|task| task.size() < size);
        if !is_smaller(self.front) {
            return self.front;
        }
        // What is asked for mostly is the second.
        let second = self.shelf.next(self.front);
        if is_smaller(second) { self.shelf.place_of(size) } else { second }
    }

    /// The stretches that are aside, as far as anything is.
    pub(super) fn asides(&self) -> &[(Size, Size)] {
        &self.aside
    }

    fn aside_with(&self, size: Size) -> Option<(Size, Size)> {
        self.aside.iter().copied().find(|&(first, last)| first <= size && size <= last)
    }
}

/// So many of the tasks that have no place and whose kinds count, those that were submitted first, in that order, with their kinds.
pub(super) fn oldest(
    kinds: &[Kind<'_>],
    count: usize,
    counts: impl Fn(&Kind<'_>) -> bool,
) -> Vec<(usize, Waiting)> {
    if count == 0 {
        return Vec::new();
    }
    let numbered = kinds.iter().enumerate().filter(|&(_, tasks)| counts(tasks));
    let all = numbered.flat_map(|(kind, tasks)| tasks.tasks().map(move |task| (kind, task)));
    let mut all: Vec<(usize, Waiting)> = all.collect();
    let age = |&(_, task): &(usize, Waiting)| task.id;
    if count < all.len() {
        all.select_nth_unstable_by_key(count, age);
        all.truncate(count);
    }
    all.sort_unstable_by_key(age);
    all
}
