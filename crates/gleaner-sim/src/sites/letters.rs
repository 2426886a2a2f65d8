//! What meta-schedulers and sites say to each other.

use gleaner_core::{Needs, SiteState};
use gleaner_units::{RunId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// One thing that is said. A run goes by the name that its meta-scheduler gave it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Word {
    /// To a site: hold this for a run.
    Reserve(RunId, Needs),
    /// From a site: it is held since that moment.
    Granted(RunId, Time),
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
    /// From a site: this was free at that moment.
    State(SiteState, Time),
    /// To a site: how are things there, for the jobs that it knows of and for these that are new? That is the survey of that
    /// number.
    Survey(u32, Box<[TaskId]>),
    /// From a site: this was free at that moment, in answer to that survey.
    Answer(u32, SiteState, Time),
    /// To a site: this job waits no more.
    Forget(TaskId),
}

impl Word {
    /// Whether a site says it, and not a meta-scheduler.
    pub(super) fn is_of_site(&self) -> bool {
        match self {
            Self::Granted(..)
            | Self::Refused(_)
            | Self::Released(_)
            | Self::Ended(_)
            | Self::State(..)
            | Self::Answer(..) => true,
            Self::Reserve(..) | Self::Dispatch(_) | Self::Release(_) | Self::Survey(..) | Self::Forget(_) => {
                false
            }
        }
    }
}

/// A word on its way, or the acknowledgement of one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Slip {
    /// The word of that number.
    Word(u64, Word),
    /// The word of that number came.
    Heard(u64),
}
