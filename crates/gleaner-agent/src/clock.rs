//! The one clock that leases are kept by.

use gleaner_units::Time;
use rustix::time::{ClockId, clock_gettime};

/// Since the machine was started, its sleep included: a lease runs on while a laptop is closed.
pub fn now() -> Time {
    let now = clock_gettime(ClockId::Boottime);
    // Neither part of this clock is ever negative.
    Time::from_nanos(now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back() {
        let earlier = now();
        assert!(earlier > Time::ZERO && now() >= earlier);
    }
}
