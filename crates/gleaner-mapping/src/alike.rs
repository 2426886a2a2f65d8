//! Sufferage where tasks are alike: where machines that are good for one task are good for most, as in a consistent
//! matrix. There most tasks share their best two machines, and a step changes those of hundreds of tasks.
//!
//! - **Blocks**: tasks of about the same total time, side by side, so that eight are compared at once.
//! - **Lists**: a block compares only the machines on its list. **A machine never becomes free earlier**, so none off the
//!   list is better than the best of them, the *rest*, was when the list was made. The best two ends of a task are exact
//!   while the second is no later than that; where it is later, the list is lengthened. A machine that becomes too busy
//!   to come before the rest leaves it.
//! - **A step concerns a task** only if the machine that became busier was among its best two.
//! - Sufferages are exact at every moment, to the bit: rounded sums rise with what is added.
//!
//! Cost: O(t·w) to begin with and each time that half of the tasks are gone; in each step a test of every block; in those
//! that list the machine (most of them) one vectorised test for eight tasks, and for those eight of which it concerns
//! one (every second) one comparison a machine on the list (some thirty of 256). What is compared is as much as a core's
//! own cache holds or more, and reading it is what takes longest. Memory: as much as the matrix again.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use crate::Matrix;
use crate::level::level;
use crate::mapping::{Building, Mapping, earliest};
use crate::scan::{LANES, greater, least_of_sums, lesser, places_within, two_least_sums};
use crate::sorting::sort_into;
use fearless_simd::prelude::*;
use fearless_simd::{Level, Simd, dispatch, f64x8};
use gleaner_core::tie_threshold;

/// How often [`LANES`] tasks stand side by side in a block.
const ROWS: usize = 8;
const BLOCK: usize = ROWS * LANES;
/// How many tasks show whether all are alike.
const SAMPLED: usize = 1024;
/// Tasks are alike if of so many machines no more than one has to be compared.
const ALIKE_ONE_IN: usize = 4;
/// Lists are lengthened by at least so much of what they could be too short by.
const SHARE: f64 = 1.0 / 16.0;

/// Whether blocks pay, as one in the middle shows, of a sample of the tasks.
pub(crate) fn are_alike(matrix: &Matrix, ready: &[f64]) -> bool {
    let every = matrix.tasks().div_ceil(SAMPLED);
    let sample = by_total(matrix, (0..matrix.tasks() as u32).step_by(every).collect());
    let middle = sample.chunks(BLOCK).nth(sample.len().div_ceil(BLOCK) / 2).expect("there is a task");
    let block = dispatch!(level(), simd => Block::new(simd, matrix, ready, middle));
    block.listed.len() * ALIKE_ONE_IN <= matrix.machines()
}

/// Sorts tasks by total time.
fn by_total(matrix: &Matrix, tasks: Vec<u32>) -> Vec<u32> {
    let total = |task: &u32| matrix.row(*task as usize).iter().sum::<f64>().to_bits();
    let totals: Vec<u64> = tasks.iter().map(total).collect();
    let mut order = Vec::with_capacity(totals.len());
    sort_into(&totals, &mut order);
    order.into_iter().map(|at| tasks[at as usize]).collect()
}

