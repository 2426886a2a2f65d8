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

    /// What [`recharge`](Self::recharge) takes.
    pub const RECHARGE: &'static str = "credits as a whole number, from 1 to 2^53";

    /// What there is to spend in a period, as somebody wrote it: `1000000` or `1e6`.
    pub fn recharge(text: &str) -> Option<Self> {
        let count = match text.parse::<u64>() {
            Ok(count) => count,
            Err(_) => text.parse().ok().filter(|count: &f64| count.fract() == 0.0 && *count >= 0.0)? as u64,
        };
        (1..=Self::MAX.0).contains(&count).then_some(Self(count))
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
    fn a_recharge_is_a_whole_number_however_it_is_written() {
        for (text, count) in [
            ("1", Some(1)),
            ("1000000", Some(1_000_000)),
            ("1e6", Some(1_000_000)),
            ("1000000.0", Some(1_000_000)),
            ("9007199254740992", Some(1 << 53)),
            ("9007199254740993", None),
            ("1e300", None),
            ("0", None),
            ("-5", None),
            ("0.5", None),
            ("nan", None),
            ("inf", None),
            ("", None),
        ] {
            assert_eq!(Credits::recharge(text).map(Credits::count), count, "{text}");
        }
    }

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
