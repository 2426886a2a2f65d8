//! How much of each task is done where it runs, as far as it follows from the speeds and owner loads that were reported.
//!
//! All tasks on a machine get the same share of a core. So one clock a machine, [`Service`], tells what any of them had,
//! and whatever changes their share touches that clock alone. Only another speed touches the tasks: what each did at the
//! old one becomes operations. A composition that was measured is no other speed: it was so all the time, and what was done
//! since the speed last changed counts by it. **A clock is advanced before anything changes that its rate depends on.**

use gleaner_units::{RunId, Time};
use serde::{Deserialize, Serialize};

/// The seconds of service that a task had which was on a machine ever since that was last empty. A task that has a core
/// to itself gets a second in each second.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Service {
    seconds: f64,
    as_of: Time,
}

impl Service {
    /// From 0.
    pub(super) fn starting(now: Time) -> Self {
        Self { seconds: 0.0, as_of: now }
    }

    /// What it shows if each task got `share` of a core since it was last advanced.
    #[inline]
    pub(super) fn at(self, now: Time, share: f64) -> f64 {
        self.seconds + share * now.since(self.as_of).seconds()
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Time, share: f64) {
        *self = Self { seconds: self.at(now, share), as_of: now };
    }

    /// What it showed when it was last advanced.
    pub(super) fn seconds(self) -> f64 {
        self.seconds
    }
}

/// A run that is on a machine or on its way there, and is to stay.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Resident {
    run: RunId,
    /// The operations that it did elsewhere, or here at other speeds.
    done: f64,
    /// What the machine's clock showed when it began at the present speed; infinite before it runs.
    since: f64,
}

impl Resident {
    /// On its way, with so many operations done.
    pub(super) fn sent(run: RunId, done: f64) -> Self {
        Self { run, done, since: f64::INFINITY }
    }

    #[inline]
    pub(super) fn run(self) -> RunId {
        self.run
    }

    /// It will go on from there.
    pub(super) fn start_from(&mut self, done: f64) {
        self.done = done;
    }

    /// It runs from now on.
    pub(super) fn begin(&mut self, clock: f64) {
        self.since = clock;
    }

    /// The speed changes: what was done at the old one is counted in operations.
    pub(super) fn fold(&mut self, clock: f64, seconds_per_op: f64) {
        self.done = self.ops_done(clock, seconds_per_op);
        self.since = if self.runs() { clock } else { self.since };
    }

    /// The operations done so far.
    #[inline]
    pub(super) fn ops_done(self, clock: f64, seconds_per_op: f64) -> f64 {
        let served = self.served(clock);
        if served == 0.0 { self.done } else { self.done + served / seconds_per_op }
    }

    /// The seconds of service that all that is done would have taken here.
    pub(super) fn spent(self, clock: f64, seconds_per_op: f64) -> f64 {
        let served = self.served(clock);
        if self.done == 0.0 { served } else { self.done * seconds_per_op + served }
    }

    /// The seconds of service until a task of that length is done; none if it should have been already.
    #[inline]
    pub(super) fn service_left(self, clock: f64, length: f64, seconds_per_op: f64) -> f64 {
        // As it stands, and not by way of the operations done: at one speed nothing is rounded twice.
        ((length - self.done) * seconds_per_op - self.served(clock)).max(0.0)
    }

    /// Whether this is what a resident in its place may say of itself.
    pub(super) fn is_whole(self, runs: bool, service: Service) -> bool {
        self.done >= 0.0 && self.runs() == runs && (!runs || self.since <= service.seconds)
    }

    /// Whether it has begun.
    #[inline]
    pub(super) fn runs(self) -> bool {
        self.since < f64::INFINITY
    }

    #[inline]
    fn served(self, clock: f64) -> f64 {
        (clock - self.since).max(0.0)
    }
}
