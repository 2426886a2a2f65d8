//! The coordinator's clock: nanoseconds since 1970 that never go back.
//!
//! The wall clock is read once. From then on time is what passed on a clock that counts sleep, so that a wall clock set
//! a day forth or back moves nothing. What was written before the start is never in the future.

use gleaner_units::Time;
use rustix::time::{ClockId, clock_gettime};
use std::time::SystemTime;

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
        // Nor is it before 1970, whatever it shows.
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let wall = Time::from_nanos(u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX));
        Self { start: wall.max(not_before), started: since_boot() }
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.start + since_boot().since(self.started)
    }
}

fn since_boot() -> Time {
    let time = clock_gettime(ClockId::Boottime);
    // It counts from the machine's start.
    Time::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
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
