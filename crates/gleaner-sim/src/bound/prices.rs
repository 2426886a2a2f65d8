//! Good prices: the dual of the linear program, in the crate `microlp`, which gives no duals of the primal.
//!
//! A class's price need never fall from one interval to the next (what is cheaper later is also cheap enough now),
//! so one row for each class, kind and arrival interval is enough. Classes, then kinds, are scaled by their least time
//! per operation: coefficients lie near 1, and what differs by a factor only shares a group at no loss.

use super::capacity::Capacity;
use super::grouping::{group, means, shapes};
use super::instance::{BREAKPOINTS_MAX, CLASSES_MAX, Instance, KINDS_MAX, ROWS_MAX};
use super::work::Work;
use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, Variable};
use std::collections::BTreeMap;

/// How many of the breakpoints are load changes when there are too many of both.
const CHANGES_AMONG_BREAKPOINTS: usize = 4;
/// A class that is poorer than this share of its cores at the end of the view, but may recover, counts as this.
const LEAST_SHARE: f64 = 1e-3;
/// Slower than the best by more than this is as good as never.
const RATIO_MAX: f64 = 1e4;
/// With no fewer breakpoints than this it is the kinds that become coarser.
const BREAKPOINTS_LEAST: usize = 4;

/// A price for a core-second of each class from each breakpoint on.
#[derive(Debug)]
pub(super) struct Priced {
    /// In order; nothing arrives before the first.
    pub(super) breakpoints: Vec<f64>,
    /// One row a breakpoint, one column a class; finite, 0 or more.
    pub(super) prices: Vec<Vec<f64>>,
}

impl Priced {
    /// All alike: each operation is worth its time on its best class.
    pub(super) fn even(first: f64, classes: usize) -> Self {
        Self { breakpoints: vec![first], prices: vec![vec![1.0; classes]] }
    }
}

/// The classes of machines that the linear program sees.
struct Pools {
    of_class: Vec<usize>,
    /// What a class's core-second counts in its pool, whose unit is the work of one operation.
    weights: Vec<f64>,
    /// One row a kind, one column a pool.
    table: Vec<Vec<f64>>,
    count: usize,
}

/// What the linear program sees.
struct Model<'a> {
    pools: &'a Pools,
    breakpoints: Vec<f64>,
    bags: Vec<Bag>,
    /// What each pool can do in each interval but the last.
    capacity: Vec<Vec<f64>>,
    /// What each pool does a second from the last breakpoint on.
    rates: Vec<f64>,
}

/// The work of one group of kinds that arrives in one interval.
struct Bag {
    interval: usize,
    /// In the pools' unit, on its best pool.
    amount: f64,
    /// Each pool's need over the best pool's, infinite where the kinds cannot run.
    ratios: Vec<f64>,
}

/// What the linear program said.
pub(super) enum Answer {
    Prices(Priced),
    /// The work never ends: what is left of it needs classes whose owners stay for good.
    NoEnd,
    /// The solver gave up.
    Unknown,
}

/// Prices with the breakpoints up to `view` in sight.
pub(super) fn find(instance: &Instance<'_>, work: &Work, capacity: &Capacity, view: f64) -> Answer {
    let pools = Pools::of(instance, capacity.classes());
    let model = Model::of(&pools, work, capacity, view);
    match model.solve() {
        Ok(by_pool) => {
            let prices = by_pool.iter().map(|row| pools.per_core_second(row)).collect();
            Answer::Prices(Priced { breakpoints: model.breakpoints, prices })
        }
        Err(Error::Unbounded) => Answer::NoEnd,
        Err(_) => Answer::Unknown,
    }
}

impl Pools {
    fn of(instance: &Instance<'_>, classes: usize) -> Self {
        let column = |class: usize| instance.seconds_per_op.iter().map(|row| row[class]).collect();
        let (columns, scales) = shapes((0..classes).map(column).collect());
        let of_class = group(&columns, CLASSES_MAX);
        let by_pool = means(&columns, &of_class);
        let row = |kind: usize| by_pool.iter().map(|column| column[kind]).collect();
        let table = (0..instance.seconds_per_op.len()).map(row).collect();
        let weights = scales.iter().map(|scale| 1.0 / scale).collect();
        Self { of_class, weights, table, count: by_pool.len() }
    }

    fn sum(&self, of_class: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for (class, (&pool, weight)) in self.of_class.iter().zip(&self.weights).enumerate() {
            sums[pool] += weight * of_class(class);
        }
        sums
    }

    fn per_core_second(&self, by_pool: &[f64]) -> Vec<f64> {
        self.of_class.iter().zip(&self.weights).map(|(&pool, weight)| weight * by_pool[pool]).collect()
    }
}

impl<'a> Model<'a> {
    /// As fine as the limits let it be.
    fn of(pools: &'a Pools, work: &Work, capacity: &Capacity, view: f64) -> Self {
        let (rows, scales) = shapes(pools.table.clone());
        let (mut kinds_max, mut breakpoints_max) = (KINDS_MAX, BREAKPOINTS_MAX);
        loop {
            let breakpoints = breakpoints(work, capacity, view, breakpoints_max);
            let bags = bags(&rows, &scales, work, &breakpoints, kinds_max);
            let lines = pools.count * (bags.len() + breakpoints.len());
            if lines <= ROWS_MAX || kinds_max == 1 {
                return Self::with(pools, capacity, breakpoints, bags);
            }
            if breakpoints_max > BREAKPOINTS_LEAST {
                breakpoints_max -= 2;
            } else {
                kinds_max = kinds_max * 3 / 4;
            }
        }
    }

