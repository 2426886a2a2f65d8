//! Which pieces of output to send, and when an end may follow them.
//!
//! **While the coordinator has no room for output, it waits here**, and so does the end of a run of which much is left to send. Of a run
//! that its user cancelled the rest is dropped then, so that it can be over.

use super::held::{Held, Stage};
use super::ruling::Reason;
use super::{Duties, Piece};
use crate::owner::Bounds;
use gleaner_units::{RunId, Time};
use gleaner_wire::limits::OUTPUT_INLINE_MAX;
use gleaner_wire::session::{StopCause, Stream, Tail};

impl Duties {
    /// A piece to send now, if there is one. Ask only when what was sent before has left, so that output waits here
    /// and not in memory.
    pub fn next_piece(&mut self, now: Time) -> Option<Piece> {
        if !self.link.is_up() {
            return None;
        }
        let on_its_way = self.on_its_way();
        if self.window.is_to_ask(on_its_way) {
            self.window.asked(now, self.link.ask(now));
        }
        if self.window.is_full(on_its_way) {
            return None;
        }
        let (bounds, is_closed) = (self.bounds, self.window.is_closed());
        self.runs.iter_mut().find_map(|(run, held)| {
            let may_go = !is_closed || held.needs_no_room();
            if may_go { piece_of(*run, held, bounds, now) } else { None }
        })
    }

    fn on_its_way(&self) -> u64 {
        let logs = self.runs.values().flat_map(|held| &held.logs);
        logs.map(super::log::Log::on_its_way).sum()
    }

    /// When there is output to send that may go.
    pub(super) fn output_due(&self) -> Option<Time> {
        if !self.link.is_up() || self.window.is_closed() || self.window.is_full(self.on_its_way()) {
            return None;
        }
        let going = self.runs.values().filter(|held| !held.stage.is_over() && !held.is_disowned());
        going.flat_map(|held| &held.logs).filter_map(super::log::Log::due).min()
    }
}

impl Held {
    /// Whether all that is left to send of it, now that it is over, goes where its end goes; of a run that its user cancelled nothing
    /// else is left from now on.
    fn needs_no_room(&mut self) -> bool {
        let is_over = self.stage.is_over();
        let is_cancelled =
            self.ending.is_some_and(|ending| ending.reason == Reason::Asked(StopCause::Cancel));
        if is_over && is_cancelled && !self.is_little_left() {
            self.logs.iter_mut().for_each(super::log::Log::drop_rest);
        }
        is_over && self.is_little_left()
    }

    /// Whether it is over, and its end waits for room.
    pub(super) fn waits_for_room(&self) -> bool {
        matches!(self.stage, Stage::Over { is_sent: false, .. }) && !self.is_little_left()
    }

    fn is_little_left(&self) -> bool {
        let unsent: u64 = self.logs.iter().map(super::log::Log::unsent).sum();
        unsent <= OUTPUT_INLINE_MAX as u64
    }
}

fn piece_of(run: RunId, held: &mut Held, bounds: Bounds, now: Time) -> Option<Piece> {
    let is_disowned = held.is_disowned();
    let [stdout, stderr] = &mut held.logs;
    match &mut held.stage {
        Stage::Over { is_sent: true, .. } => None,
        Stage::Over { end, is_sent } => {
            for (stream, log) in Stream::ALL.into_iter().zip([&mut *stdout, &mut *stderr]) {
                if let Some(range) = log.next_rest(now) {
                    return Some(Piece::Output(run, stream, range));
                }
            }
            *is_sent = true;
            let ranges = [stdout.tail(), stderr.tail()];
            let tail = |log: &super::log::Log| Tail {
                offset: log.tail().offset,
                bytes: Vec::new(),
                dropped: log.dropped(),
            };
            let mut end = end.clone();
            end.notes.splice(0..0, bounds.cuts(&held.run));
            (end.stdout, end.stderr) = (tail(stdout), tail(stderr));
            Some(Piece::End(run, end, ranges))
        }
        _ if is_disowned => None,
        _ => Stream::ALL
            .into_iter()
            .zip([stdout, stderr])
            .find_map(|(stream, log)| log.next_piece(now).map(|range| Piece::Output(run, stream, range))),
    }
}
