//! Tasks that like the same machines: all of a block are compared on a list of those that matter to one of them, some
//! thirty of 256.
//!
//! **A machine never becomes free earlier**: so none off the list is better than the best of them, the *rest*, was when
//! the list was made. Of a task, the least end on the list and the rest is no later than its best, and the second
//! on the list no earlier than its second: that is enough for a bound. A list is lengthened where a bound that matters
//! is loose, and a machine that became too busy to come before the rest leaves it.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use super::block::{Block, by_total};
use super::bounds::{BestTwo, Bounds};
use super::rough::{LANES, Lanes, Scale, transpose};
use crate::Matrix;
use crate::scan::{greater, least_of_sums, lesser, places_within, two_least_sums};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, u16x32};

/// How often [`LANES`] tasks stand side by side in a block.
const ROWS: usize = 2;
/// How many tasks show whether all are alike.
const SAMPLED: usize = 1024;
/// Lists pay where they are no longer than one machine in so many.
const LISTED_ONE_IN: usize = 4;
/// The place of a machine that is not listed.
const OFF: u32 = u32::MAX;

/// Whether lists are short: as those of a block in the middle of a sample are.
pub(super) fn pay(matrix: &Matrix, ready: &[f64]) -> bool {
    let every = matrix.tasks().div_ceil(SAMPLED);
    let some: Vec<u32> = (0..matrix.tasks() as u32).step_by(every).collect();
    let sample = by_total(matrix, &some);
    let middle = sample.chunks(Lists::TASKS).nth(sample.len().div_ceil(Lists::TASKS) / 2);
    let middle = middle.expect("there is a task");
    let seconds = middle.iter().map(|task| two_least_sums(ready, matrix.row(*task as usize)).1);
    let limit = seconds.fold(0.0, greater);
    let shortest = shortest(matrix, middle);
    let listed = shortest.iter().zip(ready).filter(|(time, ready)| **time + **ready <= limit);
    listed.count() * LISTED_ONE_IN <= matrix.machines()
}

/// The least time on each machine.
#[inline(always)]
fn shortest(matrix: &Matrix, tasks: &[u32]) -> Vec<f64> {
    let mut shortest = vec![f64::INFINITY; matrix.machines()];
    for &task in tasks {
        for (shortest, &time) in shortest.iter_mut().zip(matrix.row(task as usize)) {
            *shortest = lesser(*shortest, time);
        }
    }
    shortest
}

pub(super) struct Lists {
    bounds: Bounds,
    scale: Scale,
    /// Rough times, machine by machine.
    times: Vec<Lanes>,
    /// The shortest time on each machine.
    shortest: Vec<f64>,
    /// The same; infinite on machines on the list.
    shortest_off: Vec<f64>,
    listed: Vec<u32>,
    /// When the listed machines are free.
    listed_ready: Vec<u16>,
    /// Where machines are on the list.
    places: Vec<u32>,
    /// No machine off the list is done with a task before.
    rest: f64,
    rough_rest: u16,
}

impl Lists {
    /// Finds the best two rough ends of the tasks of a row, of which some are no longer known.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, row: usize, forgotten: u32) {
        let last = u16x32::splat(simd, u16::MAX);
        let (mut first, mut second) = (last, last);
        for (&machine, &ready) in self.listed.iter().zip(&self.listed_ready) {
            let end = self.times[machine as usize * ROWS + row].wide(simd).saturating_add(ready);
            second = second.min(first.max(end));
            first = first.min(end);
        }
        self.bounds.set_row(simd, row, forgotten, first.min(self.rough_rest), second);
    }

    /// Takes a machine off the list if the rest comes before, and if two are left.
    fn unlist_if_late(&mut self, machine: usize, ready: &[f64]) {
        if self.listed.len() > 2 && ready[machine] + self.shortest[machine] >= self.rest {
            let place = std::mem::replace(&mut self.places[machine], OFF) as usize;
            self.shortest_off[machine] = self.shortest[machine];
            self.listed.swap_remove(place);
            self.listed_ready.swap_remove(place);
            if let Some(moved) = self.listed.get(place) {
                self.places[*moved as usize] = place as u32;
            }
        }
    }

    #[inline(always)]
    fn convert<S: Simd>(&mut self, simd: S, matrix: &Matrix) {
        let wide = matrix.machines().div_ceil(LANES);
        let mut rough = vec![Lanes::ZERO; wide * LANES];
        for (row, tasks) in self.bounds.tasks().chunks(LANES).enumerate() {
            for (&task, rough) in tasks.iter().zip(rough.chunks_exact_mut(wide)) {
                self.scale.times(simd, matrix.row(task as usize), rough);
            }
            transpose(simd, &rough, wide, &mut self.times, ROWS, row);
        }
    }
}

