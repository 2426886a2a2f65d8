//! Which pieces of output to send, and when an end may follow them.

use super::held::{Held, Stage};
use super::ruling::Reason;
use super::{Duties, Piece};
use crate::owner::Bounds;
use gleaner_units::{RunId, Time};
use gleaner_wire::session::{Stream, Tail};

const STREAMS: [Stream; 2] = [Stream::Stdout, Stream::Stderr];

impl Duties {
    /// A piece to send now, if there is one. Ask only when what was sent before has left, so that output waits here
    /// and not in memory.
    pub fn next_piece(&mut self, now: Time) -> Option<Piece> {
        if !self.link.is_up() {
            return None;
        }
        let logs = self.runs.values().flat_map(|held| &held.logs);
        let on_its_way: u64 = logs.map(super::log::Log::on_its_way).sum();
        if self.window.is_to_ask(on_its_way) {
            self.window.asked(now, self.link.ask(now));
        }
        if self.window.is_full(on_its_way) {
            return None;
        }
        let bounds = self.bounds;
        self.runs.iter_mut().find_map(|(run, held)| piece_of(*run, held, bounds, now))
    }

    pub(super) fn output_due(&self, held: &Held) -> Option<Time> {
        let dues = held.logs.iter().filter_map(super::log::Log::due).min();
        dues.filter(|_| self.link.is_up() && !held.stage.is_over())
    }
}

fn piece_of(run: RunId, held: &mut Held, bounds: Bounds, now: Time) -> Option<Piece> {
    let [stdout, stderr] = &mut held.logs;
    match &mut held.stage {
        Stage::Over { is_sent: true, .. } => None,
        Stage::Over { end, is_sent } => {
            for (stream, log) in STREAMS.into_iter().zip([&mut *stdout, &mut *stderr]) {
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
        _ if held.ending.is_some_and(|ending| ending.reason == Reason::Disowned) => None,
        _ => STREAMS
            .into_iter()
            .zip([stdout, stderr])
            .find_map(|(stream, log)| log.next_piece(now).map(|range| Piece::Output(run, stream, range))),
    }
}
