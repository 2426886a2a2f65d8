use gleaner_core::Alarm;
use gleaner_units::{PartyId, Time};
use serde::{Deserialize, Serialize};

/// Where a simulation is in time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// The wake-ups that led to nothing since anything last led to something, in order.
    idle: Vec<(PartyId, Alarm)>,
}

impl Clock {
    /// The next event comes, and none comes before one that was.
    #[inline]
    pub(crate) fn begin(&mut self, now: Time) {
        assert!(now >= self.now, "time went back from {} to {now}", self.now);
        self.now = now;
        self.events += 1;
    }

    /// This event leads to something.
    #[inline]
    pub(crate) fn stirred(&mut self) {
        self.idle.clear();
    }

    /// This event is a wake-up; what it leads to shows later, unless it cannot be in vain.
    pub(crate) fn woke(&mut self, party: PartyId, alarm: Alarm, is_idle: bool) {
        if !is_idle {
            self.stirred();
        } else if let Err(place) = self.idle.binary_search(&(party, alarm)) {
            self.idle.insert(place, (party, alarm));
        }
    }

    /// Whether the latest wake-up by that alarm of a party led to nothing, and nothing happened since.
    pub(crate) fn is_idle(&self, party: PartyId, alarm: Alarm) -> bool {
        self.idle.binary_search(&(party, alarm)).is_ok()
    }
}
