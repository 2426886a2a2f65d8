//! The tasks left to place, by class and in order of length, and what is offered to them.

use super::pool::Pool;
use crate::backlog::{Backlog, Shelf, Size, Waiting};
use crate::spending::Seat;
use gleaner_core::Grid;
use gleaner_units::{OpsTotal, TaskClassId};

/// The tasks left of one class.
pub(super) struct Kind<'a> {
    pub(super) class: TaskClassId,
    /// Which one pays.
    pub(super) purse: usize,
    shelf: &'a mut Shelf,
    /// The sizes of those that lie there still and are out of this batch: from the first to the last of each stretch.
    aside: Vec<(Size, Size)>,
    /// The shortest and the longest task.
    span: Option<(Waiting, Waiting)>,
    /// What the pools that could run them offer, in order of pool.
    pub(super) bids: Vec<Bid>,
    /// By pool; infinite where no machine could run them.
    seconds_per_op: Vec<f64>,
    /// The lowest price above 0 that pools ask which could.
    cheapest: f64,
}

/// An offer, as it is to the tasks of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub(super) pool: usize,
    pub(super) seat: Seat,
    /// For an operation.
    pub(super) seconds: f64,
    /// Whether another machine of the pool offers the same.
    pub(super) several: bool,
}

impl Bid {
    /// Seconds from now until a task of that length would be done.
    #[inline]
    pub(super) fn end(&self, length: f64) -> f64 {
        self.seat.ready_s + length * self.seconds
    }

    /// The same by a machine of the pool that is ready at another moment.
    #[inline]
    pub(super) fn at(self, ready_s: f64) -> Self {
        Self { seat: Seat { ready_s, ..self.seat }, ..self }
    }
}

/// All kinds of tasks that have no place.
pub(super) fn all<'a>(grid: &Grid, backlog: &'a mut Backlog, pools: &[Pool]) -> Vec<Kind<'a>> {
    backlog.shelves().map(|(class, shelf)| Kind::new(grid, class, shelf, pools)).collect()
}

impl<'a> Kind<'a> {
    fn new(grid: &Grid, class: TaskClassId, shelf: &'a mut Shelf, pools: &[Pool]) -> Self {
        let seconds = pools.iter().map(|pool| grid.classes().seconds_per_op(class, pool.class));
        let seconds_per_op: Vec<f64> = seconds.collect();
        let able = pools.iter().zip(&seconds_per_op).filter(|(_, seconds)| seconds.is_finite());
        let prices = able.map(|(pool, _)| pool.price).filter(|price| *price > 0.0);
        let cheapest = prices.fold(f64::INFINITY, f64::min);
        let mut kind = Self {
            class,
            purse: 0,
            shelf,
            aside: Vec::new(),
            span: None,
            bids: Vec::new(),
            seconds_per_op,
            cheapest,
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
        let is_cheapest = pool.price > 0.0 && pool.price <= self.cheapest;
        let bids = pool.offers().iter().map(|offer| {
            let seat = Seat { price: pool.price, ready_s: offer.ready_s, is_cheapest };
            Bid { pool: number, seat, seconds, several: offer.several }
        });
        let from = self.bids.partition_point(|bid| bid.pool < number);
        let count = self.bids[from..].iter().take_while(|bid| bid.pool == number).count();
        self.bids.splice(from..from + count, bids);
    }

    /// How long a task of that length takes on the machines of a pool.
    pub(super) fn seconds(&self, length: f64, pool: usize) -> f64 {
        length * self.seconds_per_op[pool]
    }

    /// How many there are, and how long they are together, before anything is set aside.
    pub(super) fn sum(&self) -> (usize, OpsTotal) {
        (self.shelf.count(), self.shelf.ops())
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
        let was_there = self.shelf.remove(task);
        debug_assert!(was_there, "{} is left", task.id);
        let Some((shortest, longest)) = self.span else { return };
        // Mostly it was one of these two, and the other is the same as before.
        let shortest = if shortest == task { self.at_or_after(task.size()) } else { Some(shortest) };
        let longest = if longest == task { self.before(task.size().next()) } else { Some(longest) };
        self.span = shortest.zip(longest);
    }

    /// All of these sizes are no longer among those left; how many that are.
    pub(super) fn set_aside(&mut self, (first, last): (Size, Size)) -> usize {
        let (mut from, mut count) = (first, 0);
        while let Some(task) = self.at_or_after(from).filter(|task| task.size() <= last) {
            // Up to what is aside already.
            let next = self.aside.iter().map(|aside| aside.0).filter(|first| *first > task.size()).min();
            let until = next.map_or(last, |next| next.previous().min(last));
            count += self.shelf.count_of((task.size(), until));
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
    pub(super) fn at_or_after(&self, mut size: Size) -> Option<Waiting> {
        loop {
            let task = self.shelf.at_or_after(size)?;
            match self.aside_with(task.size()) {
                None => return Some(task),
                Some((_, last)) => size = last.next(),
            }
        }
    }

    /// The last task left that is smaller.
    pub(super) fn before(&self, mut size: Size) -> Option<Waiting> {
        loop {
            let task = self.shelf.before(size)?;
            match self.aside_with(task.size()) {
                None => return Some(task),
                Some((first, _)) => size = first,
            }
        }
    }

    /// The lowest of these sizes, none of which is aside, and some of which there is.
    pub(super) fn lowest_of(&self, sizes: (Size, Size)) -> Waiting {
        self.shelf.lowest_of(sizes).expect("a task of these sizes")
    }

    /// The stretches that are aside, as far as anything is.
    pub(super) fn asides(&self) -> &[(Size, Size)] {
        &self.aside
    }

    fn aside_with(&self, size: Size) -> Option<(Size, Size)> {
        self.aside.iter().copied().find(|&(first, last)| first <= size && size <= last)
    }
}

/// So many of the tasks that have no place, those that were submitted first, in that order, with their kinds.
pub(super) fn oldest(kinds: &[Kind<'_>], count: usize) -> Vec<(usize, Waiting)> {
    if count == 0 {
        return Vec::new();
    }
    let numbered = kinds.iter().enumerate();
    let all = numbered.flat_map(|(kind, tasks)| tasks.shelf.tasks().map(move |task| (kind, task)));
    let mut all: Vec<(usize, Waiting)> = all.collect();
    let age = |&(_, task): &(usize, Waiting)| task.id;
    if count < all.len() {
        all.select_nth_unstable_by_key(count, age);
        all.truncate(count);
    }
    all.sort_unstable_by_key(age);
    all
}
