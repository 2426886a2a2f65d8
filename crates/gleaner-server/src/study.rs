//! What the last day would have been under another policy. The simulator that knows stands above this crate: whoever
//! starts the coordinator hands it in.

use crate::store::{Reader, Seq};
use gleaner_policy::PolicySpec;
use gleaner_units::Time;
use gleaner_wire::day::WhatIfView;
use thiserror::Error;

/// Reads the whole journal, and runs the tasks that came since a moment again under the policy. The error is for people.
pub type Study = fn(&dyn Reader, Time, &PolicySpec) -> Result<WhatIfView, StudyError>;

/// Why nothing can be said.
#[derive(Debug, Error)]
pub enum StudyError {
    /// No task that came in that time has run to its end.
    #[error("no task that came in the last day has run to its end yet")]
    Nothing,
    /// Likewise, and what came before left the journal.
    #[error(
        "the journal was compacted at row {at}: what came before cannot be told any more, and no task that came later in the last \
         day has run to its end yet"
    )]
    NothingSince {
        /// Where.
        at: Seq,
    },
    /// The journal leads nowhere.
    #[error("{0}")]
    Journal(String),
}