    fn with(pools: &'a Pools, capacity: &Capacity, breakpoints: Vec<f64>, bags: Vec<Bag>) -> Self {
        let between = |pair: &[f64]| pools.sum(|class| capacity.between(class, pair[0], pair[1]));
        let last = *breakpoints.last().expect("there is an arrival");
        let may_change = capacity.changes_within(last, f64::INFINITY);
        let least_share = if may_change { LEAST_SHARE } else { 0.0 };
        let rates = pools.sum(|class| {
            capacity.cores_at(class, last).max(least_share * capacity.cores_without_owners(class))
        });
        Self { pools, capacity: breakpoints.windows(2).map(between).collect(), breakpoints, bags, rates }
    }

    /// One row of prices for each interval, one column a pool.
    fn solve(&self) -> Result<Vec<Vec<f64>>, Error> {
        let total: f64 = self.bags.iter().map(|bag| bag.amount).sum();
        let rate: f64 = self.rates.iter().sum();
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let prices = self.add_prices(&mut problem, total);
        for bag in &self.bags {
            let worth = problem.add_var(bag.amount / total, (0.0, f64::INFINITY));
            for (pool, ratio) in bag.ratios.iter().enumerate().filter(|(_, ratio)| ratio.is_finite()) {
                let price = prices[bag.interval][pool];
                let no_more = [(worth, 1.0), (price, -ratio.min(RATIO_MAX))];
                problem.add_constraint(no_more, ComparisonOp::Le, 0.0);
            }
        }
        if rate > 0.0 {
            let last = prices.last().expect("there is an arrival");
            let second = last.iter().zip(&self.rates).map(|(&price, own)| (price, own / rate));
            problem.add_constraint(second, ComparisonOp::Le, 1.0);
        }
        let solution = problem.solve()?.into_solution().map_err(|_| Error::InternalError(String::new()))?;
        let value = |&price: &Variable| solution.var_value(price).max(0.0);
        Ok(prices.iter().map(|row| row.iter().map(value).collect()).collect())
    }

    fn add_prices(&self, problem: &mut Problem, total: f64) -> Vec<Vec<Variable>> {
        let mut prices: Vec<Vec<Variable>> = Vec::with_capacity(self.breakpoints.len());
        for interval in 0..self.breakpoints.len() {
            let cost = |pool: usize| self.capacity.get(interval).map_or(0.0, |row| -row[pool] / total);
            let row: Vec<_> =
                (0..self.pools.count).map(|pool| problem.add_var(cost(pool), (0.0, f64::INFINITY))).collect();
            if let Some(before) = prices.last() {
                for (&earlier, &later) in before.iter().zip(&row) {
                    problem.add_constraint([(earlier, 1.0), (later, -1.0)], ComparisonOp::Le, 0.0);
                }
            }
            prices.push(row);
        }
        prices
    }
}

/// At most `most` of the arrivals and load changes up to `view`: always the first arrival and the last of all.
fn breakpoints(work: &Work, capacity: &Capacity, view: f64, most: usize) -> Vec<f64> {
    let first = work.first_arrival().expect("there is an arrival");
    let mut arrivals: Vec<f64> = work.items().iter().map(|item| item.arrival).collect();
    arrivals.truncate(arrivals.partition_point(|&arrival| arrival <= view));
    arrivals.dedup();
    let changes: Vec<f64> =
        capacity.changes().iter().copied().filter(|&change| first < change && change <= view).collect();
    let for_arrivals = most.saturating_sub(changes.len()).max(most.saturating_sub(CHANGES_AMONG_BREAKPOINTS));
    let mut chosen = spread(&arrivals, for_arrivals.max(2));
    let for_changes = most - chosen.len();
    chosen.extend(spread(&changes, for_changes));
    chosen.sort_by(f64::total_cmp);
    chosen.dedup();
    chosen
}

/// At most `most` of these, evenly by rank, the last among them, and the first if there is room for two.
fn spread(times: &[f64], most: usize) -> Vec<f64> {
    if times.len() <= most {
        return times.to_vec();
    }
    match most {
        0 => Vec::new(),
        1 => times.last().copied().into_iter().collect(),
        _ => (0..most).map(|at| times[at * (times.len() - 1) / (most - 1)]).collect(),
    }
}

fn bags(rows: &[Vec<f64>], scales: &[f64], work: &Work, breakpoints: &[f64], kinds_max: usize) -> Vec<Bag> {
    let group_of_kind = group(rows, kinds_max);
    let by_group = means(rows, &group_of_kind);
    let mut amounts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for item in work.items() {
        let interval = breakpoints.partition_point(|&breakpoint| breakpoint <= item.arrival) - 1;
        let amount = amounts.entry((interval, group_of_kind[item.kind])).or_default();
        *amount += item.area() * scales[item.kind];
    }
    let bag = |((interval, group), amount): ((usize, usize), f64)| {
        let best = by_group[group].iter().copied().fold(f64::INFINITY, f64::min);
        let ratios = by_group[group].iter().map(|need| need / best).collect();
        Bag { interval, amount: amount * best, ratios }
    };
    // Work that takes no time would have no ratios.
    amounts.into_iter().map(bag).filter(|bag| bag.amount > 0.0).collect()
}
