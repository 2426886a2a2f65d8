//! Sufferage, one task a step, on any matrix.
//!
//! A step makes one machine busier, and concerns all tasks that have it among their best two: a hundred a step where
//! tasks differ, hundreds where all like the same machines. To find the best two ends of so many again is what takes
//! longest. So that is done with **rough ends**: of 16 bits, rounded down, and thirty-two side by side ([`rough`]).
//!
//! - The best two rough ends of a task bound its sufferage from above ([`Bounds`]). **Only the few tasks whose bounds
//!   are among the largest are looked at exactly**, so rough ends show in the time that it takes, never in the mapping.
//! - Tasks stand in blocks. Where tasks are alike, a block compares all of its tasks on the same few machines
//!   ([`Lists`]); elsewhere each task looks at all machines ([`Rows`]).
//! - Tasks whose times are equal are one, which is left until the last of them has a machine.
//!
//! Cost: O(t·w) to begin with and each time that half of the tasks are gone; in each step a test of every task left, in
//! vectors, what its block takes for those that are concerned, and O(w) for each of the two or three looked at
//! exactly. Ties make these more. Memory: a half of the matrix, or a quarter where tasks are alike.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

mod block;
mod bounds;
mod lists;
mod rough;
mod rows;

use self::block::{Block, by_total};
use self::lists::Lists;
use self::rows::Rows;
use crate::Matrix;
use crate::level::level;
use crate::mapping::{Building, Mapping, earliest};
use crate::scan::{greater, two_least_sums};
use fearless_simd::{Simd, dispatch};
use gleaner_core::tie_threshold;

pub(crate) fn map(matrix: &Matrix, mut building: Building) -> Mapping {
    if matrix.machines() == 1 {
        for task in 0..matrix.tasks() {
            building.assign(task, 0, matrix.time(task, 0));
        }
        building.done()
    } else if lists::pay(matrix, &building.ready) {
        dispatch!(level(), simd => map_in_blocks::<_, Lists>(simd, matrix, building))
    } else {
        dispatch!(level(), simd => map_in_blocks::<_, Rows>(simd, matrix, building))
    }
}

#[inline(always)]
fn map_in_blocks<S: Simd, B: Block>(simd: S, matrix: &Matrix, mut building: Building) -> Mapping {
    let all: Vec<u32> = (0..matrix.tasks() as u32).collect();
    let (mut order, equals) = merge_equals(matrix, &by_total(matrix, &all));
    let mut blocks = Blocks::<B> { matrix, in_order: Vec::new(), largest: 0.0, places: Vec::new() };
    while !order.is_empty() {
        blocks.fill(simd, &building.ready, &order);
        let mut gone = 0;
        while 2 * gone < order.len() {
            let (block, at) = blocks.next(simd, &building.ready);
            let bounds = blocks.in_order[block].bounds_mut();
            let task = bounds.task(at) as usize;
            bounds.replace(simd, at, equals[task]);
            gone += usize::from(equals[task].is_none());
            let row = matrix.row(task);
            let machine = earliest(&building.ready, row);
            building.assign(task, machine, row[machine]);
            for block in &mut blocks.in_order {
                block.delay(simd, machine, &building.ready);
            }
        }
        order = blocks.in_order.iter().flat_map(|block| block.bounds().left()).collect();
    }
    building.done()
}

/// Keeps the first of neighbours whose times are equal, and says for each task which is the next equal one.
fn merge_equals(matrix: &Matrix, order: &[u32]) -> (Vec<u32>, Vec<Option<u32>>) {
    let mut kept = Vec::with_capacity(order.len());
    let mut equals = vec![None; matrix.tasks()];
    for neighbours in order.chunk_by(|one, next| matrix.row(*one as usize) == matrix.row(*next as usize)) {
        kept.push(neighbours[0]);
        for pair in neighbours.windows(2) {
            equals[pair[0] as usize] = Some(pair[1]);
        }
    }
    (kept, equals)
}

