//! The machines of a run, of whichever model: those that share their cores among tasks, or those of a trace.
//!
//! Work is in logical operations here; how the models measure it is their own.

use crate::availability::Availability;
use crate::setup::Setup;
use crate::sharing::Sharing;
use crate::traced::Traced;
use gleaner_core::Migration;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};

/// What runs tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Machines {
    /// Always there, and as fast as their class.
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

    /// A machine of the trace goes; the runs that were on it are returned.
    pub(crate) fn lose(&mut self, now: Time, machine: MachineId) -> Vec<RunId> {
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

    /// Puts a run with so many operations left on a machine.
    #[inline]
    pub(crate) fn insert(&mut self, setup: &Setup, now: Time, (run, ops): (RunId, f64), on: MachineId) {
        match self {
            Self::Shared(sharing) => sharing.insert(now, on, run, ops * seconds_per_op(setup, run.task, on)),
            Self::Traced(traced) => traced.insert(availability(setup), now, on, run, ops * weight(setup)),
        }
    }

    /// Takes a run off its machine and returns the operations that it has left.
    pub(crate) fn remove(&mut self, setup: &Setup, now: Time, run: RunId) -> f64 {
        match self {
            Self::Shared(sharing) => {
                let from = sharing.machine_of(run).expect("a run that is taken off a machine was on one");
                sharing.remove(now, run) / seconds_per_op(setup, run.task, from)
            }
            Self::Traced(traced) => traced.remove(&availability(setup).trace, now, run) / weight(setup),
        }
    }

    #[inline]
    pub(crate) fn next_completion(&self) -> Option<(Time, RunId)> {
        match self {
            Self::Shared(sharing) => sharing.next_completion(),
            Self::Traced(traced) => traced.next_completion(),
        }
    }

    /// The next completion comes; whether the task is done, and not given up.
    #[inline]
    pub(crate) fn complete(&mut self, now: Time, run: RunId) -> bool {
        match self {
            Self::Shared(sharing) => {
                sharing.complete(now, run);
                true
            }
            Self::Traced(traced) => traced.complete(now, run),
        }
    }

    #[inline]
    pub(crate) fn machine_of(&self, run: RunId) -> Option<MachineId> {
        match self {
            Self::Shared(sharing) => sharing.machine_of(run),
            Self::Traced(traced) => traced.machine_of(run),
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

/// Σ W·C/S with 0/0 = 0: what an operation of a task takes on a machine, where it has a core to itself.
fn seconds_per_op(setup: &Setup, task: TaskId, on: MachineId) -> f64 {
    let composition = &setup.task_classes[setup.tasks.classes[task.index()].index()].composition;
    let speeds = &setup.machine_classes[setup.machines[on.index()].index()].speeds;
    let terms = setup.config.weights.iter().zip(composition).zip(speeds);
    terms.filter(|((_, share), _)| **share > 0.0).map(|((weight, share), speed)| weight * share / speed).sum()
}

/// What bringing a task from one machine to another takes now.
pub(crate) fn migration_seconds(setup: &Setup, now: Time, from: MachineId, to: MachineId) -> f64 {
    let Migration { seconds, volume, network } = setup.config.migration;
    if volume == 0.0 {
        return seconds;
    }
    let speed = |machine: MachineId| match &setup.availability {
        Some(by_trace) => by_trace.speed(machine, now),
        None => setup.machine_classes[setup.machines[machine.index()].index()].speeds[network],
    };
    seconds + volume / speed(from).min(speed(to))
}

fn availability(setup: &Setup) -> &Availability {
    setup.availability.as_ref().expect("machines by a trace come with it")
}

/// W: a trace's speeds are in the operations of the only kind.
fn weight(setup: &Setup) -> f64 {
    setup.config.weights[0]
}
