//! The one clock that leases are kept by, and an alarm that goes by it.

use gleaner_units::Time;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::unix::AsyncFd;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Since the machine was started, its sleep included: a lease runs on while a laptop is closed.
pub fn now() -> Time {
    let now = clock_gettime(ClockId::Boottime);
    // Neither part of this clock is ever negative.
    Time::from_nanos(now.tv_sec.unsigned_abs() * NANOS_PER_SECOND + now.tv_nsec.unsigned_abs())
}

/// Goes off at a time, or as soon as the machine wakes if it slept through it.
#[derive(Debug)]
pub struct Alarm {
    timer: AsyncFd<OwnedFd>,
    set_for: Option<Time>,
}

impl Alarm {
    /// An alarm that is not set. Call it within a runtime.
    #[expect(
        deprecated,
        reason = "its successor is unsafe to call; the timer is owned here and closed by nobody else"
    )]
    pub fn new() -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Boottime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        Ok(Self { timer: AsyncFd::new(timer)?, set_for: None })
    }

    /// Sets it, or takes it back.
    pub fn set(&mut self, at: Option<Time>) -> io::Result<()> {
        if at == self.set_for {
            return Ok(());
        }
        // A timer for the very start would be none at all.
        let nanos = at.map_or(0, |at| at.nanos().max(1));
        let at_seconds = i64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(i64::MAX);
        let it_value = Timespec { tv_sec: at_seconds, tv_nsec: (nanos % NANOS_PER_SECOND).cast_signed() };
        let timer = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &timer)?;
        self.set_for = at;
        Ok(())
    }

    /// Waits until it goes off.
    pub async fn ring(&mut self) -> io::Result<()> {
        let mut ready = self.timer.readable().await?;
        ready.clear_ready();
        drop(ready);
        self.set_for = None;
        self.set(Some(Time::NEVER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::Span;

    #[test]
    fn it_never_goes_back() {
        let earlier = now();
        assert!(earlier > Time::ZERO && now() >= earlier);
    }

    #[test]
    fn an_alarm_goes_off_once_for_each_time_it_is_set() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut alarm = Alarm::new().unwrap();
            for millis in [0, 5] {
                let at = now() + Span::from_nanos(millis * 1_000_000);
                alarm.set(Some(at)).unwrap();
                alarm.ring().await.unwrap();
                assert!(now() >= at);
            }
            alarm.set(None).unwrap();
            let none = tokio::time::timeout(std::time::Duration::from_millis(20), alarm.ring()).await;
            assert!(none.is_err(), "it is not set");
        });
    }
}
