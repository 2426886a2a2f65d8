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
    fn from(work: Ops) -> Self {
        // The cast stops at the largest number there is.
        Self((work.0 * PARTS_PER_OP).round() as u128)
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
