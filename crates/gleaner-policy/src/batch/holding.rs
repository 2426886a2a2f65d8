//! Holding tasks back: a machine can be so slow that the faster ones would have done all that runs and waits before it had
//! done one task.
//!
//! A task of length l is held back from a machine that takes h seconds for an operation where l·h > R + W/S + l·n/S: W is all
//! that runs, is planned or waits, S what the n cores that are faster do in a second, and R the time to the next batch. It
//! follows from what is there to do and from the machines, and so is **the same at every moment of a batch**.

use super::kinds::Kind;
use super::looks::Looks;
use super::pool::Pool;
use crate::spending::Conditions;

/// More than what is equal but for rounding differs by.
const ROUNDING: f64 = 1.0 + 1e-12;

/// All that there is to do.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    ops: f64,
    /// Of one task.
    longest: f64,
}

impl Work {
    fn add(&mut self, length: f64, left: f64) {
        self.ops += left;
        self.longest = self.longest.max(length);
    }
}

/// Tells each kind which tasks are too long for which pools, where all are held back from slow ones. A machine above the
/// batch's price, or on which the longest task would cost more than a recharge, is no reason to wait: nothing would come of it. Costs
/// O(machines + runs + kinds × pools·log pools).
pub(super) fn hold_back(
    looks: Looks<'_>,
    pools: &[Pool],
    (period_s, conditions_of_each): (f64, &[Conditions]),
    kinds: &mut [Kind<'_>],
) {
    let Looks { grid, open, .. } = looks;
    let work = work(looks, kinds);
    let cores: Vec<f64> = pools.iter().map(|pool| open.capacity(grid, pool.class)).collect();
    for tasks in kinds {
        let conditions = conditions_of_each.get(tasks.conditions);
        let dearest = conditions.map_or(f64::INFINITY, |conditions| conditions.surely_pays(work.longest));
        let able = (0..pools.len()).filter(|number| tasks.seconds(1.0, *number).is_finite());
        let mut able: Vec<(f64, usize)> = able.map(|number| (tasks.seconds(1.0, number), number)).collect();
        able.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (mut ops_per_second, mut faster, mut from) = (0.0, 0.0, 0);
        for (place, &(seconds, number)) in able.iter().enumerate() {
            while able[from].0 < seconds {
                let (seconds, number) = able[from];
                if pools[number].price <= dearest {
                    ops_per_second += cores[number] / seconds;
                    faster += cores[number];
                }
                from += 1;
            }
            debug_assert!(from <= place, "only those that are faster");
            if ops_per_second > 0.0 {
                let longest = (period_s * ops_per_second + work.ops) / (seconds * ops_per_second - faster);
                tasks.hold_back(number, longest * ROUNDING);
            }
        }
    }
}

/// What runs on open machines, is planned or waits, as far as its length is known.
fn work(Looks { grid, now, open, forecast }: Looks<'_>, kinds: &[Kind<'_>]) -> Work {
    let mut work = Work::default();
    for tasks in kinds {
        work.add(tasks.lengths().map_or(0.0, |(_, longest)| longest), tasks.ops().amount());
    }
    for task in grid.plans().queues().flat_map(|queue| grid.plans().ranked(queue)) {
        if let Some(length) = forecast.known(grid, task) {
            work.add(length.amount(), length.amount());
        }
    }
    for (_, members) in open.classes() {
        for run in members.busy.iter().flat_map(|id| grid.machine(*id).runs()) {
            let left = |length: f64| (length - grid.ops_done(now, run)).max(0.0);
            if let Some(length) = forecast.expected(grid, now, run) {
                work.add(length.amount(), left(length.amount()));
            }
        }
    }
    work
}
