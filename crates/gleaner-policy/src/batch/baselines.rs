//! Where the immediate baselines put a task: MET, OLB and KPB. (MCT is the earliest end, as for all heuristics.)

use super::Batch;
use super::bid::Bid;
use super::kinds::Kind;
use super::target::{Target, highest_tie};
use crate::parts::staying::weighed;

/// A machine that could do a task, in which time.
struct Able {
    seconds: f64,
    ready_s: f64,
    target: Target,
}

impl Batch<'_> {
    /// The lowest of the machines that are fastest for a task. Costs O(machines that are as fast).
    pub(super) fn fastest(&self, kind: usize, length: f64) -> Option<Target> {
        let tasks = &self.kinds[kind];
        let limit = highest_tie(self.least(tasks, length, |bid| bid.seconds));
        let fastest = self.allowed(tasks, length).filter(|bid| bid.seconds <= limit);
        let targets = fastest.filter_map(|bid| {
            let place =
                self.pools[bid.pool].lowest(|ready_s| self.allows(tasks, length, &bid.at(ready_s)))?;
            Some(Target { pool: bid.pool, place })
        });
        targets.min_by_key(|target| target.place.rank())
    }

    /// The lowest of the machines that are free first.
    pub(super) fn first_free(&self, kind: usize, length: f64) -> Option<Target> {
        let tasks = &self.kinds[kind];
        let limit = highest_tie(self.least(tasks, length, |bid| bid.terms.ready_s));
        let ties = |bid: &Bid| bid.terms.ready_s <= limit && self.allows(tasks, length, bid);
        let first = tasks.bids.iter().filter(|bid| ties(bid));
        first.map(|bid| self.lowest_tied(bid, ties)).min_by_key(|target| target.place.rank())
    }

    /// Of so many per cent of the machines that are allowed, those that are fastest for a task, the lowest of those that are done first.
    /// Costs O(machines·log machines).
    pub(super) fn earliest_of_fastest(&self, kind: usize, length: f64, percent: f64) -> Option<Target> {
        let tasks = &self.kinds[kind];
        let mut fastest = self.fastest_first(tasks, length);
        let is_allowed = |able: &Able| {
            let mut bids = tasks.bids.iter().filter(|bid| bid.pool == able.target.pool);
            bids.next().is_some_and(|bid| self.allows(tasks, length, &bid.at(able.ready_s)))
        };
        fastest.retain(is_allowed);
        let count = (percent * fastest.len() as f64 / 100.0).floor() as usize;
        fastest.truncate(count.max(1));
        let losses_per_s = |able: &Able| self.pools[able.target.pool].losses_per_s;
        let end = |able: &Able| weighed(able.ready_s + able.seconds, losses_per_s(able));
        let limit = highest_tie(fastest.iter().map(end).fold(f64::INFINITY, f64::min));
        let tied = fastest.into_iter().filter(|able| end(able) <= limit).map(|able| able.target);
        tied.min_by_key(|target| target.place.rank())
    }

    /// All machines that could do a task, the fastest first; of those that tie, the lowest first.
    fn fastest_first(&self, tasks: &Kind<'_>, length: f64) -> Vec<Able> {
        let able = self.pools.iter().enumerate().flat_map(|(number, pool)| {
            let seconds = tasks.seconds(length, number);
            let places = pool.places().filter(move |_| seconds.is_finite());
            places.map(move |(ready_s, place)| Able {
                seconds,
                ready_s,
                target: Target { pool: number, place },
            })
        });
        let mut able: Vec<Able> = able.collect();
        able.sort_unstable_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let mut from = 0;
        while let Some(first) = able.get(from) {
            let limit = highest_tie(first.seconds);
            let to = from + able[from..].partition_point(|able| able.seconds <= limit);
            able[from..to].sort_unstable_by_key(|able| able.target.place.rank());
            from = to;
        }
        able
    }

    fn allowed<'b>(&'b self, tasks: &'b Kind<'_>, length: f64) -> impl Iterator<Item = &'b Bid> {
        tasks.bids.iter().filter(move |bid| self.allows(tasks, length, bid))
    }

    fn least(&self, tasks: &Kind<'_>, length: f64, of: impl Fn(&Bid) -> f64) -> f64 {
        self.allowed(tasks, length).map(of).fold(f64::INFINITY, f64::min)
    }
}
