//! What came of runs is counted, machine by machine: see [`super::reliability`].

use super::chains::MachinesOfRun;
use super::reliability::Ends;
use super::{Grid, Run, Stage};
use crate::RunEnd;
use gleaner_units::MachineId;

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
    pub(super) fn count_end(&mut self, run: &Run, end: RunEnd, machines: &MachinesOfRun) {
        let was_missing = run.stage == Stage::Missing;
        let is_lost = end == RunEnd::Lost && matches!(run.stage, Stage::Sent | Stage::Running);
        for machine in machines.iter() {
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
