//! When machines are there, and how fast: a list of intervals. In each a machine is there without a break and has a speed
//! that changes from piece to piece.
//!
//! - **Intervals are in order of their beginnings**, those of one moment in order of their machines. An interval's
//!   number is its place in that order.
//! - **Every interval has a piece, and every piece has a length.**

use crate::Ids;
use gleaner_units::Time;

/// Machines that come and go.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    machines: Ids,
    intervals: Vec<Interval>,
    /// Those of an interval stand together.
    pieces: Vec<Piece>,
}

/// A machine is there, from one moment until another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Which machine, counted from 0 in the order of the trace.
    pub machine: u32,
    /// It comes.
    pub from: Time,
    /// It is gone.
    pub until: Time,
    first_piece: u32,
    pieces: u32,
}

/// From a moment on, so fast.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// Until the next piece begins, or the interval ends.
    pub from: Time,
    /// Operations a second.
    pub speed: f64,
    /// What the machine can have done since the interval began.
    before: f64,
}

impl Trace {
    /// How the machines are called.
    pub fn machines(&self) -> &Ids {
        &self.machines
    }

    /// In order of their beginnings.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// The pieces of an interval, one after the other; at least one.
    #[inline]
    pub fn pieces(&self, interval: usize) -> &[Piece] {
        let Interval { first_piece, pieces, .. } = self.intervals[interval];
        &self.pieces[first_piece as usize..(first_piece + pieces) as usize]
    }

    /// How many pieces there are.
    pub fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    /// When the last machine is gone.
    pub fn end(&self) -> Time {
        self.intervals.iter().map(|interval| interval.until).max().unwrap_or(Time::ZERO)
    }

    /// The operations that a machine can do in an interval until `time`, which lies in it. Costs O(log pieces).
    #[inline]
    pub fn ops_until(&self, interval: usize, time: Time) -> f64 {
        let pieces = self.pieces(interval);
        let at = pieces.partition_point(|piece| piece.from <= time).saturating_sub(1);
        pieces[at].ops_until(time)
    }

    /// When a machine has done so many operations since an interval began; none if the interval ends before. Costs
    /// O(log pieces).
    #[inline]
    pub fn time_of(&self, interval: usize, ops: f64) -> Option<Time> {
        let pieces = self.pieces(interval);
        let at = pieces.partition_point(|piece| piece.before < ops).saturating_sub(1);
        let Piece { from, speed, before } = pieces[at];
        // Where nothing is left to do a machine that stands still is done, too.
        let rest = ops - before;
        let seconds = if rest > 0.0 { rest / speed } else { 0.0 };
        Some(from.after_seconds(seconds)).filter(|time| *time <= self.intervals[interval].until)
    }

    /// The mean speed from one moment of an interval to a later one.
    #[inline]
    pub fn mean_speed(&self, interval: usize, from: Time, until: Time) -> f64 {
        (self.ops_until(interval, until) - self.ops_until(interval, from)) / until.since(from).seconds()
    }

    /// What a machine can do in all of an interval.
    pub fn ops_in(&self, interval: usize) -> f64 {
        self.ops_until(interval, self.intervals[interval].until)
    }

    /// From intervals in any order, each with a piece.
    pub fn of(machines: Ids, mut drafts: Vec<Draft>) -> Self {
        drafts.sort_by_key(|draft| (draft.from, draft.machine));
        let mut trace = Self { machines, intervals: Vec::with_capacity(drafts.len()), pieces: Vec::new() };
        for Draft { machine, from, until, pieces } in drafts {
            let (first_piece, count) = (trace.pieces.len() as u32, pieces.len() as u32);
            trace.intervals.push(Interval { machine, from, until, first_piece, pieces: count });
            trace.pieces.extend(pieces);
        }
        trace
    }
}

impl Piece {
    #[inline]
    fn ops_until(&self, time: Time) -> f64 {
        self.before + self.speed * time.since(self.from).seconds()
    }
}

/// An interval that grows piece by piece.
#[derive(Debug)]
pub struct Draft {
    /// Which machine, counted from 0.
    pub machine: u32,
    from: Time,
    /// Where it ends so far.
    pub until: Time,
    pieces: Vec<Piece>,
}

impl Draft {
    /// Without a piece yet.
    pub fn new(machine: u32, from: Time) -> Self {
        Self { machine, from, until: from, pieces: Vec::new() }
    }

    /// Where its latest piece begins.
    pub fn latest_from(&self) -> Time {
        self.pieces.last().map_or(self.from, |piece| piece.from)
    }

    /// So fast, from where it ends so far until a later moment.
    pub fn go_on(&mut self, until: Time, speed: f64) {
        debug_assert!(until > self.until, "a piece has a length");
        let before = self.pieces.last().map_or(0.0, |piece| piece.ops_until(self.until));
        self.pieces.push(Piece { from: self.until, speed, before });
        self.until = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Time {
        Time::from_seconds(seconds).expect("a time")
    }

    #[test]
    fn work_and_time_answer_each_other() {
        let mut ids = Ids::default();
        ids.push("a");
        let mut draft = Draft::new(0, seconds(10.0));
        for (until, speed) in [(20.0, 5.0), (30.0, 0.0), (40.0, 2.0)] {
            draft.go_on(seconds(until), speed);
        }
        let trace = Trace::of(ids, vec![draft]);
        for (at, ops) in [(10.0, 0.0), (15.0, 25.0), (20.0, 50.0), (25.0, 50.0), (30.0, 50.0), (40.0, 70.0)] {
            assert_eq!(trace.ops_until(0, seconds(at)), ops, "{at} s");
        }
        let times = [
            (0.0, Some(10.0)),
            (25.0, Some(15.0)),
            (50.0, Some(20.0)),
            (60.0, Some(35.0)),
            (70.0, Some(40.0)),
        ];
        for (ops, at) in times.into_iter().chain([(70.1, None)]) {
            assert_eq!(trace.time_of(0, ops), at.map(seconds), "{ops} operations");
        }
        assert_eq!(trace.mean_speed(0, seconds(15.0), seconds(35.0)), 35.0 / 20.0);
    }
}
