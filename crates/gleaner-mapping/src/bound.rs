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
mod worth;

pub use worth::worth;

use crate::Matrix;
use worth::cheapest;

/// How much t·w² may be for the whole program to be solved.
pub const DENSE_MAX: usize = 1 << 30;
/// How many tasks a machine a sample has at least.
pub const SAMPLE_MIN: usize = 4;
/// How often simple prices are adjusted at most.
pub const ROUNDS_MAX: usize = 300;

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
}
