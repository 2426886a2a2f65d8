use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

const NANOS_PER_SECOND: f64 = 1e9;
/// The largest u64 that an f64 holds exactly below 2⁶⁴; past it a number of seconds means "never".
const LAST_NANOS: f64 = 18_446_744_073_709_549_568.0;

/// A length of time in whole nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

/// A moment, in whole nanoseconds since the start of the run (simulator) or the epoch of the grid (live).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

fn nanos_from_seconds(seconds: f64) -> Option<u64> {
    // A product beyond 2⁵³ is not exact; whole seconds are.
    if seconds.fract() == 0.0 && (0.0..LAST_NANOS / NANOS_PER_SECOND).contains(&seconds) {
        return (seconds as u64).checked_mul(1_000_000_000);
    }
    let nanos = (seconds * NANOS_PER_SECOND).round();
    // A NaN fails the comparison too.
    (0.0..=LAST_NANOS).contains(&nanos).then_some(nanos as u64)
}

fn write_seconds(f: &mut fmt::Formatter<'_>, nanos: u64) -> fmt::Result {
    write!(f, "{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Rounded to the nearest nanosecond; `None` for what is negative, not a number, or past the end of time.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        nanos_from_seconds(seconds).map(Self)
    }

    /// Whole nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The nearest number of seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }
}

impl Time {
    /// The start of a run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Rounded to the nearest nanosecond; `None` for what is negative, not a number, or past the end of time.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        nanos_from_seconds(seconds).map(Self)
    }

    /// Whole nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// The nearest number of seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// The nanosecond after this.
    #[must_use]
    pub const fn next(self) -> Time {
        Time(self.0.saturating_add(1))
    }

    /// Whether this is a whole number of periods after the start.
    pub const fn is_multiple_of(self, period: Span) -> bool {
        self.0.is_multiple_of(period.0)
    }

    /// The first whole number of periods after this.
    #[must_use]
    pub const fn next_multiple_of(self, period: Span) -> Time {
        Time((self.0 / period.0 + 1).saturating_mul(period.0))
    }

    /// `seconds` later, rounded to the nearest nanosecond; [`Time::NEVER`] if that is past the end of time.
    #[inline]
    #[must_use]
    pub fn after_seconds(self, seconds: f64) -> Time {
        // The conversion cuts off what `floor` would, without a call: that shows in a simulator's inner loop.
        let nanos = seconds * NANOS_PER_SECOND + 0.5;
        if nanos < LAST_NANOS { Time(self.0.saturating_add(nanos as u64)) } else { Time::NEVER }
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_seconds(f, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Time::from_seconds(1.25), Some(Time::from_nanos(1_250_000_000)));
        assert_eq!(Time::from_seconds(0.000_000_000_6), Some(Time::from_nanos(1)));
        assert_eq!(Time::from_seconds(10_000_000_010.0), Some(Time::from_nanos(10_000_000_010_000_000_000)));
        assert_eq!(Time::ZERO.after_seconds(2.45).nanos(), 2_450_000_000);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for seconds in [-1.0, f64::NAN, f64::INFINITY, 1e30] {
            assert_eq!(Time::from_seconds(seconds), None, "{seconds}");
        }
        assert_eq!(Time::ZERO.after_seconds(f64::INFINITY), Time::NEVER);
        assert_eq!(Time::ZERO.after_seconds(1e30), Time::NEVER);
    }

    #[test]
    fn times_print_with_all_their_digits() {
        assert_eq!(Time::from_nanos(21_440_579_030).to_string(), "21.440579030");
    }
}
