//! Sufferage where tasks are alike: where machines that are good for one task are good for most, as in a consistent
//! matrix. There most tasks share their best two machines, and a step changes those of hundreds of tasks.
//!
//! - **Blocks**: tasks of about the same total time, side by side, so that eight are compared at once, and only on the
//!   machines that can be among the best two of one of them ([`Block`]).
//! - **A step concerns a task** only if the machine that became busier was among its best two.
//! - Sufferages are exact at every moment, to the bit: rounded sums rise with what is added.
//!
//! Cost: O(t·w) to begin with and each time that half of the tasks are gone; in each step a test of every block; in those
//! that list the machine (most) one vectorised test for eight tasks, and for those eight of which it concerns one (every
//! second time) one comparison a machine on the list: some thirty of 256. These comparisons, of lists that for 8,192
//! tasks take two megabytes, are what takes longest. Memory: as much as the matrix again.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

mod block;

use self::block::{BLOCK, Block};
use crate::Matrix;
use crate::level::level;
use crate::mapping::{Building, Mapping, earliest};
use crate::scan::greater;
use crate::sorting::sort_into;
use fearless_simd::{Level, Simd, dispatch};
use gleaner_core::tie_threshold;

/// How many tasks show whether all are alike.
const SAMPLED: usize = 1024;
/// Tasks are alike if of so many machines no more than one has to be compared.
const ALIKE_ONE_IN: usize = 4;

/// Whether blocks pay, as one in the middle shows, of a sample of the tasks.
pub(crate) fn are_alike(matrix: &Matrix, ready: &[f64]) -> bool {
    let every = matrix.tasks().div_ceil(SAMPLED);
    let some: Vec<u32> = (0..matrix.tasks() as u32).step_by(every).collect();
    let sample = by_total(matrix, &some);
    let middle = sample.chunks(BLOCK).nth(sample.len().div_ceil(BLOCK) / 2).expect("there is a task");
    let block = dispatch!(level(), simd => Block::new(simd, matrix, ready, middle));
    block.listed.len() * ALIKE_ONE_IN <= matrix.machines()
}

/// Sorts tasks by total time.
fn by_total(matrix: &Matrix, tasks: &[u32]) -> Vec<u32> {
    let total = |task: &u32| matrix.row(*task as usize).iter().sum::<f64>().to_bits();
    let totals: Vec<u64> = tasks.iter().map(total).collect();
    let mut order = Vec::with_capacity(totals.len());
    sort_into(&totals, &mut order);
    order.into_iter().map(|at| tasks[at as usize]).collect()
}

/// Maps all tasks.
pub(crate) fn map(matrix: &Matrix, mut building: Building) -> Mapping {
    let all: Vec<u32> = (0..matrix.tasks() as u32).collect();
    let mut order = by_total(matrix, &all);
    while !order.is_empty() {
        let mut blocks = Blocks::new(matrix, &building.ready, &order);
        for _ in 0..order.len().div_ceil(2) {
            let task = blocks.take_next();
            let machine = earliest(&building.ready, matrix.row(task));
            let before = building.ready[machine];
            building.assign(task, machine, matrix.time(task, machine));
            blocks.delay(machine, before, &building.ready);
        }
        order.retain(|task| !building.is_assigned(*task as usize));
    }
    building.done()
}

struct Blocks {
    in_order: Vec<Block>,
    /// The largest sufferage when a task was last taken.
    largest: f64,
    /// Which vector instructions there are.
    level: Level,
}

impl Blocks {
    fn new(matrix: &Matrix, ready: &[f64], order: &[u32]) -> Self {
        let level = level();
        let block = |tasks| dispatch!(level, simd => Block::new(simd, matrix, ready, tasks));
        Self { in_order: order.chunks(BLOCK).map(block).collect(), largest: 0.0, level }
    }

    /// Takes the lowest of the tasks that suffer most.
    fn take_next(&mut self) -> usize {
        self.largest = self.in_order.iter().map(|block| block.largest).fold(f64::NEG_INFINITY, greater);
        let limit = tie_threshold(self.largest);
        let tied = self.in_order.iter_mut().filter(|block| block.largest >= limit);
        let lowest = tied.filter_map(|block| Some((block.lowest_within(limit)?, block)));
        let ((task, at), block) = lowest.min_by_key(|(lowest, _)| *lowest).expect("a task is left");
        block.remove(at);
        task as usize
    }

    /// After `machine`, which was free at `before`, became busier.
    fn delay(&mut self, machine: usize, before: f64, ready: &[f64]) {
        dispatch!(self.level, simd => self.delay_each(simd, machine, before, ready));
    }

    #[inline(always)]
    fn delay_each<S: Simd>(&mut self, simd: S, machine: usize, before: f64, ready: &[f64]) {
        for block in &mut self.in_order {
            // By about as much do ends rise until most machines became busier once: lists last as long.
            block.delay(simd, machine as u32, before, ready, self.largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
    use crate::{Heuristic, reference};

    fn few_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        let times = random_matrix(tasks, machines, seed)
            .rows()
            .flatten()
            .map(|time| (time % 3.0).floor() / 10.0)
            .collect();
        Matrix::new(tasks, machines, times).expect("a matrix")
    }

    /// Few times, the same order on all machines: as many ties as there can be, and machines that leave lists.
    fn few_rising_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        let few = few_times(tasks, machines, seed);
        let times = few
            .rows()
            .flat_map(|row| row.iter().zip(0..).map(|(time, machine)| time + f64::from(machine / 3)));
        Matrix::new(tasks, machines, times.collect()).expect("a matrix")
    }

    #[test]
    fn blocks_give_the_mapping_of_the_reference_where_they_pay_and_where_not() {
        let kinds: [fn(usize, usize, u64) -> Matrix; 5] =
            [random_matrix, consistent_matrix, semi_consistent_matrix, few_times, few_rising_times];
        let small = [(1, 1), (3, 1), (2, 2), (9, 2), (70, 2), (64, 8), (65, 9), (130, 17)];
        let cases = small.iter().flat_map(|shape| (0..40).map(move |seed| (*shape, seed)));
        for ((tasks, machines), seed) in cases.chain([((300, 40), 1), ((500, 70), 2)]) {
            for (kind, make) in kinds.iter().enumerate() {
                let matrix = make(tasks, machines, seed);
                // On every other seed, machines are busy at first.
                let busy = make(1, machines, seed + 1);
                let ready: Vec<f64> = busy.row(0).iter().map(|time| time * (seed % 2) as f64).collect();
                let mapping = map(&matrix, Building::new(tasks, &ready));
                let expected = reference::map_from(Heuristic::Sufferage, &matrix, &ready);
                assert_eq!(mapping, expected, "{tasks} × {machines}, kind {kind}, seed {seed}");
            }
        }
    }

    #[test]
    fn consistent_matrices_are_alike_and_others_are_not() {
        let alike = |matrix: &Matrix| are_alike(matrix, &vec![0.0; matrix.machines()]);
        assert!(alike(&consistent_matrix(1000, 64, 1)));
        assert!(!alike(&semi_consistent_matrix(1000, 64, 1)));
        assert!(!alike(&random_matrix(1000, 64, 1)));
    }
}
