//! How many runs came to their end where they were, and how many did not: what is learnt of a machine by using it.
//!
//! **Only what nobody asked for counts against a machine**: a run that failed, or was lost with it; not one that was told to stop
//! or that was kept. What a peer lends has no name that lasts, so that all of a peer's machines are one here.

use gleaner_units::PartyId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Runs that are over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ends {
    /// They came to their end.
    pub finished: u32,
    /// They failed, or their machine was lost.
    pub lost: u32,
}

impl Ends {
    /// The part that came to their end, where one more is taken for granted: 1 of whoever ran nothing yet.
    #[inline]
    pub fn reliability(self) -> f64 {
        let finished = f64::from(self.finished) + 1.0;
        finished / (finished + f64::from(self.lost))
    }
}

/// All of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Reliability {
    /// By machine of one's own; those behind the end ran nothing yet.
    pub(super) own: Vec<Ends>,
    pub(super) lenders: BTreeMap<PartyId, Ends>,
}
