//! Random choices that a seed repeats.

use gleaner_units::Span;
use rand_core::Rng;
use rand_pcg::Pcg64;

pub(crate) struct Chance(Pcg64);

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Pcg64::new(u128::from(seed), 0x6661_756c_7473))
    }

    /// From 0 up to, not including, `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    /// Both ends included.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    pub(crate) fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// A while of so many milliseconds, both ends included.
    pub(crate) fn millis(&mut self, low: u64, high: u64) -> Span {
        Span::from_nanos(self.between(low * 1_000_000, high * 1_000_000))
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }

    /// From 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}
