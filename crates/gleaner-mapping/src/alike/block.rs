//! Some tasks side by side, and the machines that are compared for them.
//!
//! - **A machine never becomes free earlier**: so none off the list is better than the best of them, the *rest*, was
//!   when the list was made. The best two ends of a task are exact while the second is no later than that.
//! - The list is lengthened where a second end is later, and a machine that became too busy to come before the rest
//!   leaves it.
//! - Where no task is left, second ends and sufferages are −∞: no machine is done so early, and nothing suffers less.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use crate::Matrix;
use crate::scan::{LANES, greater, least_of_sums, lesser, places_within, two_least_sums};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8};

/// How often [`LANES`] tasks stand side by side in a block.
const ROWS: usize = 8;
/// How many tasks a block holds.
pub(super) const BLOCK: usize = ROWS * LANES;
/// A list is lengthened by at least so much of what it could be too short by.
const SHARE: f64 = 1.0 / 16.0;

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

pub(super) struct Block {
    tasks: Vec<u32>,
    /// By machine.
    times: Vec<EachTask>,
    /// The least of them on each machine.
    shortest: Vec<f64>,
    /// The same; infinite on machines on the list.
    shortest_off: Vec<f64>,
    pub(super) listed: Vec<u32>,
    /// The times on the listed machines, row by row.
    listed_times: [Vec<Lanes>; ROWS],
    /// No machine off the list is done with a task before.
    rest: f64,
    /// When each task's second machine would be done: infinite with one machine, −∞ where no task is left.
    second_ends: EachTask,
    /// −∞ where no task is left.
    sufferages: EachTask,
    /// The largest of them.
    pub(super) largest: f64,
}

impl Block {
    #[inline(always)]
    pub(super) fn new<S: Simd>(simd: S, matrix: &Matrix, ready: &[f64], tasks: &[u32]) -> Self {
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
    pub(super) fn delay<S: Simd>(&mut self, simd: S, machine: u32, before: f64, ready: &[f64], spare: f64) {
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
        let mut latest = self.latest(simd);
        while latest > self.rest {
            self.list(simd, ready, self.rest + greater(spare, SHARE * (latest - self.rest)));
            latest = self.latest(simd);
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
    pub(super) fn lowest_within(&self, limit: f64) -> Option<(u32, usize)> {
        let sufferages = self.sufferages.iter().flat_map(|lanes| lanes.0);
        let suffering =
            self.tasks.iter().zip(0..).zip(sufferages).filter(|(_, sufferage)| *sufferage >= limit);
        suffering.map(|((&task, at), _)| (task, at)).min()
    }

    pub(super) fn remove(&mut self, at: usize) {
        self.second_ends[at / LANES].0[at % LANES] = f64::NEG_INFINITY;
        self.sufferages[at / LANES].0[at % LANES] = f64::NEG_INFINITY;
        self.largest = self.sufferages.iter().flat_map(|lanes| lanes.0).fold(f64::NEG_INFINITY, greater);
    }
}

#[inline(always)]
fn greatest<S: Simd>(simd: S, values: &EachTask) -> f64 {
    values[1..]
        .iter()
        .fold(values[0].wide(simd), |greatest, lanes| greatest.max(lanes.wide(simd)))
        .reduce_max()
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
