//! How far one stream of a program's output has got: written, sent, and known to have arrived.
//!
//! - **What was sent before a heartbeat that was answered has arrived**: frames of one connection are taken in order.
//!   After a reconnection everything after that is sent again, with its offset, and the coordinator skips what it has.
//! - **No more than a few pieces are on their way at a time**, of all runs together: see `window.rs`.
//! - **Offsets count what is kept.** What came after the limit is counted as dropped and has no offset.

use gleaner_units::{Span, Time};
use gleaner_wire::limits::OUTPUT_CHUNK_MAX;

/// The longest that written output waits for more, so that many small pieces become one message.
const GATHER: Span = Span::from_nanos(100_000_000);

/// A range of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Range {
    /// How much comes before.
    pub offset: u64,
    /// How much it is.
    pub len: u64,
}

/// One stream of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    written: u64,
    dropped: u64,
    sent: u64,
    arrived: u64,
    /// The heartbeat whose answer will tell that so much has arrived.
    mark: Option<(u64, u64)>,
    /// When to send what is written, though it is little.
    due: Option<Time>,
}

impl Log {
    /// The program has written so much in all, of which so much was kept.
    pub(crate) fn wrote(&mut self, now: Time, written: u64, dropped: u64) {
        self.written = self.written.max(written);
        self.dropped = self.dropped.max(dropped);
        if self.unsent() > 0 && self.due.is_none() {
            self.due = Some(now + GATHER);
        }
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// When there is something to send while the program runs.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// A piece to send while the program runs: a full one, or whatever there is after a while.
    pub(crate) fn next_piece(&mut self, now: Time) -> Option<Range> {
        let is_due = self.due.is_some_and(|due| due <= now);
        (is_due || self.unsent() >= OUTPUT_CHUNK_MAX as u64).then(|| self.take(now)).flatten()
    }

    /// A piece to send once the program is over, as long as there is more than goes with the end.
    pub(crate) fn next_rest(&mut self, now: Time) -> Option<Range> {
        (self.unsent() > OUTPUT_CHUNK_MAX as u64).then(|| self.take(now)).flatten()
    }

    /// What goes with the end.
    pub(crate) fn tail(&self) -> Range {
        Range { offset: self.sent, len: self.unsent() }
    }

    /// How much was sent over this connection and is not known to have arrived.
    pub(crate) fn on_its_way(&self) -> u64 {
        self.sent - self.arrived
    }

    /// A heartbeat goes out.
    pub(crate) fn heartbeat(&mut self, number: u64) {
        if self.mark.is_none() && self.sent > self.arrived {
            self.mark = Some((number, self.sent));
        }
    }

    /// A heartbeat was answered.
    pub(crate) fn beat(&mut self, number: u64) {
        if let Some((marked, sent)) = self.mark
            && marked <= number
        {
            self.arrived = sent;
            self.mark = None;
        }
    }

    /// All of it is to be sent again over the next connection.
    pub(crate) fn forget_what_arrived(&mut self) {
        self.arrived = 0;
    }

    /// There is a new connection: what may have been lost with the old one is to be sent again.
    pub(crate) fn reconnected(&mut self, now: Time) {
        self.sent = self.arrived;
        self.mark = None;
        self.due = (self.unsent() > 0).then_some(now);
    }

    /// How much is left to send.
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.sent
    }

    /// What is left to send is never sent.
    pub(crate) fn drop_rest(&mut self) {
        self.dropped += self.unsent();
        self.written = self.sent;
        self.due = None;
    }

    fn take(&mut self, now: Time) -> Option<Range> {
        let len = self.unsent().min(OUTPUT_CHUNK_MAX as u64);
        let range = Range { offset: self.sent, len };
        self.sent += len;
        self.due = (self.unsent() > 0).then(|| now + GATHER);
        (len > 0).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: u64 = OUTPUT_CHUNK_MAX as u64;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn range(offset: u64, len: u64) -> Range {
        Range { offset, len }
    }

    #[test]
    fn small_pieces_are_gathered_and_large_ones_go_at_once() {
        let mut log = Log::default();
        log.wrote(at(0), 10, 0);
        log.wrote(at(50), 30, 0);
        assert_eq!(log.next_piece(at(99)), None);
        assert_eq!(log.next_piece(at(100)), Some(range(0, 30)));
        assert_eq!(log.due(), None);
        log.wrote(at(110), 30 + CHUNK + 5, 0);
        assert_eq!(log.next_piece(at(110)), Some(range(30, CHUNK)));
        assert_eq!(log.next_piece(at(110)), None);
        assert_eq!(log.next_piece(at(210)), Some(range(30 + CHUNK, 5)));
    }

    #[test]
    fn only_what_a_beat_vouches_for_is_not_sent_again() {
        let mut log = Log::default();
        log.wrote(at(0), 10, 0);
        log.next_piece(at(100));
        log.heartbeat(1);
        log.wrote(at(100), 20, 0);
        log.next_piece(at(200));
        log.heartbeat(2);
        log.beat(1);
        log.reconnected(at(300));
        assert_eq!(log.next_piece(at(300)), Some(range(10, 10)));
        log.beat(2);
        log.reconnected(at(400));
        assert_eq!(
            log.tail(),
            Range { offset: 10, len: 10 },
            "the beat of an old mark vouches for nothing new"
        );
    }

    #[test]
    fn a_long_rest_goes_before_the_end_and_a_short_one_with_it() {
        let mut log = Log::default();
        log.wrote(at(0), 2 * CHUNK + 7, 3);
        assert_eq!(log.next_rest(at(0)), Some(range(0, CHUNK)));
        assert_eq!(log.next_rest(at(0)), Some(range(CHUNK, CHUNK)));
        assert_eq!(log.next_rest(at(0)), None);
        assert_eq!((log.tail(), log.dropped()), (Range { offset: 2 * CHUNK, len: 7 }, 3));
    }
}
