//! The coordinator's clock: nanoseconds since 1970 that never go back.
//!
//! The wall clock is read once. From then on time is what passed on a clock that counts sleep, so that a wall clock set
//! a day forth or back moves nothing. What was written before the start is never in the future.

use gleaner_units::{Span, Time};
use rustix::time::{ClockId, clock_gettime};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Time,
    /// On the clock that counts sleep.
    started: Time,
}

impl Clock {
    /// A clock that starts now, or at `not_before` if the wall clock was set back meanwhile.
    pub fn start(not_before: Time) -> Self {
        Self { start: read(ClockId::Realtime).max(not_before), started: read(ClockId::Boottime) }
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.start + passed(self.started)
    }
}

fn passed(since: Time) -> Span {
    read(ClockId::Boottime).since(since)
}

fn read(clock: ClockId) -> Time {
    let time = clock_gettime(clock);
    // Neither clock is before 1970.
    Time::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_goes_back_behind_what_was_written() {
        let future = Time::from_nanos(u64::MAX / 2);
        let clock = Clock::start(future);
        let (one, other) = (clock.now(), clock.now());
        assert!(future <= one && one <= other);
    }
}
