//! How much output may be on its way at a time: heartbeats come behind it, and on a slow line nobody is to be taken for gone
//! because of what programs print.
//!
//! At half of it a heartbeat asks how far the coordinator has read. **An answer that comes soon doubles it, and a late one makes it
//! as small as it was at first**: so it holds what a line takes in about a second, and few heartbeats are asked for.
//!
//! It is closed while the coordinator's disk has no room for output.

use gleaner_units::{Span, Time};
use gleaner_wire::limits::OUTPUT_CHUNK_MAX;

const LEAST: u64 = 4 * OUTPUT_CHUNK_MAX as u64;
const MOST: u64 = 32 * LEAST;
/// An answer within this is one that comes soon.
const SOON: Span = Span::from_nanos(1_000_000_000);

#[derive(Clone, Debug)]
pub(super) struct Window {
    bytes: u64,
    is_closed: bool,
    /// Since when the answer to which heartbeat is waited for.
    asked: Option<(Time, u64)>,
}

impl Window {
    pub(super) fn new(is_closed: bool) -> Self {
        Self { bytes: LEAST, is_closed, asked: None }
    }

    /// Whether the coordinator has no room, as it said last.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    pub(super) fn set_closed(&mut self, is_closed: bool) {
        self.is_closed = is_closed;
    }

    /// Whether no more may go while so much is on its way.
    pub(super) fn is_full(&self, on_its_way: u64) -> bool {
        on_its_way >= self.bytes
    }

    /// Whether it is to be asked how far the coordinator has read.
    pub(super) fn is_to_ask(&self, on_its_way: u64) -> bool {
        self.asked.is_none() && 2 * on_its_way >= self.bytes
    }

    /// It is, by this heartbeat.
    pub(super) fn asked(&mut self, now: Time, heartbeat: u64) {
        self.asked = Some((now, heartbeat));
    }

    /// A heartbeat was answered.
    pub(super) fn answered(&mut self, now: Time, heartbeat: u64) {
        if let Some((asked, by)) = self.asked
            && by <= heartbeat
        {
            let came_soon = now.since(asked) <= SOON;
            self.bytes = if came_soon { MOST.min(2 * self.bytes) } else { LEAST };
            self.asked = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn it_holds_what_a_line_takes_in_about_a_second() {
        for (bytes_per_s, expected) in [(64 << 10, LEAST), (1 << 20, 1 << 20), (1 << 30, MOST)] {
            let mut window = Window::new(false);
            let mut now = 0;
            let mut largest = 0;
            for heartbeat in 1..40 {
                assert!(window.is_to_ask(window.bytes / 2), "{bytes_per_s}");
                window.asked(at(now), heartbeat);
                assert!(!window.is_to_ask(window.bytes), "once");
                window.answered(at(now), heartbeat - 1);
                assert!(!window.is_to_ask(window.bytes), "that was another");
                now += 1_000 * window.bytes / bytes_per_s;
                window.answered(at(now), heartbeat);
                largest = largest.max(window.bytes);
            }
            assert!(
                (expected..=2 * expected).contains(&largest) && largest <= MOST,
                "{bytes_per_s}: {largest}"
            );
        }
    }
}
