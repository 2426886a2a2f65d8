//! What is known of the survey of sites under way, and of the one before: see [`super::surveying`].

use gleaner_units::MachineId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The survey under way, and what came of the one before.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Surveys {
    /// How many there were; the number of the latest.
    pub(super) count: u32,
    /// Whether anything happened since that began: not all answers know of it.
    pub(super) missed: bool,
    /// Who has not answered it yet; nobody where none is under way.
    pub(super) silent: BTreeSet<MachineId>,
    /// Who did not answer the latest that is over.
    pub(super) dropped: BTreeSet<MachineId>,
}
