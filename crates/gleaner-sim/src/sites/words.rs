//! What meta-schedulers and sites say to each other.

use gleaner_core::{Needs, SiteState};
use gleaner_units::RunId;

/// One thing that is said. A run goes by the name that its meta-scheduler gave it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Word {
    /// To a site: hold this for a run.
    Reserve(RunId, Needs),
    /// From a site: it is held.
    Granted(RunId),
    /// From a site: there is not so much.
    Refused(RunId),
    /// To a site: all of the run's sites hold their part; bring its data.
    Dispatch(RunId),
    /// To a site: what is held for a run is not wanted any more, or not now.
    Release(RunId),
    /// From a site: it is not held any more.
    Released(RunId),
    /// From a site: a run has come to its end, and is held no more.
    Ended(RunId),
    /// From a site: this is free now.
    State(SiteState),
}

/// A word on its way, or the acknowledgement of one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Slip {
    /// The word of that number.
    Word(u64, Word),
    /// The word of that number came.
    Heard(u64),
}