/// Maps all tasks.
pub(crate) fn map(matrix: &Matrix, mut building: Building) -> Mapping {
    let mut order = by_total(matrix, (0..matrix.tasks() as u32).collect());
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

/// A value for each of some tasks side by side: a cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lanes([f64; LANES]);

impl Lanes {
    #[inline(always)]
    fn wide<S: Simd>(&self, simd: S) -> f64x8<S> {
        f64x8::load_array_ref(simd, &self.0)
    }
}

/// A value for each task of a block, in the order of its tasks.
type EachTask = [Lanes; ROWS];

const NOBODY: EachTask = [Lanes([f64::NEG_INFINITY; LANES]); ROWS];

struct Block {
    tasks: Vec<u32>,
    /// By machine.
    times: Vec<EachTask>,
    /// The least of them on each machine.
    shortest: Vec<f64>,
    /// The same; infinite on machines on the list.
    shortest_off: Vec<f64>,
    listed: Vec<u32>,
    /// The times on the listed machines, row by row.
    listed_times: [Vec<Lanes>; ROWS],
    /// No machine off the list is done with a task before.
    rest: f64,
    /// When each task's second machine would be done: infinite with one machine, −∞ where no task is left.
    second_ends: EachTask,
    /// −∞ where no task is left.
    sufferages: EachTask,
    /// The largest of them.
    largest: f64,
}

impl Block {
    #[inline(always)]
    fn new<S: Simd>(simd: S, matrix: &Matrix, ready: &[f64], tasks: &[u32]) -> Self {
        let mut times = vec![NOBODY; matrix.machines()];
        for (row, tasks) in tasks.chunks(LANES).enumerate() {
            transpose(simd, matrix, tasks, row, &mut times);
        }
        let mut shortest = vec![f64::INFINITY; matrix.machines()];
        let mut second_ends = NOBODY;
        for (&task, at) in tasks.iter().zip(0..) {
            let times = matrix.row(task as usize);
            for (shortest, &time) in shortest.iter_mut().zip(times) {
                *shortest = lesser(*shortest, time);
            }
            second_ends[at / LANES].0[at % LANES] = two_least_sums(ready, times).1;
        }
        let mut block = Self {
            tasks: tasks.to_vec(),
            times,
            shortest_off: shortest.clone(),
            shortest,
            listed: Vec::new(),
            listed_times: Default::default(),
            rest: f64::INFINITY,
            second_ends,
            sufferages: NOBODY,
            largest: f64::NEG_INFINITY,
        };
        block.list(simd, ready, block.latest(simd));
        block
    }

    /// Lists all machines that could be done with a task by `limit`.
    #[inline(always)]
    fn list<S: Simd>(&mut self, simd: S, ready: &[f64], limit: f64) {
        let known = self.listed.len();
        places_within(ready, &self.shortest_off, limit, &mut self.listed);
        for &machine in &self.listed[known..] {
            self.shortest_off[machine as usize] = f64::INFINITY;
            for (listed, times) in self.listed_times.iter_mut().zip(&self.times[machine as usize]) {
                listed.push(*times);
            }
        }
        self.rest = least_of_sums(ready, &self.shortest_off);
        for row in 0..ROWS {
            self.compare(simd, row, ready);
        }
        self.find_largest(simd);
    }

    /// After `machine`, which was free at `before`, became busier: finds the best two ends of the tasks it concerns.
    /// Where the list has to be lengthened, it is by `spare` at least.
    #[inline(always)]
    fn delay<S: Simd>(&mut self, simd: S, machine: u32, before: f64, ready: &[f64], spare: f64) {
        // The place is found slower than that there is none.
        if !self.listed.iter().fold(false, |any, listed| any | (*listed == machine)) {
            return;
        }
        let Some(place) = self.listed.iter().position(|listed| *listed == machine) else { return };
        let concerned: [bool; ROWS] = std::array::from_fn(|row| {
            let ends = self.listed_times[row][place].wide(simd) + before;
            ends.simd_le(self.second_ends[row].wide(simd)).any_true()
        });
        self.unlist_if_late(place, ready);
        for (row, _) in concerned.iter().enumerate().filter(|(_, concerned)| **concerned) {
            self.compare(simd, row, ready);
        }
        if concerned.contains(&true) {
            self.find_largest(simd);
            self.lengthen(simd, ready, spare);
        }
    }

    /// Takes a machine off the list if the rest comes before, and if two are left: without, no second end is known.
    fn unlist_if_late(&mut self, place: usize, ready: &[f64]) {
        let machine = self.listed[place] as usize;
        if self.listed.len() > 2 && ready[machine] + self.shortest[machine] >= self.rest {
            self.shortest_off[machine] = self.shortest[machine];
            self.listed.swap_remove(place);
            for times in &mut self.listed_times {
                times.swap_remove(place);
            }
        }
    }

    /// Lengthens the list until all best two ends are exact.
    #[inline(always)]
    fn lengthen<S: Simd>(&mut self, simd: S, ready: &[f64], spare: f64) {
        loop {
            let late_by = self.latest(simd) - self.rest;
            if late_by.is_nan() || late_by <= 0.0 {
                return;
            }
            self.list(simd, ready, self.rest + greater(spare, SHARE * late_by));
        }
    }

    /// Finds the best two ends of the tasks of a row, on the listed machines.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, row: usize, ready: &[f64]) {
        let (infinite, none) = (f64x8::splat(simd, f64::INFINITY), f64x8::splat(simd, f64::NEG_INFINITY));
        let (mut first, mut second) = (infinite, infinite);
        for (&machine, times) in self.listed.iter().zip(&self.listed_times[row]) {
            let end = times.wide(simd) + ready[machine as usize];
            second = second.min(first.max(end));
            first = first.min(end);
        }
        let is_left = self.second_ends[row].wide(simd).simd_gt(none);
        let sufferage = second.simd_lt(infinite).select(second - first, f64x8::splat(simd, 0.0));
        is_left.select(second, none).store_array(&mut self.second_ends[row].0);
        is_left.select(sufferage, none).store_array(&mut self.sufferages[row].0);
    }

    /// The latest second end.
    #[inline(always)]
    fn latest<S: Simd>(&self, simd: S) -> f64 {
        greatest(simd, &self.second_ends)
    }

    #[inline(always)]
    fn find_largest<S: Simd>(&mut self, simd: S) {
        self.largest = greatest(simd, &self.sufferages);
    }

    /// The lowest task that suffers by at least `limit`, and its place.
    fn lowest_within(&self, limit: f64) -> Option<(u32, usize)> {
        let sufferages = self.sufferages.iter().flat_map(|lanes| lanes.0);
        let suffering = self.tasks.iter().zip(0..).zip(sufferages).filter(|(_, sufferage)| *sufferage >= limit);
        suffering.map(|((&task, at), _)| (task, at)).min()
    }

    fn remove(&mut self, at: usize) {
        self.second_ends[at / LANES].0[at % LANES] = f64::NEG_INFINITY;
        self.sufferages[at / LANES].0[at % LANES] = f64::NEG_INFINITY;
        self.largest = self.sufferages.iter().flat_map(|lanes| lanes.0).fold(f64::NEG_INFINITY, greater);
    }
}

