//! How early the last machine can be done at best, whoever maps: what a makespan is compared with.
//!
//! The larger of two bounds, for machines that are idle at the start:
//!
//! - **The longest task**: the time of some task on the machine that is fastest for it.
//! - **A linear program**: tasks may be divided among machines. min C where every task's shares add up to 1 and no
//!   machine is busy for longer than C.
//!
//! **The bound is proven by prices, not by a solver.** Give each machine a price λ ≥ 0 for a unit of its time, with
//! Σλ = 1. All machines' time until C is worth C in all, and a task is worth at least min λ·time; so C is at least
//! the sum of these minima, whatever the prices. The best prices are the program's dual solution and give its
//! optimum. [`Bound::value`] is that sum, added up again from the prices over all tasks and rounded down.
//!
//! Where prices come from, by the size of the instance:
//!
//! - t·w² ≤ [`DENSE_MAX`]: an interior-point method on the whole program (`interior`); the optimum to about ten
//!   digits. Fifteen to fifty iterations of O(t·w²) at most: some 5 ms for 512 × 16, ten seconds for 8,192 × 256.
//! - Otherwise, the same on every n-th task, so that it stays within that, where at least [`SAMPLE_MIN`] tasks a
//!   machine remain; then as below. The bound is proven on all tasks, and up to one per cent below the optimum.
//! - Otherwise, prices raised where too many tasks would go and lowered elsewhere (`prices`): O(t·w) a round, at
//!   most [`ROUNDS_MAX`] of them. Up to one per cent below the optimum in what was measured.
//!
//! Deterministic: arithmetic is + − × ÷ √ only, and limits are counted in operations, never in seconds.

mod cholesky;
mod interior;
mod prices;

use crate::Matrix;

/// How much t·w² may be for the whole program to be solved.
pub const DENSE_MAX: usize = 1 << 30;
/// How many tasks a machine a sample has at least.
pub const SAMPLE_MIN: usize = 4;
/// How often simple prices are adjusted at most.
pub const ROUNDS_MAX: usize = 300;

/// More than the relative error of a worth: that of a product, of a compensated sum and of a quotient.
const ROUND_OFF: f64 = 1e-12;

/// Which of the two bounds is the larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoundBy {
    /// The linear program: capacity is what is short.
    LinearProgram,
    /// One task alone.
    LongestTask,
}

/// No mapping's makespan is less, and what shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bound {
    /// The bound.
    pub value: f64,
    /// What gave it.
    pub by: BoundBy,
    /// The machines' prices; they add up to 1.
    pub prices: Vec<f64>,
    /// For each task the machine that has the largest share of it in the program's solution, or where that is not
    /// known the one that is cheapest by the prices.
    pub rounded: Vec<u32>,
}

impl Bound {
    /// The bound of an instance.
    pub fn of(matrix: &Matrix) -> Self {
        let (prices, rounded) = priced(matrix, DENSE_MAX);
        let priced = worth(matrix, &prices);
        let longest = matrix.rows().map(crate::scan::least).fold(0.0, f64::max);
        let (value, by) =
            if priced > longest { (priced, BoundBy::LinearProgram) } else { (longest, BoundBy::LongestTask) };
        Self { value, by, prices, rounded }
    }

    /// By how much of the bound a makespan is above it; none if the bound is 0 and the makespan is not.
    pub fn gap(&self, makespan: f64) -> Option<f64> {
        if makespan <= self.value { Some(0.0) } else { Some(makespan / self.value - 1.0) }
            .filter(|gap| gap.is_finite())
    }
}

/// What all tasks are worth at least: a lower bound of every makespan, if the prices are 0 or more.
///
/// # Panics
/// If there is not a price from 0 on for each machine, or if all are 0.
pub fn worth(matrix: &Matrix, prices: &[f64]) -> f64 {
    assert_eq!(prices.len(), matrix.machines(), "a price for every machine");
    let sum = sum_of(prices.iter().copied());
    assert!(sum > 0.0 && prices.iter().all(|price| *price >= 0.0), "prices from 0 on, not all 0");
    let worths = matrix.rows().map(|row| cheapest(row, prices).1);
    // The sum of the prices may be off by as much again.
    sum_of(worths) / sum * (1.0 - 2.0 * ROUND_OFF)
}

/// The machine that is cheapest for a task, the first of these, and what the task costs there.
fn cheapest(row: &[f64], prices: &[f64]) -> (usize, f64) {
    let costs = row.iter().zip(prices).map(|(time, price)| time * price).enumerate();
    costs.fold(
        (0, f64::INFINITY),
        |least, (machine, cost)| if cost < least.1 { (machine, cost) } else { least },
    )
}

/// A sum whose error does not grow with the number of terms: what is lost at each step is kept (Neumaier).
fn sum_of(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Prices, and a machine for each task, from programs of t·w² up to `dense_max`.
fn priced(matrix: &Matrix, dense_max: usize) -> (Vec<f64>, Vec<u32>) {
    let (tasks, machines) = (matrix.tasks(), matrix.machines());
    let tasks_max = dense_max / machines.saturating_mul(machines).max(1);
    if tasks <= tasks_max {
        return interior::solve(matrix);
    }
    let prices = if tasks_max >= SAMPLE_MIN * machines {
        let sampled = interior::solve(&every_nth(matrix, tasks.div_ceil(tasks_max))).0;
        prices::adjusted(matrix, sampled, ROUNDS_MAX)
    } else {
        prices::adjusted(matrix, prices::inverse_totals(matrix), ROUNDS_MAX)
    };
    let rounded = matrix.rows().map(|row| cheapest(row, &prices).0 as u32).collect();
    (prices, rounded)
}

fn every_nth(matrix: &Matrix, n: usize) -> Matrix {
    let times: Vec<f64> = matrix.rows().step_by(n).flatten().copied().collect();
    Matrix::new(times.len() / matrix.machines(), matrix.machines(), times).expect("rows of a matrix")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{consistent_matrix, random_matrix};

    #[test]
    fn larger_instances_get_prices_nearly_as_good() {
        for matrix in [random_matrix(600, 12, 1), consistent_matrix(600, 12, 1)] {
            let optimum = worth(&matrix, &priced(&matrix, DENSE_MAX).0);
            for (dense_max, least) in [(100 * 12 * 12, 0.99), (0, 0.99)] {
                let (prices, rounded) = priced(&matrix, dense_max);
                let part = worth(&matrix, &prices) / optimum;
                assert!(part >= least && part <= 1.0 + 1e-9, "{part} of the optimum with {dense_max}");
                assert_eq!(rounded.len(), 600);
            }
        }
    }

    #[test]
    fn sums_keep_what_small_terms_add() {
        let terms = [1e16, 1.0, 1.0, -1e16, 3.0];
        assert_eq!(sum_of(terms.into_iter()), 5.0);
    }
}
