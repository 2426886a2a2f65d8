//! Good prices for instances too large for the linear program: raised where too many tasks would go.

use super::worth::{cheapest, worth};
use crate::Matrix;

/// By what part of themselves prices change at most in the first round.
const FIRST_STEP: f64 = 0.1;
/// How many times are looked at in all.
const LOOKS_MAX: usize = 1 << 32;

/// Prices inverse to the machines' total times: the best where machines differ in speed alone.
pub(super) fn inverse_totals(matrix: &Matrix) -> Vec<f64> {
    totals(matrix).into_iter().map(|total| 1.0 / total.max(f64::MIN_POSITIVE)).collect()
}

/// The best of all prices met in so many rounds from `prices` on.
pub(super) fn adjusted(matrix: &Matrix, mut prices: Vec<f64>, rounds: usize) -> Vec<f64> {
    normalise(&mut prices);
    let (mut best, mut best_worth) = (prices.clone(), worth(matrix, &prices));
    let rounds = rounds.min(LOOKS_MAX / (2 * matrix.tasks() * matrix.machines())).max(1);
    for round in 0..rounds {
        let step = FIRST_STEP / (1.0 + round as f64).sqrt();
        adjust(matrix, &mut prices, step);
        let now = worth(matrix, &prices);
        if now > best_worth {
            (best_worth, best) = (now, prices.clone());
        }
    }
    best
}

fn totals(matrix: &Matrix) -> Vec<f64> {
    let mut totals = vec![0.0; matrix.machines()];
    for row in matrix.rows() {
        totals.iter_mut().zip(row).for_each(|(total, time)| *total += time);
    }
    totals
}

/// Sends each task to where it is cheapest, and moves each price towards what its machine's share of the load asks
/// for, by at most the part `step` of itself.
fn adjust(matrix: &Matrix, prices: &mut [f64], step: f64) {
    let mut loads = vec![0.0; prices.len()];
    for row in matrix.rows() {
        let (machine, _) = cheapest(row, prices);
        loads[machine] += row[machine];
    }
    let worth: f64 = loads.iter().zip(&*prices).map(|(load, price)| load * price).sum();
    let even = worth.max(f64::MIN_POSITIVE);
    for (price, load) in prices.iter_mut().zip(loads) {
        *price *= 1.0 + step * (load / even - 1.0).clamp(-1.0, 1.0);
    }
    normalise(prices);
}

fn normalise(prices: &mut [f64]) {
    let most = prices.iter().copied().fold(0.0, f64::max);
    // Dividing by the largest first, so that the sum of very small ones is right too.
    let sum = prices.iter().map(|price| price / most).sum::<f64>();
    for price in prices {
        *price = *price / most / sum;
    }
}
