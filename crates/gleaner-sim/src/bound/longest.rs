//! Each task alone: at each moment on the machine that then does most of it, min(1, c·(1−λ))/h.

use super::capacity::Capacity;
use super::instance::Instance;
use super::work::{Item, Work};

/// Above this many steps, classes and kinds, multiplied, owners count only by the least they ever take.
const CELLS_MAX: usize = 20_000_000;

/// A kind's best rate from `start` on, and what it has done since time 0.
struct Rate {
    start: f64,
    ops_per_s: f64,
    done: f64,
}

/// The latest of the tasks' earliest ends; `None` if one of them never ends.
pub(super) fn longest_task(instance: &Instance<'_>, work: &Work, capacity: &Capacity) -> Option<f64> {
    let kinds = instance.seconds_per_op.len();
    let cells = (capacity.changes().len() + 1).saturating_mul(capacity.classes()).saturating_mul(kinds);
    let rates: Vec<Vec<Rate>> = if cells <= CELLS_MAX {
        instance.seconds_per_op.iter().map(|row| rates_over_time(row, capacity)).collect()
    } else {
        instance.seconds_per_op.iter().map(|row| rate_at_best(row, capacity)).collect()
    };
    let mut latest = 0.0_f64;
    for item in work.items() {
        latest = latest.max(end_alone(item, &rates[item.kind])?);
    }
    Some(latest)
}

fn rates_over_time(row: &[f64], capacity: &Capacity) -> Vec<Rate> {
    let best_at = |at| best_rate(row, |class| capacity.best_share_at(class, at));
    let mut rates = vec![Rate { start: 0.0, ops_per_s: best_at(0.0), done: 0.0 }];
    for &start in capacity.changes() {
        let last = rates.last().expect("the first starts at 0");
        let (ops_per_s, done) = (best_at(start), last.done + last.ops_per_s * (start - last.start));
        if ops_per_s != last.ops_per_s {
            rates.push(Rate { start, ops_per_s, done });
        }
    }
    rates
}

fn rate_at_best(row: &[f64], capacity: &Capacity) -> Vec<Rate> {
    let ops_per_s = best_rate(row, |class| capacity.best_share_ever(class));
    vec![Rate { start: 0.0, ops_per_s, done: 0.0 }]
}

fn best_rate(row: &[f64], share: impl Fn(usize) -> f64) -> f64 {
    let rate = |(class, &h): (usize, &f64)| match share(class) {
        // Keeps 0/0 out where an operation takes no time.
        0.0 => 0.0,
        share => share / h,
    };
    row.iter().enumerate().map(rate).fold(0.0, f64::max)
}

fn end_alone(item: &Item, rates: &[Rate]) -> Option<f64> {
    if item.amount == 0.0 {
        return Some(item.arrival);
    }
    let at = rates.partition_point(|rate| rate.start <= item.arrival) - 1;
    let before = rates[at].done + rates[at].ops_per_s * (item.arrival - rates[at].start);
    let goal = before + item.amount;
    // The last step that starts before the goal is reached; a goal met exactly belongs to the step before.
    let last = &rates[rates.partition_point(|rate| rate.done < goal).max(at + 1) - 1];
    (last.ops_per_s > 0.0).then(|| (last.start + (goal - last.done) / last.ops_per_s).max(item.arrival))
}
