//! The coordinator's clock: nanoseconds since 1970 that never go back.
//!
//! The wall clock is read once. From then on time is what passed on a clock that counts sleep, so that a wall clock set
//! a day forth or back moves nothing. What was written before the start is never in the future.

use gleaner_units::{Span, Time};
use rustix::time::{ClockId, clock_gettime};
use std::time::SystemTime;

/// Clocks that are set right may be so far apart.
const APART_MAX: Span = Span::from_nanos(3_600_000_000_000);

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Time,
    /// On the clock that counts sleep.
    started: Time,
    /// How far the wall clock was behind.
    ahead: Span,
}

impl Clock {
    /// A clock that starts now, or at `not_before` if the wall clock was set back meanwhile.
    pub fn start(not_before: Time) -> Self {
        let wall = wall_clock();
        let start = wall.max(not_before);
        Self { start, started: since_boot(), ahead: start.since(wall) }
    }

    /// How far it was ahead of the wall clock at its start, if by more than clocks are apart.
    pub fn ahead(&self) -> Option<Span> {
        (self.ahead > APART_MAX).then_some(self.ahead)
    }

    /// The present moment, for what is held against moments that others say: the wall clock's where the two were apart at the start,
    /// since one of them was wrong and may be set right by now.
    pub fn wall(&self) -> Time {
        if self.ahead().is_some() { wall_clock() } else { self.now() }
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.start + since_boot().since(self.started)
    }
}

/// Not before 1970, whatever it shows.
fn wall_clock() -> Time {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_nanos(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX))
}

/// How long the machine sleeps, from one look to the next.
#[derive(Clone, Copy, Debug)]
pub struct Sleep {
    /// Since its start.
    so_far: Span,
}

impl Sleep {
    /// From now on.
    pub fn begin() -> Self {
        Self { so_far: slept() }
    }

    /// How long it slept since the last look.
    pub fn since_last(&mut self) -> Span {
        self.grown_to(slept())
    }

    fn grown_to(&mut self, so_far: Span) -> Span {
        let before = std::mem::replace(&mut self.so_far, so_far);
        Span::from_nanos(so_far.nanos().saturating_sub(before.nanos()))
    }
}

/// How long the machine slept since its start: what one of its clocks counts and the other does not.
fn slept() -> Span {
    let awake = reading(ClockId::Monotonic);
    since_boot().since(awake)
}

fn since_boot() -> Time {
    reading(ClockId::Boottime)
}

fn reading(clock: ClockId) -> Time {
    let time = clock_gettime(clock);
    // It counts from the machine's start.
    Time::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_slept_is_told_once() {
        let mut sleep = Sleep { so_far: Span::from_nanos(5) };
        let told = [7, 7, 6].map(|so_far| sleep.grown_to(Span::from_nanos(so_far)).nanos());
        assert_eq!(told, [2, 0, 0]);
    }

    #[test]
    fn time_never_goes_back_behind_what_was_written() {
        let future = Time::from_nanos(u64::MAX / 2);
        let clock = Clock::start(future);
        let (one, other) = (clock.now(), clock.now());
        assert!(future <= one && one <= other);
        assert!(clock.ahead().is_some() && Clock::start(Time::ZERO).ahead().is_none());
        let apart = clock.wall().since(Clock::start(Time::ZERO).now());
        assert!(apart < APART_MAX, "the wall clock is as it is: {apart:?}");
    }
}
