//! Times and ends in 16 bits.
//!
//! **A rough end is earlier than the end, by less than two units**: the moment at which a machine is free and the time of
//! a task are each rounded down to whole units, and what is past all units stays there. So is the first, or the second,
//! of some rough ends. What 32 and 64 bits round is far less than a unit: [`SLACK`] is three.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use fearless_simd::prelude::*;
use fearless_simd::{Simd, f64x8, u16x32};

/// How many rough values stand side by side.
pub(super) const LANES: usize = 32;
/// How many units a difference of rough ends may be wrong by.
pub(super) const SLACK: u16 = 3;
/// How many units there are from the base.
const UNITS: f64 = 65_000.0;
/// How much further than asked for units reach.
const ROOM: f64 = 4.0;

/// A rough value for each of some tasks or machines: a cache line.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [u16; LANES]);

impl Lanes {
    pub(super) const ZERO: Self = Self([0; LANES]);

    #[inline(always)]
    pub(super) fn wide<S: Simd>(&self, simd: S) -> u16x32<S> {
        u16x32::load_array_ref(simd, &self.0)
    }
}

/// How moments and times become rough.
pub(super) struct Scale {
    /// No machine is free earlier. Infinite in a scale that fits nothing.
    base: f64,
    pub(super) unit: f64,
}

impl Scale {
    pub(super) const NONE: Self = Self { base: f64::INFINITY, unit: f64::INFINITY };

    /// Whether there are units from `base` to `limit`.
    pub(super) fn reaches(&self, base: f64, limit: f64) -> bool {
        self.base <= base && limit <= self.base + UNITS * self.unit
    }

    /// Makes units reach from `base` to `limit`, and says whether they are of another length then.
    pub(super) fn reach(&mut self, base: f64, limit: f64) -> bool {
        self.base = base;
        let window = limit - base;
        let fits = self.unit * UNITS;
        if window <= fits && fits <= 2.0 * ROOM * window {
            return false;
        }
        // A unit is never so short that the rounding of an end would show, and never 0.
        let shortest = (limit / (1_u64 << 40) as f64).max(1e-290);
        let unit = (ROOM * window / UNITS).max(shortest);
        let is_new = unit != self.unit;
        self.unit = unit;
        is_new
    }

    /// When a machine is free. Past all units it stays at the last: a cast does not wrap.
    #[inline(always)]
    pub(super) fn ready(&self, ready: f64) -> u16 {
        ((ready - self.base) / self.unit) as u16
    }

    /// The times of a task, machine by machine, and the longest there is where machines end.
    #[inline(always)]
    pub(super) fn times<S: Simd>(&self, simd: S, row: &[f64], rough: &mut [Lanes]) {
        let (chunks, rest) = row.as_chunks::<LANES>();
        for (times, rough) in chunks.iter().zip(&mut *rough) {
            self.convert(simd, times, rough);
        }
        if !rest.is_empty() {
            let mut times = [f64::INFINITY; LANES];
            times[..rest.len()].copy_from_slice(rest);
            self.convert(simd, &times, &mut rough[chunks.len()]);
        }
    }

    #[inline(always)]
    fn convert<S: Simd>(&self, simd: S, times: &[f64; LANES], rough: &mut Lanes) {
        let units = |from: usize| {
            let times = f64x8::from_slice(simd, &times[from..from + 8]);
            (times * (1.0 / self.unit)).min(f64::from(u16::MAX))
        };
        let low = simd.cvt_u32_f32x16(simd.narrow_f64x8(units(0), units(8)));
        let high = simd.cvt_u32_f32x16(simd.narrow_f64x8(units(16), units(24)));
        simd.narrow_u32x16(low, high).store_array(&mut rough.0);
    }
}

/// Writes the times of up to [`LANES`] tasks, `wide` for each, by machine: at `row` of the `high` that each machine has.
#[inline(always)]
pub(super) fn transpose<S: Simd>(
    simd: S,
    tasks: &[Lanes],
    wide: usize,
    columns: &mut [Lanes],
    high: usize,
    row: usize,
) {
    for across in 0..wide {
        let mut square = [u16x32::splat(simd, 0); LANES];
        for (wide, task) in square.iter_mut().zip(tasks.chunks_exact(wide)) {
            *wide = task[across].wide(simd);
        }
        // Each time, one bit of the place in a row and one of the row's number change places.
        for _ in 0..LANES.ilog2() {
            let mut next = [u16x32::splat(simd, 0); LANES];
            for at in 0..LANES / 2 {
                (next[2 * at], next[2 * at + 1]) = square[at].interleave(square[at + LANES / 2]);
            }
            square = next;
        }
        for (machine, wide) in (across * LANES..).zip(&square) {
            wide.store_array(&mut columns[machine * high + row].0);
        }
    }
}