struct Blocks<'a, B> {
    matrix: &'a Matrix,
    in_order: Vec<B>,
    /// The largest sufferage when a task was last chosen.
    largest: f64,
    /// Room for the places of some tasks of a block.
    places: Vec<usize>,
}

impl<B: Block> Blocks<'_, B> {
    #[inline(always)]
    fn fill<S: Simd>(&mut self, simd: S, ready: &[f64], order: &[u32]) {
        self.in_order.clear();
        for tasks in order.chunks(B::TASKS) {
            self.in_order.push(B::new(simd, self.matrix, ready, tasks));
        }
    }

    /// The lowest of the tasks that suffer most: its block, and its place there.
    #[inline(always)]
    fn next<S: Simd>(&mut self, simd: S, ready: &[f64]) -> (usize, usize) {
        self.largest = self.largest_at_highest_bound(simd, ready);
        loop {
            let (largest, lowest) = self.lowest_from(simd, ready);
            if largest == self.largest {
                return lowest;
            }
            self.largest = largest;
        }
    }

    /// The largest sufferage of the tasks that may tie with what is the largest so far or suffer more, and the lowest
    /// that does.
    #[inline(always)]
    fn lowest_from<S: Simd>(&mut self, simd: S, ready: &[f64]) -> (f64, (usize, usize)) {
        let limit = tie_threshold(self.largest);
        let mut largest = self.largest;
        let mut lowest = (u32::MAX, (0, 0));
        let mut places = std::mem::take(&mut self.places);
        for block in 0..self.in_order.len() {
            self.in_order[block].bounds().places_from(simd, limit, &mut places);
            for &at in &places {
                let sufferage = self.sufferage(simd, block, at, ready);
                largest = greater(largest, sufferage);
                let task = self.in_order[block].bounds().task(at);
                if sufferage >= limit && task < lowest.0 {
                    lowest = (task, (block, at));
                }
            }
        }
        self.places = places;
        (largest, lowest.1)
    }

    /// Looks exactly at the task with the highest bound, until that is one whose sufferage was known, and gives the
    /// largest found: mostly the largest of all.
    #[inline(always)]
    fn largest_at_highest_bound<S: Simd>(&mut self, simd: S, ready: &[f64]) -> f64 {
        let mut largest = f64::NEG_INFINITY;
        loop {
            let highest =
                self.in_order.iter().map(|block| block.bounds().highest()).fold(f64::NEG_INFINITY, greater);
            let mut blocks = self.in_order.iter();
            let block = blocks.position(|block| block.bounds().highest() == highest).expect("a task is left");
            let at = self.in_order[block].bounds().place_of_highest(simd);
            let was_known = self.in_order[block].bounds().known(at).is_some();
            largest = greater(largest, self.sufferage(simd, block, at, ready));
            if was_known {
                return largest;
            }
        }
    }

    /// The sufferage of a task, which is looked at if it is not known.
    #[inline(always)]
    fn sufferage<S: Simd>(&mut self, simd: S, block: usize, at: usize, ready: &[f64]) -> f64 {
        let block = &mut self.in_order[block];
        if let Some(known) = block.bounds().known(at) {
            return known;
        }
        let row = self.matrix.row(block.bounds().task(at) as usize);
        if block.is_loose(at) {
            // By about as much do ends rise until most machines became busier once: bounds last as long.
            let limit = two_least_sums(ready, row).1 + self.largest;
            block.tighten(simd, self.matrix, ready, limit);
        }
        let best = block.best_two(simd, at, ready, row);
        block.bounds_mut().know(simd, at, &best);
        best.sufferage()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
    use crate::{Heuristic, reference};

    fn few_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        with(&random_matrix(tasks, machines, seed), |time, _, _| (time % 3.0).floor() / 10.0)
    }

    /// Few times, the same order on all machines: as many ties as there can be, and machines that leave lists.
    fn few_rising_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        with(&few_times(tasks, machines, seed), |time, _, machine| time + (machine / 3) as f64)
    }

    /// Some tasks take as long as others, to the bit.
    fn equal_tasks(tasks: usize, machines: usize, seed: u64) -> Matrix {
        let kinds = consistent_matrix(3, machines, seed);
        with(&random_matrix(tasks, machines, seed), |time, task, machine| {
            if task % 4 == 3 { time } else { kinds.time(task * task % 3, machine) }
        })
    }

    /// Tasks of all sizes, which no unit suits.
    fn all_sizes(tasks: usize, machines: usize, seed: u64) -> Matrix {
        with(&consistent_matrix(tasks, machines, seed), |time, task, _| {
            time * 10_f64.powi(7 * i32::try_from(task % 40).expect("few") - 140)
        })
    }

    /// Times that differ by a few units.
    fn close_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        with(&random_matrix(tasks, machines, seed), |time, _, _| 1e6 + time % 500.0)
    }

    /// The same, and slower machines.
    fn close_rising_times(tasks: usize, machines: usize, seed: u64) -> Matrix {
        with(&close_times(tasks, machines, seed), |time, _, machine| time + 400.0 * machine as f64)
    }

    fn with(matrix: &Matrix, time: impl Fn(f64, usize, usize) -> f64) -> Matrix {
        let (tasks, machines) = (matrix.tasks(), matrix.machines());
        let places = (0..tasks).flat_map(|task| (0..machines).map(move |machine| (task, machine)));
        let times = places.map(|(task, machine)| time(matrix.time(task, machine), task, machine)).collect();
        Matrix::new(tasks, machines, times).expect("a matrix")
    }

    #[test]
    fn both_kinds_of_blocks_give_the_mapping_of_the_reference_where_they_pay_and_where_not() {
        let kinds: [fn(usize, usize, u64) -> Matrix; 9] = [
            random_matrix,
            consistent_matrix,
            semi_consistent_matrix,
            few_times,
            few_rising_times,
            equal_tasks,
            all_sizes,
            close_times,
            close_rising_times,
        ];
        let small = [(1, 2), (3, 2), (2, 3), (9, 2), (70, 2), (64, 8), (65, 9), (130, 17), (33, 33)];
        let cases = small.iter().flat_map(|shape| (0..40).map(move |seed| (*shape, seed)));
        // In the last one, a machine off a list is second best by less than a unit.
        for ((tasks, machines), seed) in cases.chain([((300, 40), 1), ((500, 70), 2), ((20, 8), 862)]) {
            for (kind, make) in kinds.iter().enumerate() {
                let matrix = make(tasks, machines, seed);
                // On every other seed, machines are busy at first.
                let busy = make(1, machines, seed + 1);
                let ready: Vec<f64> = busy.row(0).iter().map(|time| time * (seed % 2) as f64).collect();
                let building = Building::new(tasks, &ready);
                let expected = reference::map_from(Heuristic::Sufferage, &matrix, &ready);
                let lists =
                    dispatch!(level(), simd => map_in_blocks::<_, Lists>(simd, &matrix, building.clone()));
                assert_eq!(lists, expected, "lists, {tasks} × {machines}, kind {kind}, seed {seed}");
                let rows =
                    dispatch!(level(), simd => map_in_blocks::<_, Rows>(simd, &matrix, building.clone()));
                assert_eq!(rows, expected, "rows, {tasks} × {machines}, kind {kind}, seed {seed}");
            }
        }
    }

    #[test]
    fn lists_pay_on_consistent_matrices_and_not_on_others() {
        let pay = |matrix: &Matrix| lists::pay(matrix, &vec![0.0; matrix.machines()]);
        assert!(pay(&consistent_matrix(1000, 64, 1)));
        assert!(!pay(&semi_consistent_matrix(1000, 64, 1)));
        assert!(!pay(&random_matrix(1000, 64, 1)));
    }

    #[test]
    fn equal_tasks_are_one() {
        let matrix = Matrix::new(5, 1, vec![2.0, 1.0, 2.0, 1.0, 2.0]).expect("a matrix");
        let (order, equals) = merge_equals(&matrix, &by_total(&matrix, &[0, 1, 2, 3, 4]));
        assert_eq!((order, equals), (vec![1, 0], vec![Some(2), Some(3), Some(4), None, None]));
    }
}
