//! What the work is worth at given prices, and when capacity has paid for it: the whole proof of the bound.
//!
//! A core-second of class T at a moment in interval i costs p(T, i). An operation of a task that arrived in interval
//! r takes h core-seconds at or after r, so it costs at least min over T and i ≥ r of h·p(T, i), wherever and
//! whenever a schedule does it. A schedule that ends at M spends no more than the price of all capacity up to M.
//! Hence M is at least the moment when that price reaches the work's worth.

use super::capacity::Capacity;
use super::instance::Instance;
use super::prices::Priced;
use super::work::Work;

/// No schedule ends before this; infinite if the prices prove that none ends at all. 0 or more, but it may be
/// before the last breakpoint, where it says nothing new.
///
/// Costs O(tasks + bags·classes + (breakpoints + changes)·classes), a bag being the tasks of one kind that arrive in
/// one interval.
pub(super) fn earliest_end(
    instance: &Instance<'_>,
    work: &Work,
    capacity: &Capacity,
    priced: &Priced,
) -> f64 {
    let mut owed = worth(instance, work, priced);
    for (at, pair) in priced.breakpoints.windows(2).enumerate() {
        let spent = priced.prices[at].iter().enumerate();
        owed -= spent.map(|(class, p)| p * capacity.between(class, pair[0], pair[1])).sum::<f64>();
    }
    let (Some(&last), Some(prices)) = (priced.breakpoints.last(), priced.prices.last()) else { return 0.0 };
    if owed <= 0.0 {
        return 0.0;
    }
    pay(owed, last, prices, capacity)
}

/// When capacity from `start` on, at these prices, has paid what is owed.
fn pay(mut owed: f64, mut start: f64, prices: &[f64], capacity: &Capacity) -> f64 {
    let changes = capacity.changes();
    let later = &changes[changes.partition_point(|&change| change <= start)..];
    let per_second = |at: f64| -> f64 {
        prices.iter().enumerate().map(|(class, p)| p * capacity.cores_at(class, at)).sum()
    };
    for &change in later {
        let rate = per_second(start);
        if owed <= rate * (change - start) {
            break;
        }
        owed -= rate * (change - start);
        start = change;
    }
    match per_second(start) {
        0.0 => f64::INFINITY,
        rate => start + owed / rate,
    }
}

fn worth(instance: &Instance<'_>, work: &Work, priced: &Priced) -> f64 {
    let from_here_on = cheapest_from(&priced.prices);
    let mut total = 0.0;
    let mut amounts = vec![0.0; instance.seconds_per_op.len()];
    let mut items = work.items();
    for (at, cheapest) in from_here_on.iter().enumerate() {
        let next = priced.breakpoints.get(at + 1).copied().unwrap_or(f64::INFINITY);
        let (here, rest) = items.split_at(items.partition_point(|item| item.arrival < next));
        items = rest;
        for item in here {
            amounts[item.kind] += item.area();
        }
        for item in here {
            let amount = std::mem::take(&mut amounts[item.kind]);
            if amount > 0.0 {
                total += amount * cost_per_op(&instance.seconds_per_op[item.kind], cheapest);
            }
        }
    }
    total
}

/// Each class's least price in each interval or any after it.
fn cheapest_from(prices: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut cheapest = prices.to_vec();
    for at in (1..cheapest.len()).rev() {
        let (before, after) = cheapest.split_at_mut(at);
        before[at - 1].iter_mut().zip(&after[0]).for_each(|(price, later)| *price = price.min(*later));
    }
    cheapest
}

fn cost_per_op(row: &[f64], cheapest: &[f64]) -> f64 {
    let runs = row.iter().zip(cheapest).filter(|(h, _)| h.is_finite());
    let cost = runs.map(|(h, price)| h * price).fold(f64::INFINITY, f64::min);
    // A kind that runs nowhere never gets here; 0 is valid whatever happens.
    if cost.is_finite() { cost } else { 0.0 }
}
