//! Sufferage where tasks are alike: where machines that are good for one task are good for most, as in a consistent
//! matrix. There most tasks share their best two machines, and a step changes those of hundreds of tasks.
//!
//! - **Blocks**: tasks of about the same total time, side by side, with the shortest and the longest time that one of
//!   them takes on each machine. In a block few machines can be among anybody's best two: those whose earliest end is
//!   no later than the second least of the latest ends. Only these are compared, for several tasks at once.
//! - **A step concerns a task** only if the machine that became busier was among its best two. A machine never becomes
//!   free earlier, so for no other task anything changes.
//! - Sufferages are exact at every moment, to the bit: rounded sums rise with what is added.
//!
//! Cost: O(t·w) to begin with and each time that half of the tasks are gone; O(t) vectorised comparisons a step to find
//! whom it concerns; and O(w) for each block that has such tasks, and for each such task one comparison a machine that
//! is compared: some twenty of 256. Memory: as much as the matrix again.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use crate::Matrix;
use crate::level::level;
use crate::mapping::{Building, Mapping, earliest};
use crate::scan::{LANES, greater, lesser, places_within, two_least_sums};
use crate::sorting::sort_into;
use fearless_simd::{Level, dispatch};
use gleaner_core::tie_threshold;

/// How many tasks stand side by side: a multiple of [`LANES`].
const BLOCK: usize = 64;
/// How many tasks show whether all are alike.
const SAMPLED: usize = 1024;
/// Tasks are alike if of so many machines no more than one has to be compared.
const ALIKE_ONE_IN: usize = 4;

/// Whether blocks pay, as one in the middle shows, of a sample of the tasks.
pub(crate) fn are_alike(matrix: &Matrix, ready: &[f64]) -> bool {
    let every = matrix.tasks().div_ceil(SAMPLED);
    let sample = by_total(matrix, (0..matrix.tasks() as u32).step_by(every).collect());
    let middle = sample.chunks(BLOCK).nth(sample.len().div_ceil(BLOCK) / 2).expect("there is a task");
    let mut compared = Vec::new();
    Extent::of(matrix, middle).compare(ready, &mut compared);
    compared.len() * ALIKE_ONE_IN <= matrix.machines()
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

/// The shortest and the longest time of some tasks on each machine.
struct Extent {
    shortest: Vec<f64>,
    longest: Vec<f64>,
}

impl Extent {
    fn of(matrix: &Matrix, tasks: &[u32]) -> Self {
        let machines = matrix.machines();
        let mut extent = Self { shortest: vec![f64::INFINITY; machines], longest: vec![0.0; machines] };
        for &task in tasks {
            let row = matrix.row(task as usize);
            for ((shortest, longest), &time) in extent.shortest.iter_mut().zip(&mut extent.longest).zip(row) {
                *shortest = lesser(*shortest, time);
                *longest = greater(*longest, time);
            }
        }
        extent
    }

    /// Adds the machines that may be among the best two of one of the tasks.
    #[inline(always)]
    fn compare(&self, ready: &[f64], compared: &mut Vec<u32>) {
        let (_, limit) = two_least_sums(ready, &self.longest);
        places_within(ready, &self.shortest, limit, compared);
    }
}

/// A value for each task of a block, in the order of its tasks; what stands behind the last is not used. Whole cache
/// lines, so that no lanes lie across two.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct EachTask([f64; BLOCK]);

struct Block {
    /// Those left.
    tasks: Vec<u32>,
    /// By machine.
    times: Vec<EachTask>,
    extent: Extent,
    /// When each task's second machine would be done; infinite with one machine.
    second_ends: EachTask,
    sufferages: EachTask,
    /// The largest of them; −∞ if no task is left.
    largest: f64,
}

impl Block {
    fn new(matrix: &Matrix, tasks: &[u32]) -> Self {
        let mut times = vec![EachTask([0.0; BLOCK]); matrix.machines()];
        for (at, &task) in tasks.iter().enumerate() {
            for (times, &time) in times.iter_mut().zip(matrix.row(task as usize)) {
                times.0[at] = time;
            }
        }
        Self {
            tasks: tasks.to_vec(),
            times,
            extent: Extent::of(matrix, tasks),
            second_ends: EachTask([f64::INFINITY; BLOCK]),
            sufferages: EachTask([0.0; BLOCK]),
            largest: 0.0,
        }
    }

    /// After `machine`, which was free at `before`, became busier: finds the best two ends of the tasks it concerns.
    /// `compared` is room for the machines that are compared.
    #[inline(always)]
    fn delay(&mut self, machine: usize, before: f64, ready: &[f64], compared: &mut Vec<u32>) {
        compared.clear();
        for from in (0..self.tasks.len()).step_by(LANES) {
            if !self.concerns(from, machine, before) {
                continue;
            }
            if compared.is_empty() {
                self.extent.compare(ready, compared);
            }
            self.compare(from, ready, compared);
        }
        if !compared.is_empty() {
            self.find_largest();
        }
    }

    /// Whether a machine that is free at that moment is among the best two of a task in the lanes from `from` on.
    #[inline(always)]
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "all lanes are compared at once; a branch a lane would prevent that"
    )]
    fn concerns(&self, from: usize, machine: usize, ready: f64) -> bool {
        let times = &self.times[machine].0[from..from + LANES];
        let second_ends = &self.second_ends.0[from..from + LANES];
        times.iter().zip(second_ends).fold(false, |any, (time, end)| any | (ready + time <= *end))
    }

    /// Finds the best two ends of the tasks in the lanes from `from` on.
    #[inline(always)]
    fn compare(&mut self, from: usize, ready: &[f64], compared: &[u32]) {
        let mut first = [f64::INFINITY; LANES];
        let mut second = [f64::INFINITY; LANES];
        for &machine in compared {
            let times = &self.times[machine as usize].0[from..from + LANES];
            for lane in 0..LANES {
                let end = ready[machine as usize] + times[lane];
                second[lane] = lesser(second[lane], greater(first[lane], end));
                first[lane] = lesser(first[lane], end);
            }
        }
        for lane in 0..LANES {
            let alone = second[lane] == f64::INFINITY;
            self.second_ends.0[from + lane] = second[lane];
            self.sufferages.0[from + lane] = if alone { 0.0 } else { second[lane] - first[lane] };
        }
    }

    #[inline(always)]
    fn find_largest(&mut self) {
        let left = &self.sufferages.0[..self.tasks.len()];
        self.largest = left.iter().copied().fold(f64::NEG_INFINITY, greater);
    }

    /// The lowest task that suffers by at least `limit`, and its place.
    fn lowest_within(&self, limit: f64) -> Option<(u32, usize)> {
        let suffering = self.tasks.iter().zip(0..).filter(|(_, at)| self.sufferages.0[*at] >= limit);
        suffering.map(|(&task, at)| (task, at)).min()
    }

    fn remove(&mut self, at: usize) {
        self.tasks.swap_remove(at);
        let last = self.tasks.len();
        for times in &mut self.times {
            times.0[at] = times.0[last];
        }
        self.second_ends.0[at] = self.second_ends.0[last];
        self.sufferages.0[at] = self.sufferages.0[last];
        self.find_largest();
    }
}

