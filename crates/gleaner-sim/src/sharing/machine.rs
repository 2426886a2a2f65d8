//! One machine: its virtual clock, and the order in which its tasks finish on it.
//!
//! Every change first advances the clock to `now` at the old rate and then sets the new rate; between changes nothing
//! is touched.

use super::finish_order::{Finish, FinishOrder};
use gleaner_units::{RunId, Span, Time};
use serde::{Deserialize, Serialize};

/// A moment as the world's clock has it, and how much later, in seconds, it really was: completions are known by
/// their rounded nanosecond, but what follows from one starts when it really came.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Instant {
    pub(super) at: Time,
    late: f64,
}

/// Rounding takes off no more than this, and less than this is left of nothing.
const HALF_A_NANOSECOND: f64 = 0.5e-9;

impl Instant {
    pub(super) fn exactly(at: Time) -> Self {
        Self { at, late: 0.0 }
    }

    /// This instant, if it is what the world calls `now`.
    #[inline]
    pub(super) fn or_exactly(self, now: Time) -> Self {
        if self.at == now { self } else { Self::exactly(now) }
    }

    #[inline]
    fn seconds_since(self, earlier: Self) -> f64 {
        // Completions of one nanosecond come in task order, not in that of their fractions.
        (self.at.since(earlier.at).seconds() + (self.late - earlier.late)).max(0.0)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    cores: u32,
    load: f64,
    /// Cores that the owner leaves to the tasks: c·(1−λ).
    capacity: f64,
    /// share(n) for the n shares of the tasks, the speed of the virtual clock; 0 while no task is here.
    rate: f64,
    /// The virtual clock, in seconds of service, as of `updated`.
    clock: f64,
    updated: Instant,
    busy: Span,
    order: FinishOrder,
    /// How many shares the tasks have beyond one each, with those of runs that are not in the order.
    more_shares: u64,
}

impl Machine {
    pub(super) fn new(cores: u32) -> Self {
        assert!(cores > 0, "a machine needs a core");
        Self {
            cores,
            load: 0.0,
            capacity: f64::from(cores),
            rate: 0.0,
            clock: 0.0,
            updated: Instant::default(),
            busy: Span::ZERO,
            order: FinishOrder::default(),
            more_shares: 0,
        }
    }

    pub(super) fn set_load(&mut self, now: Instant, load: f64) {
        assert!((0.0..=1.0).contains(&load), "the owner load {load} is not from 0 to 1");
        self.advance(now);
        self.load = load;
        self.capacity = f64::from(self.cores) * (1.0 - load);
        self.set_rate();
    }

    pub(super) fn crowd(&mut self, now: Instant, shares: i64) {
        self.advance(now);
        self.more_shares = self.more_shares.checked_add_signed(shares).expect("as many as came before");
        self.set_rate();
    }

    /// The rate is set by what comes or leaves at once.
    #[inline]
    pub(super) fn widen(&mut self, shares: i64) {
        self.more_shares = self.more_shares.checked_add_signed(shares).expect("as many as came before");
    }

    /// Returns when the task finishes on the virtual clock.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, run: RunId, service_seconds: f64) -> f64 {
        assert!(
            (0.0..f64::INFINITY).contains(&service_seconds),
            "{run} needs {service_seconds} s of service"
        );
        self.advance(now);
        let finish = self.clock + service_seconds;
        self.order.insert(Finish { at: finish, run });
        self.set_rate();
        finish
    }

    /// Returns the seconds of service that the task still needs.
    #[inline]
    pub(super) fn remove(&mut self, now: Instant, old: Finish) -> f64 {
        self.advance(now);
        self.order.remove(old);
        let left = (old.at - self.clock).max(0.0);
        self.set_rate();
        left
    }

    /// The earliest finish, and of the tasks whose finish rounds to it the lowest.
    #[inline]
    pub(super) fn next_completion(&self) -> Option<(Time, RunId)> {
        let first = self.order.first()?;
        let at = self.time_of(first.at);
        if at == Time::NEVER {
            return None;
        }
        let mut lowest = first.run;
        let mut seen = first.at;
        // Of those that finish at one virtual time only the first counts: it is the lowest task.
        while let Some(later) = self.order.first_after(seen)
            && self.time_of(later.at) == at
        {
            lowest = lowest.min(later.run);
            seen = later.at;
        }
        Some((at, lowest))
    }

    pub(super) fn service_left(&self, now: Instant, finish: f64) -> f64 {
        (finish - self.clock_at(now)).max(0.0)
    }

    pub(super) fn residents(&self) -> usize {
        self.order.len()
    }

    pub(super) fn load(&self) -> f64 {
        self.load
    }

    pub(super) fn busy(&self, now: Instant) -> Span {
        let running = if self.rate > 0.0 { now.at.since(self.updated.at) } else { Span::ZERO };
        Span::from_nanos(self.busy.nanos() + running.nanos())
    }

    /// The tasks here and their finishes, in no useful order.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (RunId, f64)> {
        self.order.iter().map(|finish| (finish.run, finish.at))
    }

    pub(super) fn next_completion_by_scan(&self) -> Option<(Time, RunId)> {
        let all = self.tasks().map(|(run, finish)| (self.time_of(finish), run));
        all.min().filter(|&(at, _)| at != Time::NEVER)
    }

    pub(super) fn check(&self) {
        self.order.check();
        assert_eq!(self.rate, self.share());
        assert!(self.clock >= 0.0 && (self.clock == 0.0 || self.order.len() > 0));
    }

    #[inline]
    fn advance(&mut self, now: Instant) {
        assert!(now.at >= self.updated.at, "time went back from {} to {}", self.updated.at, now.at);
        self.clock = self.clock_at(now);
        self.busy = self.busy(now);
        self.updated = now;
    }

    #[inline]
    fn clock_at(&self, now: Instant) -> f64 {
        self.clock + self.rate * now.seconds_since(self.updated)
    }

    #[inline]
    fn set_rate(&mut self) {
        self.rate = self.share();
        if self.order.len() == 0 {
            self.clock = 0.0;
        }
    }

    #[inline]
    pub(super) fn share(&self) -> f64 {
        let shares = (self.order.len() as u64 + self.more_shares) as f64;
        if shares > self.capacity {
            self.capacity / shares
        } else if shares > 0.0 {
            1.0
        } else {
            0.0
        }
    }

    /// When the virtual clock will show `finish`. What needs no more service than rounding takes off has come to
    /// its end, even if the owner takes the whole machine at that very instant.
    #[inline]
    fn time_of(&self, finish: f64) -> Time {
        let left = finish - self.clock;
        if left <= HALF_A_NANOSECOND {
            self.updated.at
        } else if self.rate > 0.0 {
            self.updated.at.after_seconds(self.updated.late + left / self.rate)
        } else {
            Time::NEVER
        }
    }

    /// The instant at which the next completion, which the world knows as `at`, really comes.
    pub(super) fn instant_of(&self, at: Time, finish: f64) -> Instant {
        let rest = if self.rate > 0.0 { (finish - self.clock) / self.rate } else { 0.0 };
        let late = self.updated.late + rest - at.since(self.updated.at).seconds();
        Instant { at, late: late.clamp(-HALF_A_NANOSECOND, HALF_A_NANOSECOND) }
    }
}
