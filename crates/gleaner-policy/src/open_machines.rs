//! The machines that take tasks, free or not: what a batch is made for.
//!
//! Mostly the greater part of them does nothing, and nothing has to be worked out for those: they are kept apart.

use gleaner_core::{Availability, Grid};
use gleaner_units::{MachineClassId, MachineId};
use std::collections::BTreeSet;

/// The open machines whose owners leave some of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct OpenMachines {
    /// By class of machines.
    classes: Vec<Members>,
    /// By machine; none where it takes no tasks.
    standings: Vec<Option<Standing>>,
}

/// The machines of one class.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Members {
    /// With no task there or on its way there.
    pub(crate) idle: BTreeSet<MachineId>,
    /// All others.
    pub(crate) busy: BTreeSet<MachineId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Standing {
    class: MachineClassId,
    is_idle: bool,
}

impl OpenMachines {
    /// Of a whole grid. Costs O(machines).
    pub(crate) fn of(grid: &Grid) -> Self {
        let classes = vec![Members::default(); grid.classes().machine_classes().len()];
        let mut open = Self { classes, standings: Vec::new() };
        for machine in (0..grid.machines().len()).map(MachineId::new) {
            open.update(grid, machine);
        }
        open
    }

    /// Machines of another class may come.
    pub(crate) fn add_class(&mut self) {
        self.classes.push(Members::default());
    }

    /// Takes note of a machine; whether it takes tasks where it took none, or none where it did. Costs O(log machines), and O(1)
    /// where nothing changed.
    pub(crate) fn update(&mut self, grid: &Grid, id: MachineId) -> bool {
        let machine = grid.machine(id);
        let takes = machine.availability() == Availability::Open && machine.capacity() > 0.0;
        let standing = takes.then(|| Standing { class: machine.class(), is_idle: machine.count() == 0 });
        if self.standings.len() <= id.index() {
            self.standings.resize(id.index() + 1, None);
        }
        let before = std::mem::replace(&mut self.standings[id.index()], standing);
        if before == standing {
            return false;
        }
        if let Some(before) = before {
            self.set_of(before).remove(&id);
        }
        if let Some(standing) = standing {
            self.set_of(standing).insert(id);
        }
        before.is_some() != standing.is_some()
    }

    /// The classes with any machine, in order.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (MachineClassId, &Members)> {
        let numbered = self.classes.iter().enumerate();
        let some = numbered.filter(|(_, members)| !members.idle.is_empty() || !members.busy.is_empty());
        some.map(|(index, members)| (MachineClassId::new(index), members))
    }

    /// The machines of a class, in no order.
    pub(crate) fn of_class(&self, class: MachineClassId) -> impl Iterator<Item = MachineId> {
        let Members { idle, busy } = &self.classes[class.index()];
        idle.iter().chain(busy).copied()
    }

    /// How many cores the machines of a class have for tasks, together: what their owners leave, as far as there are slots for it.
    pub(crate) fn capacity(&self, grid: &Grid, class: MachineClassId) -> f64 {
        let width = f64::from(grid.classes().machine_class(class).width());
        self.of_class(class).map(|id| grid.machine(id).capacity().min(width)).sum()
    }

    /// Whether it takes tasks.
    pub(crate) fn has(&self, machine: MachineId) -> bool {
        self.standings[machine.index()].is_some()
    }

    fn set_of(&mut self, standing: Standing) -> &mut BTreeSet<MachineId> {
        let members = &mut self.classes[standing.class.index()];
        if standing.is_idle { &mut members.idle } else { &mut members.busy }
    }
}
