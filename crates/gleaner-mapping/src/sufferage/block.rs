//! Tasks in blocks: what each of some tasks would suffer is kept together.

use super::bounds::{BestTwo, Bounds};
use crate::Matrix;
use crate::scan::LANES;
use crate::sorting::sort_into;
use fearless_simd::Simd;

/// What some tasks would suffer, kept up to date as machines become busier.
pub(super) trait Block: Sized {
    /// How many tasks are in a block at most.
    const TASKS: usize;

    /// There is a task, and at least two machines.
    fn new<S: Simd>(simd: S, matrix: &Matrix, ready: &[f64], tasks: &[u32]) -> Self;

    fn bounds(&self) -> &Bounds;

    fn bounds_mut(&mut self) -> &mut Bounds;

    /// Brings the bounds up to date after `machine` became busier.
    fn delay<S: Simd>(&mut self, simd: S, machine: usize, ready: &[f64]);

    /// Whether a task's bound could be far too large.
    fn is_loose(&self, at: usize) -> bool;

    /// Sees to it that the bounds of tasks whose second ends are at most `limit` are not loose.
    fn tighten<S: Simd>(&mut self, simd: S, matrix: &Matrix, ready: &[f64], limit: f64);

    /// The best two ends of a task whose bound is not loose and whose times are `row`, exactly.
    fn best_two<S: Simd>(&self, simd: S, at: usize, ready: &[f64], row: &[f64]) -> BestTwo;
}

/// Sorts tasks by total time, so that those in a block are of a size.
pub(super) fn by_total(matrix: &Matrix, tasks: &[u32]) -> Vec<u32> {
    let totals: Vec<u64> = tasks.iter().map(|task| total(matrix.row(*task as usize)).to_bits()).collect();
    let mut order = Vec::with_capacity(totals.len());
    sort_into(&totals, &mut order);
    order.into_iter().map(|at| tasks[at as usize]).collect()
}

fn total(row: &[f64]) -> f64 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    lanes.iter().chain(rest).sum()
}
