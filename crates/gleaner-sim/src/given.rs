//! A setup, with what follows from its classes and is asked for at every start of a run.

use crate::setup::Setup;
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId, UserId};
use std::collections::BTreeSet;
use std::ops::Deref;

#[derive(Clone, Debug)]
pub(crate) struct Given<'a> {
    setup: &'a Setup,
    /// By task class.
    footprints: Vec<Footprint>,
    /// Where machines do not come by a trace: one row a task class, one column a machine class.
    seconds_per_op: Vec<f64>,
    payers: usize,
}

/// What a task of a class asks of its machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Footprint {
    /// Beside the first.
    further_cores: u32,
    /// Whether it keeps nothing of a run that is stopped.
    pub(crate) restarts: bool,
}

impl Footprint {
    /// How many shares of a machine it has beside the first.
    pub(crate) fn further_shares(self) -> i64 {
        i64::from(self.further_cores)
    }
}

impl<'a> Given<'a> {
    pub(crate) fn of(setup: &'a Setup) -> Self {
        let footprints = setup.task_classes.iter().map(|class| Footprint {
            further_cores: class.needs.cores.saturating_sub(1),
            restarts: class.restarts,
        });
        let machine_classes = if setup.availability.is_some() { &[] } else { &setup.machine_classes[..] };
        let pairs = setup.task_classes.iter().flat_map(|task| {
            machine_classes.iter().map(|on| seconds_per_op(setup, &task.composition, &on.speeds))
        });
        let payers: BTreeSet<UserId> = setup.task_classes.iter().map(|class| class.payer).collect();
        Self {
            setup,
            footprints: footprints.collect(),
            seconds_per_op: pairs.collect(),
            payers: payers.len(),
        }
    }

    /// The setup, for as long as it lasts.
    pub(crate) fn setup(&self) -> &'a Setup {
        self.setup
    }

    /// How many users there are whose tasks somebody pays for.
    pub(crate) fn payers(&self) -> usize {
        self.payers
    }

    #[inline]
    pub(crate) fn footprint(&self, task: TaskId) -> Footprint {
        self.footprints[self.class(task).index()]
    }

    /// What an operation of a task takes on a machine, where it has a core to itself.
    #[inline]
    pub(crate) fn seconds_per_op(&self, task: TaskId, on: MachineId) -> f64 {
        let machine_class: MachineClassId = self.setup.machines[on.index()];
        self.seconds_per_op
            [self.class(task).index() * self.setup.machine_classes.len() + machine_class.index()]
    }

    #[inline]
    fn class(&self, task: TaskId) -> TaskClassId {
        self.setup.tasks.classes[task.index()]
    }
}

impl Deref for Given<'_> {
    type Target = Setup;

    fn deref(&self) -> &Setup {
        self.setup
    }
}

/// Σ W·C/S with 0/0 = 0.
fn seconds_per_op(setup: &Setup, composition: &[f64], speeds: &[f64]) -> f64 {
    let terms = setup.config.weights.iter().zip(composition).zip(speeds);
    terms.filter(|((_, share), _)| **share > 0.0).map(|((weight, share), speed)| weight * share / speed).sum()
}