#[inline(always)]
fn greatest<S: Simd>(simd: S, values: &EachTask) -> f64 {
    values[1..].iter().fold(values[0].wide(simd), |greatest, lanes| greatest.max(lanes.wide(simd))).reduce_max()
}

/// Writes a row of times by machine; where there are fewer tasks, those of the last stand for what is missing.
#[inline(always)]
fn transpose<S: Simd>(simd: S, matrix: &Matrix, tasks: &[u32], row: usize, times: &mut [EachTask]) {
    let of_tasks: [&[f64]; LANES] =
        std::array::from_fn(|at| &matrix.row(tasks[at.min(tasks.len() - 1)] as usize)[..times.len()]);
    let (squares, others) = times.as_chunks_mut::<LANES>();
    let square = squares.len() * LANES;
    for (from, square) in (0..).step_by(LANES).zip(squares) {
        let mut wide = of_tasks.map(|times| f64x8::from_slice(simd, &times[from..from + LANES]));
        // Each time, one bit of the place in a row and one of the row's number change places.
        for _ in 0..LANES.ilog2() {
            let pairs: [_; LANES / 2] = std::array::from_fn(|at| wide[at].interleave(wide[at + LANES / 2]));
            wide = std::array::from_fn(|at| if at % 2 == 0 { pairs[at / 2].0 } else { pairs[at / 2].1 });
        }
        for (times, wide) in square.iter_mut().zip(wide) {
            wide.store_array(&mut times[row].0);
        }
    }
    for (machine, times) in (square..).zip(others) {
        times[row].0 = of_tasks.map(|times| times[machine]);
    }
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
            // Ends grow by about as much before each machine became busier once.
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

    #[test]
    fn blocks_give_the_mapping_of_the_reference_where_they_pay_and_where_not() {
        let kinds: [fn(usize, usize, u64) -> Matrix; 4] =
            [random_matrix, consistent_matrix, semi_consistent_matrix, few_times];
        for (tasks, machines) in [(1, 1), (3, 1), (70, 2), (64, 8), (200, 9), (300, 40)] {
            for (kind, make) in kinds.iter().enumerate() {
                let matrix = make(tasks, machines, 7);
                let building = Building::new(tasks, &vec![0.0; machines]);
                let mapping = map(&matrix, building);
                let expected = reference::map(Heuristic::Sufferage, &matrix);
                assert_eq!(mapping, expected, "{tasks} × {machines}, kind {kind}");
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
