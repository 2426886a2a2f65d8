//! Tasks that like different machines: each looks at all of them.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use super::block::Block;
use super::bounds::{BestTwo, Bounds, push_places};
use super::rough::{LANES, Lanes, Scale, transpose};
use crate::Matrix;
use crate::scan::{greater, least, two_least_sums};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, mask16x32, u16x32};

/// One task in so many shows how far units have to reach at first.
const SAMPLED_ONE_IN: usize = 16;

pub(super) struct Rows {
    bounds: Bounds,
    scale: Scale,
    /// Rough times, task by task.
    tasks: Vec<Lanes>,
    /// The same, machine by machine.
    columns: Vec<Lanes>,
    /// When machines are free.
    ready: Vec<Lanes>,
    /// Room for the places of tasks.
    concerned: Vec<usize>,
}

impl Rows {
    fn high(&self) -> usize {
        self.bounds.tasks().len().div_ceil(LANES)
    }

    /// Finds a task's best two rough ends.
    #[inline(always)]
    fn look<S: Simd>(&mut self, simd: S, at: usize) {
        let last = u16x32::splat(simd, u16::MAX);
        let (mut first, mut second) = (last, last);
        let wide = self.ready.len();
        for (times, ready) in self.tasks[at * wide..][..wide].iter().zip(&self.ready) {
            let end = times.wide(simd).saturating_add(ready.wide(simd));
            second = second.min(first.max(end));
            first = first.min(end);
        }
        // Of all lanes the first, and the least of what is left when it is taken out.
        let least = first.reduce_min();
        let bits = first.simd_eq(least).to_bitmask();
        let taken = mask16x32::from_bitmask(simd, bits & bits.wrapping_neg());
        self.bounds.set(at, least, taken.select(second, first).reduce_min());
    }
}

impl Block for Rows {
    const TASKS: usize = 1024;

    #[inline(always)]
    fn new<S: Simd>(simd: S, matrix: &Matrix, ready: &[f64], tasks: &[u32]) -> Self {
        let (wide, high) = (matrix.machines().div_ceil(LANES), tasks.len().div_ceil(LANES));
        let mut rows = Self {
            bounds: Bounds::new(tasks, high),
            scale: Scale::NONE,
            tasks: vec![Lanes::ZERO; tasks.len() * wide],
            columns: vec![Lanes::ZERO; wide * LANES * high],
            ready: vec![Lanes::ZERO; wide],
            concerned: Vec::new(),
        };
        let mut limit = 0.0;
        for &task in tasks.iter().step_by(SAMPLED_ONE_IN) {
            limit = greater(limit, two_least_sums(ready, matrix.row(task as usize)).1);
        }
        rows.tighten(simd, matrix, ready, limit);
        rows
    }

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn bounds_mut(&mut self) -> &mut Bounds {
        &mut self.bounds
    }

    #[inline(always)]
    fn delay<S: Simd>(&mut self, simd: S, machine: usize, ready: &[f64]) {
        let place = &mut self.ready[machine / LANES].0[machine % LANES];
        let before = std::mem::replace(place, self.scale.ready(ready[machine]));
        let high = self.high();
        let mut concerned = std::mem::take(&mut self.concerned);
        concerned.clear();
        let times = &self.columns[machine * high..][..high];
        for (row, (times, near)) in times.iter().zip(self.bounds.nears()).enumerate() {
            let ends = times.wide(simd).saturating_add(before);
            let bits = ends.simd_lt(near.wide(simd)).to_bitmask() as u32;
            push_places(row, self.bounds.not_held(row, bits, machine as u32), &mut concerned);
        }
        // One after the other, without a test between them: processors look at several at once.
        for &at in &concerned {
            self.look(simd, at);
        }
        if !concerned.is_empty() {
            self.bounds.find_highest(simd);
        }
        self.concerned = concerned;
    }

    /// Where a second end is past all units.
    fn is_loose(&self, at: usize) -> bool {
        self.bounds.could_be_later(at, u16::MAX)
    }

    /// Makes units reach to `limit`.
    #[inline(always)]
    fn tighten<S: Simd>(&mut self, simd: S, matrix: &Matrix, ready: &[f64], limit: f64) {
        if self.scale.reach(least(ready), limit) {
            self.bounds.recount(self.scale.unit);
            let (wide, high) = (self.ready.len(), self.high());
            for (&task, times) in self.bounds.tasks().iter().zip(self.tasks.chunks_exact_mut(wide)) {
                self.scale.times(simd, matrix.row(task as usize), times);
            }
            for (row, tasks) in self.tasks.chunks(wide * LANES).enumerate() {
                transpose(simd, tasks, wide, &mut self.columns, high, row);
            }
        }
        for (rough, ready) in self.ready.iter_mut().zip(ready.chunks(LANES)) {
            for (rough, ready) in rough.0.iter_mut().zip(ready) {
                *rough = self.scale.ready(*ready);
            }
        }
        for at in 0..self.bounds.tasks().len() {
            if self.bounds.is_left(at) {
                self.look(simd, at);
            }
        }
        self.bounds.find_highest(simd);
    }

    #[inline(always)]
    fn best_two<S: Simd>(&self, simd: S, at: usize, ready: &[f64], row: &[f64]) -> BestTwo {
        let (near, wide) = (self.bounds.near(at), self.ready.len());
        let mut best = BestTwo::NONE;
        for (chunk, (times, rough)) in self.tasks[at * wide..][..wide].iter().zip(&self.ready).enumerate() {
            let ends = times.wide(simd).saturating_add(rough.wide(simd));
            let mut bits = ends.simd_lt(near).to_bitmask();
            while bits != 0 {
                let machine = chunk * LANES + bits.trailing_zeros() as usize;
                best.meet(machine as u32, ready[machine] + row[machine]);
                bits &= bits - 1;
            }
        }
        best
    }
}
