use gleaner_units::{PartyId, Time};
use serde::{Deserialize, Serialize};

/// Where a simulation is in time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// By party: the event that was a wake-up which led to nothing, if it was so at the latest.
    idle: Vec<Option<u64>>,
    /// The latest event that led to anything.
    stirred: u64,
}

impl Clock {
    pub(crate) fn new(parties: usize) -> Self {
        Self { idle: vec![None; parties], ..Self::default() }
    }

    /// The next event comes.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        self.now = now;
        self.events += 1;
    }

    /// This event leads to something.
    #[inline]
    pub(crate) fn stirred(&mut self) {
        self.stirred = self.events;
    }

    /// This event is a wake-up, which leads to nothing unless that shows.
    pub(crate) fn woke(&mut self, party: PartyId, is_idle: bool) {
        self.idle[party.index()] = is_idle.then_some(self.events);
    }

    /// Whether the latest wake-up of a party led to nothing, and nothing happened since.
    pub(crate) fn is_idle(&self, party: PartyId) -> bool {
        self.idle[party.index()].is_some_and(|event| event > self.stirred)
    }
}