impl Block for Lists {
    const TASKS: usize = ROWS * LANES;

    #[inline(always)]
    fn new<S: Simd>(simd: S, matrix: &Matrix, ready: &[f64], tasks: &[u32]) -> Self {
        let shortest = shortest(matrix, tasks);
        let mut lists = Self {
            bounds: Bounds::new(tasks, ROWS),
            scale: Scale::NONE,
            times: vec![Lanes::ZERO; matrix.machines().next_multiple_of(LANES) * ROWS],
            shortest_off: shortest.clone(),
            shortest,
            listed: Vec::new(),
            listed_ready: Vec::new(),
            places: vec![OFF; matrix.machines()],
            rest: f64::INFINITY,
            rough_rest: u16::MAX,
        };
        // As far as a task in the middle needs; others are seen to when they matter.
        let middle = tasks[tasks.len() / 2] as usize;
        lists.tighten(simd, matrix, ready, two_least_sums(ready, matrix.row(middle)).1);
        lists
    }

    fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    fn bounds_mut(&mut self) -> &mut Bounds {
        &mut self.bounds
    }

    #[inline(always)]
    fn delay<S: Simd>(&mut self, simd: S, machine: usize, ready: &[f64]) {
        let place = self.places[machine];
        if place == OFF {
            return;
        }
        let rough = self.scale.ready(ready[machine]);
        let before = std::mem::replace(&mut self.listed_ready[place as usize], rough);
        let mut concerned = [0; ROWS];
        for (row, concerned) in concerned.iter_mut().enumerate() {
            let ends = self.times[machine * ROWS + row].wide(simd).saturating_add(before);
            let bits = ends.simd_lt(self.bounds.nears()[row].wide(simd)).to_bitmask() as u32;
            *concerned = self.bounds.not_held(row, bits, machine as u32);
        }
        self.unlist_if_late(machine, ready);
        for (row, concerned) in concerned.into_iter().enumerate().filter(|(_, concerned)| *concerned != 0) {
            self.compare(simd, row, concerned);
        }
        if concerned != [0; ROWS] {
            self.bounds.find_highest(simd);
        }
    }

    /// Where a second end is past all units, or later than the rest could be. **Where it is not, the best two machines
    /// are listed**, and so what is known of a task holds until one of them becomes busier.
    fn is_loose(&self, at: usize) -> bool {
        self.bounds.could_be_later(at, self.rough_rest)
    }

    /// Lists all machines that could be done with a task by `limit`, and makes units reach as far.
    #[inline(always)]
    fn tighten<S: Simd>(&mut self, simd: S, matrix: &Matrix, ready: &[f64], limit: f64) {
        let known = self.listed.len();
        places_within(ready, &self.shortest_off, limit, &mut self.listed);
        for (place, &machine) in (0..).zip(&self.listed).skip(known) {
            self.shortest_off[machine as usize] = f64::INFINITY;
            self.places[machine as usize] = place;
        }
        let mut base = f64::INFINITY;
        for &machine in &self.listed {
            base = lesser(base, ready[machine as usize]);
        }
        if !self.scale.reaches(base, limit) {
            if self.scale.reach(base, limit) {
                self.bounds.recount(self.scale.unit);
                self.convert(simd, matrix);
            }
            self.listed_ready.clear();
        }
        for &machine in &self.listed[self.listed_ready.len()..] {
            self.listed_ready.push(self.scale.ready(ready[machine as usize]));
        }
        self.rest = least_of_sums(ready, &self.shortest_off);
        self.rough_rest = self.scale.ready(self.rest);
        for row in 0..ROWS {
            self.compare(simd, row, 0);
        }
        self.bounds.find_highest(simd);
    }

    #[inline(always)]
    fn best_two<S: Simd>(&self, _: S, at: usize, ready: &[f64], row: &[f64]) -> BestTwo {
        let near = self.bounds.near(at);
        let mut best = BestTwo::NONE;
        for (&machine, &rough) in self.listed.iter().zip(&self.listed_ready) {
            let machine = machine as usize;
            let time = self.times[machine * ROWS + at / LANES].0[at % LANES];
            if time.saturating_add(rough) < near {
                best.meet(machine as u32, ready[machine] + row[machine]);
            }
        }
        best
    }
}
