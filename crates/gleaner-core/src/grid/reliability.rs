//! How many runs came to their end where they were, and how many did not: what is learnt of a machine by using it.
//!
//! **Only what nobody asked for counts against a machine**: a run that failed, or was lost with it; not one that was told to stop
//! or that was kept. What a peer lends has no name that lasts, so that all of a peer's machines are one here.

use super::{Grid, Run, Stage};
use crate::RunEnd;
use gleaner_units::{MachineId, PartyId};
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
pub(crate) struct Reliability {
    /// By machine of one's own; those behind the end ran nothing yet.
    own: Vec<Ends>,
    lenders: BTreeMap<PartyId, Ends>,
}

impl Grid {
    /// What came of runs on a machine; on a borrowed one, on all machines of its owner's.
    #[inline]
    pub fn ends_on(&self, machine: MachineId) -> Ends {
        if let Some(lender) = self.loans.lender(machine) {
            return self.reliability.lenders.get(&lender).copied().unwrap_or_default();
        }
        self.reliability.own.get(machine.index()).copied().unwrap_or_default()
    }

    fn ends_on_mut(&mut self, machine: MachineId) -> &mut Ends {
        if let Some(lender) = self.loans.lender(machine) {
            return self.reliability.lenders.entry(lender).or_default();
        }
        let own = &mut self.reliability.own;
        if own.len() <= machine.index() {
            own.resize(machine.index() + 1, Ends::default());
        }
        &mut own[machine.index()]
    }

    /// A run is over on these machines.
    pub(super) fn count_end(&mut self, run: &Run, end: RunEnd, machines: impl Iterator<Item = MachineId>) {
        let was_missing = run.stage == Stage::Missing;
        let is_lost = end == RunEnd::Lost && matches!(run.stage, Stage::Sent | Stage::Running);
        for machine in machines {
            if end == RunEnd::Finished && !run.is_superseded {
                let ends = self.ends_on_mut(machine);
                ends.finished = ends.finished.saturating_add(1);
                // It was not lost after all.
                ends.lost -= u32::from(was_missing && ends.lost > 0);
            } else if is_lost {
                self.count_loss(machine);
            }
        }
    }

    /// A run is lost with its machine.
    pub(super) fn count_loss(&mut self, machine: MachineId) {
        let ends = self.ends_on_mut(machine);
        ends.lost = ends.lost.saturating_add(1);
    }
}
