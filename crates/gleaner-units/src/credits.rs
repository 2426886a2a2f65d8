use crate::Ops;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// What running tasks is paid with: a whole number, exact in every sum and comparison, also as an f64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Credits(u64);

impl Credits {
    /// Nothing.
    pub const ZERO: Credits = Credits(0);
    /// The most that may be spent in a period, and what costs more than this costs: 2⁵³, below which every whole number
    /// is an f64.
    pub const MAX: Credits = Credits(1 << 53);

    /// So many, or [`MAX`](Self::MAX) if that is less.
    pub const fn new(count: u64) -> Self {
        if count < Self::MAX.0 { Self(count) } else { Self::MAX }
    }

    /// ⌈work × price⌉, equation (2) of the second paper in whole credits.
    pub fn cost(work: Ops, price: f64) -> Self {
        // What is no number or too large for one ends at the largest.
        Self::new((work.amount() * price).ceil() as u64)
    }

    /// How many.
    #[inline]
    pub const fn count(self) -> u64 {
        self.0
    }

    /// How many, exactly.
    #[inline]
    pub fn amount(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Credits {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Credits {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Nothing, where more is taken than there is.
impl Sub for Credits {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Credits {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Credits {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_rounded_up_to_whole_credits() {
        for (work, price, cost) in
            [(10.0, 1.0, 10), (10.0, 1.01, 11), (0.5, 0.5, 1), (7.0, 0.0, 0), (1e300, 1e9, 1 << 53)]
        {
            let work = Ops::new(work).expect("some work");
            assert_eq!(Credits::cost(work, price).count(), cost, "{work:?} at {price}");
        }
    }
}
