//! One machine: its virtual clock, and the order in which its tasks finish on it.
//!
//! Every change first advances the clock to `now` at the old rate and then sets the new rate; between changes nothing
//! is touched.

use super::finish_order::{Finish, FinishOrder};
use gleaner_units::{Span, TaskId, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    cores: u32,
    load: f64,
    /// Cores that the owner leaves to the tasks: c·(1−λ).
    capacity: f64,
    /// share(n), the speed of the virtual clock; 0 while no task is here.
    rate: f64,
    /// The virtual clock, in seconds of service, as of `updated`.
    clock: f64,
    updated: Time,
    busy: Span,
    order: FinishOrder,
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
            updated: Time::ZERO,
            busy: Span::ZERO,
            order: FinishOrder::default(),
        }
    }

    pub(super) fn set_load(&mut self, now: Time, load: f64) {
        assert!((0.0..=1.0).contains(&load), "the owner load {load} is not from 0 to 1");
        self.advance(now);
        self.load = load;
        self.capacity = f64::from(self.cores) * (1.0 - load);
        self.set_rate();
    }

    /// Returns when the task finishes on the virtual clock.
    #[inline]
    pub(super) fn insert(&mut self, now: Time, task: TaskId, service_seconds: f64) -> f64 {
        assert!(
            (0.0..f64::INFINITY).contains(&service_seconds),
            "{task} needs {service_seconds} s of service"
        );
        self.advance(now);
        let finish = self.clock + service_seconds;
        self.order.insert(Finish { at: finish, task });
        self.set_rate();
        finish
    }

    /// Returns the seconds of service that the task still needs.
    #[inline]
    pub(super) fn remove(&mut self, now: Time, old: Finish) -> f64 {
        self.advance(now);
        self.order.remove(old);
        let left = (old.at - self.clock).max(0.0);
        self.set_rate();
        left
    }

    /// The earliest finish, and of the tasks whose finish rounds to it the lowest.
    #[inline]
    pub(super) fn next_completion(&self) -> Option<(Time, TaskId)> {
        let first = self.order.first()?;
        let at = self.time_of(first.at);
        if at == Time::NEVER {
            return None;
        }
        let mut lowest = first.task;
        let mut seen = first.at;
        // Of those that finish at one virtual time only the first counts: it is the lowest task.
        while let Some(later) = self.order.first_after(seen)
            && self.time_of(later.at) == at
        {
            lowest = lowest.min(later.task);
            seen = later.at;
        }
        Some((at, lowest))
    }

    pub(super) fn service_left(&self, now: Time, finish: f64) -> f64 {
        (finish - self.clock_at(now)).max(0.0)
    }

    pub(super) fn residents(&self) -> usize {
        self.order.len()
    }

    pub(super) fn load(&self) -> f64 {
        self.load
    }

    pub(super) fn busy(&self, now: Time) -> Span {
        let running = if self.rate > 0.0 { now.since(self.updated) } else { Span::ZERO };
        Span::from_nanos(self.busy.nanos() + running.nanos())
    }

    /// The tasks here and their finishes, in no useful order.
    pub(super) fn tasks(&self) -> impl Iterator<Item = (TaskId, f64)> {
        self.order.iter().map(|finish| (finish.task, finish.at))
    }

    pub(super) fn next_completion_by_scan(&self) -> Option<(Time, TaskId)> {
        let all = self.tasks().map(|(task, finish)| (self.time_of(finish), task));
        all.min().filter(|&(at, _)| at != Time::NEVER)
    }

    pub(super) fn check(&self) {
        self.order.check();
        assert_eq!(self.rate, self.share());
        assert!(self.clock >= 0.0 && (self.clock == 0.0 || self.order.len() > 0));
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        assert!(now >= self.updated, "time went back from {} to {now}", self.updated);
        self.clock = self.clock_at(now);
        self.busy = self.busy(now);
        self.updated = now;
    }

    #[inline]
    fn clock_at(&self, now: Time) -> f64 {
        self.clock + self.rate * now.since(self.updated).seconds()
    }

    #[inline]
    fn set_rate(&mut self) {
        self.rate = self.share();
        if self.order.len() == 0 {
            self.clock = 0.0;
        }
    }

    #[inline]
    fn share(&self) -> f64 {
        let tasks = self.order.len() as f64;
        if tasks > self.capacity {
            self.capacity / tasks
        } else if tasks > 0.0 {
            1.0
        } else {
            0.0
        }
    }

    /// When the virtual clock will show `finish`.
    #[inline]
    fn time_of(&self, finish: f64) -> Time {
        if self.rate > 0.0 {
            self.updated.after_seconds((finish - self.clock) / self.rate)
        } else {
            Time::NEVER
        }
    }
}
