//! Orders to measure the machine, and when they may be followed.

use gleaner_units::{Span, Time};

/// The pause between two measurements of the machine: each takes seconds of all cores, and writes to the disk.
const MEASURE_PAUSE: Span = Span::from_nanos(600_000_000_000);

/// Whether there is an order, and when one may be followed again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measuring {
    is_wanted: bool,
    not_before: Time,
}

impl Measuring {
    pub(super) fn want(&mut self) {
        self.is_wanted = true;
    }

    /// From when on the order may be followed, if there is one.
    pub(super) fn due(&self) -> Option<Time> {
        self.is_wanted.then_some(self.not_before)
    }

    pub(super) fn begun(&mut self, now: Time) {
        *self = Self { is_wanted: false, not_before: now + MEASURE_PAUSE };
    }
}