struct Blocks {
    in_order: Vec<Block>,
    /// Room for the machines that are compared.
    compared: Vec<u32>,
    /// Which vector instructions there are.
    level: Level,
}

impl Blocks {
    fn new(matrix: &Matrix, ready: &[f64], order: &[u32]) -> Self {
        let in_order = order.chunks(BLOCK).map(|tasks| Block::new(matrix, tasks)).collect();
        let mut blocks = Self { in_order, compared: Vec::new(), level: level() };
        // Nobody knows a second end yet, so any machine concerns all.
        blocks.delay(0, ready[0], ready);
        blocks
    }

    /// Takes the lowest of the tasks that suffer most.
    fn take_next(&mut self) -> usize {
        let largest = self.in_order.iter().map(|block| block.largest).fold(f64::NEG_INFINITY, greater);
        let limit = tie_threshold(largest);
        let tied = self.in_order.iter_mut().filter(|block| block.largest >= limit);
        let lowest = tied.filter_map(|block| Some((block.lowest_within(limit)?, block)));
        let ((task, at), block) = lowest.min_by_key(|(lowest, _)| *lowest).expect("a task is left");
        block.remove(at);
        task as usize
    }

    /// After `machine`, which was free at `before`, became busier.
    fn delay(&mut self, machine: usize, before: f64, ready: &[f64]) {
        dispatch!(self.level, _ => self.delay_each(machine, before, ready));
    }

    #[inline(always)]
    fn delay_each(&mut self, machine: usize, before: f64, ready: &[f64]) {
        for block in &mut self.in_order {
            block.delay(machine, before, ready, &mut self.compared);
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
