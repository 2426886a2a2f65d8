use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// An amount of work, in logical operations. How long it takes depends on the machine and on who shares it.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ops(f64);

impl Ops {
    /// `None` unless the amount is finite and above zero.
    pub fn new(amount: f64) -> Option<Self> {
        (amount.is_finite() && amount > 0.0).then_some(Self(amount))
    }

    /// The number of operations.
    #[inline]
    pub fn amount(self) -> f64 {
        self.0
    }
}

/// How finely [`OpsTotal`] counts: in so many parts of an operation.
const PARTS_PER_OP: f64 = 4_294_967_296.0;
/// 2⁵³: below it an `f64` holds every whole number.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// The work of several tasks together. It counts in whole 2⁻³² of an operation, so that what was added can be taken off
/// again without a trace, and the order of adding means nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpsTotal(u128);

impl OpsTotal {
    /// No work.
    pub const ZERO: OpsTotal = OpsTotal(0);

    /// The nearest number of operations.
    #[inline]
    pub fn amount(self) -> f64 {
        self.0 as f64 / PARTS_PER_OP
    }

    /// That many times.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        Self(self.0.saturating_mul(count.into()))
    }
}

impl From<Ops> for OpsTotal {
    #[inline]
    fn from(work: Ops) -> Self {
        let parts = work.0 * PARTS_PER_OP;
        if parts < EXACT_BELOW {
            // As `round` does, without a call: what is cut off is known exactly.
            let whole = parts as u64;
            return Self(u128::from(whole + u64::from(parts - whole as f64 >= 0.5)));
        }
        // The cast stops at the largest number there is.
        Self(parts.round() as u128)
    }
}

impl Add for OpsTotal {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for OpsTotal {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for OpsTotal {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for OpsTotal {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for OpsTotal {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_is_the_nearest_number_of_parts() {
        let halves = [0.5, 1.5, 2.5, 0.499_999_999_999_999_94, 1e9 + 0.5, EXACT_BELOW - 1.0, EXACT_BELOW];
        let parts = halves.into_iter().chain([0.1, 0.9, 7.0, 1e18, 1e30, 1e300, f64::MIN_POSITIVE]);
        for parts in parts.flat_map(|parts| [parts.next_down(), parts, parts.next_up()]) {
            let amount = parts / PARTS_PER_OP;
            let ops = Ops::new(amount).expect("above 0");
            assert_eq!(OpsTotal::from(ops).0, (amount * PARTS_PER_OP).round() as u128, "{parts}");
        }
    }
}
