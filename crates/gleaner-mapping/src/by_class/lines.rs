//! When each speed's offer would be done, as lines over the length of a task: scans over many of them side by side.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use crate::level::level;
use crate::scan::{LANES, any_within, greater, lesser};
use fearless_simd::{Level, dispatch};
use std::ops::{Range, RangeInclusive};

/// Lines by speed, the slowest and so the steepest first, padded with such as are infinite.
pub(super) struct Lines {
    by_lane: Vec<ByLane>,
    /// Which vector instructions there are.
    level: Level,
}

/// A few lines side by side: two cache lines.
#[derive(Clone)]
#[repr(align(64))]
struct ByLane {
    free: [f64; LANES],
    inverses: [f64; LANES],
}

/// A range of lengths, in which its end is, empty if that comes before its start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Span {
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Lines {
    /// The lines of these speeds, all infinite.
    pub(super) fn new(speeds: impl ExactSizeIterator<Item = f64>) -> Self {
        let empty = ByLane { free: [f64::INFINITY; LANES], inverses: [0.0; LANES] };
        let mut by_lane = vec![empty; speeds.len().div_ceil(LANES)];
        for (at, speed) in speeds.enumerate() {
            by_lane[at / LANES].inverses[at % LANES] = 1.0 / speed;
        }
        Self { by_lane, level: level() }
    }

    #[inline]
    pub(super) fn inverse(&self, at: usize) -> f64 {
        self.by_lane[at / LANES].inverses[at % LANES]
    }

    #[inline]
    pub(super) fn free(&self, at: usize) -> f64 {
        self.by_lane[at / LANES].free[at % LANES]
    }

    #[inline]
    pub(super) fn set_free(&mut self, at: usize, free: f64) {
        self.by_lane[at / LANES].free[at % LANES] = free;
    }

    /// When this one would be done with a task of that length.
    #[inline]
    pub(super) fn end(&self, at: usize, length: f64) -> f64 {
        self.free(at) + length * self.inverse(at)
    }

    /// The length at which two lines meet, the steeper one first: as close to `within` as they do.
    pub(super) fn crossing(&self, steep: usize, shallow: usize, within: Span) -> f64 {
        let fall = self.inverse(steep) - self.inverse(shallow);
        ((self.free(shallow) - self.free(steep)) / fall).max(within.from).min(within.to)
    }

    /// The least end for that length, and whose it is. Looks at those in `among`, and maybe at a few beside.
    pub(super) fn lowest(&self, length: f64, among: RangeInclusive<usize>) -> (f64, usize) {
        dispatch!(self.level, _ => self.lowest_in(length, blocks(&among)))
    }

    #[inline(always)]
    fn lowest_in(&self, length: f64, blocks: Range<usize>) -> (f64, usize) {
        let mut least = [f64::INFINITY; LANES];
        let mut at = [0_u64; LANES];
        for (block, lines) in (blocks.start as u64..).zip(&self.by_lane[blocks]) {
            let ends = lines.ends(length);
            for lane in 0..LANES {
                let is_less = ends[lane] < least[lane];
                least[lane] = if is_less { ends[lane] } else { least[lane] };
                at[lane] = if is_less { block } else { at[lane] };
            }
        }
        let end = least_of(least);
        let lane = least.iter().position(|other| *other == end).expect("the least is one of them");
        (end, at[lane] as usize * LANES + lane)
    }

    /// The least end for that length.
    pub(super) fn least_end(&self, length: f64) -> f64 {
        dispatch!(self.level, _ => self.least_end_of(length))
    }

    #[inline(always)]
    fn least_end_of(&self, length: f64) -> f64 {
        let mut least = [f64::INFINITY; LANES];
        for lines in &self.by_lane {
            let ends = lines.ends(length);
            least = std::array::from_fn(|lane| lesser(ends[lane], least[lane]));
        }
        least_of(least)
    }

    /// The lengths at which this line lies under all in `among`.
    pub(super) fn span_below(&self, free: f64, inverse: f64, among: RangeInclusive<usize>) -> Span {
        dispatch!(self.level, _ => self.span_in(free, inverse, blocks(&among)))
    }

    #[inline(always)]
    fn span_in(&self, free: f64, inverse: f64, blocks: Range<usize>) -> Span {
        let (mut from, mut to) = ([f64::NEG_INFINITY; LANES], [f64::INFINITY; LANES]);
        for lines in &self.by_lane[blocks] {
            for lane in 0..LANES {
                let fall = lines.inverses[lane] - inverse;
                let meet = (free - lines.free[lane]) / fall;
                let is_steeper = fall >= 0.0;
                from[lane] = greater(if is_steeper { meet } else { f64::NEG_INFINITY }, from[lane]);
                to[lane] = lesser(if is_steeper { f64::INFINITY } else { meet }, to[lane]);
            }
        }
        Span {
            from: from.into_iter().fold(f64::NEG_INFINITY, greater),
            to: to.into_iter().fold(f64::INFINITY, lesser),
        }
    }

    /// Adds the speeds whose end for that length is at most `limit`, in order.
    pub(super) fn within(&self, length: f64, limit: f64, speeds: &mut Vec<usize>) {
        dispatch!(self.level, _ => self.add_within(length, limit, speeds));
    }

    #[inline(always)]
    fn add_within(&self, length: f64, limit: f64, speeds: &mut Vec<usize>) {
        for (start, lines) in (0..).step_by(LANES).zip(&self.by_lane) {
            let ends = lines.ends(length);
            // Mostly none: one branch for all.
            if any_within(&ends, limit) {
                speeds.extend((start..).zip(ends).filter(|(_, end)| *end <= limit).map(|(speed, _)| speed));
            }
        }
    }
}

impl ByLane {
    #[inline(always)]
    fn ends(&self, length: f64) -> [f64; LANES] {
        std::array::from_fn(|lane| self.free[lane] + length * self.inverses[lane])
    }
}

/// Halves first: fewer steps wait for one another.
#[inline(always)]
fn least_of(lanes: [f64; LANES]) -> f64 {
    let four: [f64; LANES / 2] = std::array::from_fn(|lane| lesser(lanes[lane], lanes[lane + LANES / 2]));
    lesser(lesser(four[0], four[2]), lesser(four[1], four[3]))
}

/// The blocks that hold these lines.
#[inline(always)]
fn blocks(among: &RangeInclusive<usize>) -> Range<usize> {
    among.start() / LANES..among.end() / LANES + 1
}
