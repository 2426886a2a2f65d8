//! What an agent acts upon while it handles one thing: the moment, the luck, and what comes of it.

use super::chance::Chance;
use super::history::Seen;
use super::mutant::Mutant;
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::FromAgent;
use std::collections::BTreeMap;

/// What an agent wants to be reminded of.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Timer {
    /// Try to reach the coordinator.
    Dial,
    /// The greeting on this connection has had its time.
    Welcome(usize),
    /// On this connection.
    Heartbeat(usize),
    /// The lease may have ended.
    Lease,
    /// What a run needs is there.
    Ready(RunId),
    /// A program has counted as far as it will.
    Counted(RunId, u32),
    /// A program that was asked to stop has stopped.
    Stopped(RunId),
    /// What a program left has arrived, and its end is told.
    Told(RunId),
}

pub(crate) struct Scene<'a> {
    pub(crate) now: Time,
    pub(crate) chance: &'a mut Chance,
    /// What is stored at the coordinator, and how far the counting was.
    pub(crate) blobs: &'a mut BTreeMap<BlobHash, Span>,
    pub(crate) seen: &'a mut Vec<(Time, Seen)>,
    pub(crate) mutant: Option<Mutant>,
    /// Whether answers are compared in this history, so that each machine but one has to give the right one in the end.
    pub(crate) compares: bool,
    /// Whether anything may go wrong at present.
    pub(crate) is_rough: bool,
    pub(crate) sends: Vec<FromAgent>,
    pub(crate) timers: Vec<(Span, Timer)>,
    /// The connection is to be ended.
    pub(crate) close: bool,
}

impl Scene<'_> {
    pub(crate) fn see(&mut self, seen: Seen) {
        self.seen.push((self.now, seen));
    }

    pub(crate) fn set(&mut self, after: Span, timer: Timer) {
        self.timers.push((after, timer));
    }

    pub(crate) fn goes_wrong(&mut self, cases: u64) -> bool {
        self.is_rough && self.chance.one_in(cases)
    }
}
