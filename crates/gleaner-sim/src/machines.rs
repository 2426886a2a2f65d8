//! The machines of a run, of whichever model: those that share their cores among tasks, or those of a trace.
//!
//! Work is in logical operations here; how the models measure it is their own.

use crate::availability::Availability;
use crate::setup::Setup;
use crate::sharing::Sharing;
use crate::traced::Traced;
use gleaner_core::Grid;
use gleaner_units::{MachineId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// What runs tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Machines {
    /// Always there, and as fast as the scheduler takes them to be.
    Shared(Sharing),
    /// By a trace.
    Traced(Traced),
}

impl Machines {
    pub(crate) fn of(setup: &Setup) -> Self {
        if setup.availability.is_some() {
            return Self::Traced(Traced::default());
        }
        let mut sharing = Sharing::new();
        for class in &setup.machines {
            sharing.add_machine(setup.machine_classes[class.index()].cores);
        }
        Self::Shared(sharing)
    }

    /// The next machine of the trace comes.
    pub(crate) fn add_traced(&mut self) {
        match self {
            Self::Traced(traced) => traced.add_machine(),
            Self::Shared(_) => unreachable!("machines come by a trace"),
        }
    }

    /// A machine of the trace goes; the tasks that were on it are returned.
    pub(crate) fn lose(&mut self, now: Time, machine: MachineId) -> Vec<TaskId> {
        match self {
            Self::Traced(traced) => traced.lose(now, machine),
            Self::Shared(_) => unreachable!("machines go by a trace"),
        }
    }

    pub(crate) fn set_load(&mut self, now: Time, machine: MachineId, load: f64) {
        match self {
            Self::Shared(sharing) => sharing.set_load(now, machine, load),
            Self::Traced(_) => unreachable!("a trace has its owners' loads in its speeds"),
        }
    }

    /// Puts a task with so many operations left on a machine.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        setup: &Setup,
        now: Time,
        (task, ops): (TaskId, f64),
        on: MachineId,
        grid: &Grid,
    ) {
        match self {
            Self::Shared(sharing) => {
                let seconds = ops * grid.seconds_per_op(grid.task(task).class(), on);
                sharing.insert(now, on, task, seconds);
            }
            Self::Traced(traced) => traced.insert(availability(setup), now, on, task, ops * weight(setup)),
        }
    }

    /// Takes a task off its machine and returns the operations that it has left.
    pub(crate) fn remove(&mut self, setup: &Setup, now: Time, task: TaskId, grid: &Grid) -> f64 {
        match self {
            Self::Shared(sharing) => {
                let from = sharing.machine_of(task).expect("a task that is taken off a machine was on one");
                sharing.remove(now, task) / grid.seconds_per_op(grid.task(task).class(), from)
            }
            Self::Traced(traced) => traced.remove(&availability(setup).trace, now, task) / weight(setup),
        }
    }

    #[inline]
    pub(crate) fn next_completion(&self) -> Option<(Time, TaskId)> {
        match self {
            Self::Shared(sharing) => sharing.next_completion(),
            Self::Traced(traced) => traced.next_completion(),
        }
    }

    /// The next completion comes; whether the task is done, and not given up.
    #[inline]
    pub(crate) fn complete(&mut self, now: Time, task: TaskId) -> bool {
        match self {
            Self::Shared(sharing) => {
                sharing.complete(now, task);
                true
            }
            Self::Traced(traced) => traced.complete(now, task),
        }
    }

    #[inline]
    pub(crate) fn machine_of(&self, task: TaskId) -> Option<MachineId> {
        match self {
            Self::Shared(sharing) => sharing.machine_of(task),
            Self::Traced(traced) => traced.machine_of(task),
        }
    }

    #[inline]
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        match self {
            Self::Shared(sharing) => sharing.residents(machine),
            Self::Traced(traced) => traced.residents(machine),
        }
    }

    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        match self {
            Self::Shared(sharing) => sharing.busy_seconds(machine, now),
            Self::Traced(traced) => traced.busy_seconds(machine, now),
        }
    }
}

fn availability(setup: &Setup) -> &Availability {
    setup.availability.as_ref().expect("machines by a trace come with it")
}

/// W: a trace's speeds are in the operations of the only kind.
fn weight(setup: &Setup) -> f64 {
    setup.config.weights[0]
}
