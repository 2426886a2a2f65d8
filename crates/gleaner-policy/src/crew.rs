//! The machines that take tasks, free or not: what a batch is made for.

use gleaner_core::{Availability, Grid};
use gleaner_units::MachineId;
use std::collections::BTreeSet;

/// The open machines whose owners leave some of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Crew {
    open: BTreeSet<MachineId>,
}

impl Crew {
    /// Of a whole grid. Costs O(machines).
    pub(crate) fn of(grid: &Grid) -> Self {
        let mut crew = Self::default();
        (0..grid.machines().len()).map(MachineId::new).for_each(|machine| crew.update(grid, machine));
        crew
    }

    /// Takes note of a machine. Costs O(log machines).
    pub(crate) fn update(&mut self, grid: &Grid, id: MachineId) {
        let machine = grid.machine(id);
        if machine.availability() == Availability::Open && machine.capacity() > 0.0 {
            self.open.insert(id);
        } else {
            self.open.remove(&id);
        }
    }

    /// In order.
    pub(crate) fn open(&self) -> &BTreeSet<MachineId> {
        &self.open
    }
}
