//! Where a task goes: the machine that would be done with it first, or the cheapest that would be in time.

use super::Batch;
use super::bid::Bid;
use super::kinds::Kind;
use super::pool::Place;
use super::target::{Earliest, Target, highest_tie};
use crate::parts::aim::Aim;

impl Batch<'_> {
    /// Where the recipe's aim wants a task of that length.
    pub(super) fn aimed(&self, kind: usize, length: f64) -> Option<Target> {
        let in_time = match self.recipe.aim {
            Aim::Earliest => None,
            Aim::Cheapest => self.cheapest(kind, length),
            Aim::CheapestThenEarliest => self.earliest_of_cheapest(kind, length),
            Aim::Fastest => return self.fastest(kind, length),
            Aim::FirstFree => return self.first_free(kind, length),
            Aim::EarliestOfFastest { percent } => return self.earliest_of_fastest(kind, length, percent),
        };
        in_time.or_else(|| self.earliest(kind, length))
    }

    /// When a task of that length would be done at best.
    pub(super) fn earliest_end(&self, kind: usize, length: f64) -> Option<f64> {
        let (tasks, mut earliest) = (&self.kinds[kind], f64::INFINITY);
        for bid in self.within_means(tasks, (length, length)).iter().rev() {
            if tasks.least_end(length, bid) >= earliest {
                break;
            }
            let end = bid.end(length);
            if end < earliest && self.allows(tasks, length, bid) {
                earliest = end;
            }
        }
        (earliest < f64::INFINITY).then_some(earliest)
    }

    /// The machine that would be done first with a task of that length, among equals the lowest.
    pub(super) fn earliest(&self, kind: usize, length: f64) -> Option<Target> {
        let tasks = &self.kinds[kind];
        self.first_done(kind, length, |bid| self.allows(tasks, length, bid))
    }

    /// The lowest of the wanted machines whose end ties with the earliest of theirs.
    fn first_done(&self, kind: usize, length: f64, is_wanted: impl Fn(&Bid) -> bool) -> Option<Target> {
        let (tasks, mut first) = (&self.kinds[kind], Earliest::default());
        // The dearest are mostly the fastest: where these come first, few others do better.
        for bid in self.within_means(tasks, (length, length)).iter().rev() {
            if tasks.least_end(length, bid) > first.limit() {
                break;
            }
            let end = bid.end(length);
            if end <= first.limit() && is_wanted(bid) {
                first.add(end, bid);
            }
        }
        let limit = first.limit();
        let ties = |bid: &Bid| bid.end(length) <= limit && is_wanted(bid);
        first.tied().map(|bid| self.lowest_tied(bid, ties)).min_by_key(|target| target.place.rank())
    }

    /// Whether a task of that length may still go where it could, as long as the machine has not been given another.
    pub(super) fn still_allows(&self, kind: usize, length: f64, target: Target) -> bool {
        let tasks = &self.kinds[kind];
        let bid = tasks.bids.iter().find(|bid| bid.pool == target.pool).expect("a pool that made an offer");
        let bid = match target.place {
            Place::One(_, ready_s) => bid.at(ready_s),
            Place::Any(_) => *bid,
        };
        self.allows(tasks, length, &bid)
    }

    /// The same, where it is known that no other offer would end as early.
    pub(super) fn earliest_by(&self, kind: usize, length: f64, bid: &Bid) -> Target {
        let (tasks, limit) = (&self.kinds[kind], highest_tie(bid.end(length)));
        self.lowest_tied(bid, |bid| bid.end(length) <= limit && self.allows(tasks, length, bid))
    }

    /// The lowest machine of those that make an offer, or one like it that is ready little later and ties as well.
    pub(super) fn lowest_tied(&self, bid: &Bid, ties: impl Fn(&Bid) -> bool) -> Target {
        let place = self.pools[bid.pool].lowest_tied(bid.terms.ready_s, |ready_s| ties(&bid.at(ready_s)));
        Target { pool: bid.pool, place }
    }

    #[inline]
    fn is_in_time(&self, tasks: &Kind<'_>, length: f64, bid: &Bid) -> bool {
        bid.end(length) <= self.deadline_s && self.allows(tasks, length, bid)
    }

    /// The lowest price for which some machine would be done by the deadline; infinite if none would.
    fn lowest_price(&self, kind: usize, length: f64) -> f64 {
        let tasks = &self.kinds[kind];
        let in_time = tasks.bids.iter().filter(|bid| self.is_in_time(tasks, length, bid));
        in_time.map(|bid| bid.terms.price).fold(f64::INFINITY, f64::min)
    }

    /// Of the cheapest machines that would be done by the deadline the lowest. Costs O(machines that ask as much).
    fn cheapest(&self, kind: usize, length: f64) -> Option<Target> {
        let price = self.lowest_price(kind, length);
        let tasks = &self.kinds[kind];
        let bids = tasks.bids.iter().filter(|bid| bid.terms.price == price);
        let targets = bids.filter_map(|bid| {
            let in_time = |ready_s| self.is_in_time(tasks, length, &bid.at(ready_s));
            let place = self.pools[bid.pool].lowest(in_time)?;
            Some(Target { pool: bid.pool, place })
        });
        targets.min_by_key(|target| target.place.rank())
    }

    /// Of the cheapest machines that would be done by the deadline the one that is done first, among equals the
    /// lowest.
    fn earliest_of_cheapest(&self, kind: usize, length: f64) -> Option<Target> {
        let price = self.lowest_price(kind, length);
        let tasks = &self.kinds[kind];
        let is_wanted = |bid: &Bid| bid.terms.price == price && self.is_in_time(tasks, length, bid);
        self.first_done(kind, length, is_wanted)
    }
}
