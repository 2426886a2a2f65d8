//! The machines of a run, of whichever model: those that share their cores among tasks, or those of a trace.
//!
//! Work is in logical operations here; how the models measure it is their own.

use crate::availability::MachineTraces;
use crate::given::Given;
use crate::setup::Setup;
use crate::shared::Shared;
use crate::traced::Traced;
use gleaner_core::{Migration, Part};
use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};

/// What runs tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Machines {
    /// Always there, and as fast as their class.
    Shared(Shared),
    /// By a trace.
    Traced(Traced),
}

impl Machines {
    pub(crate) fn of(setup: &Setup) -> Self {
        if setup.availability.is_some() {
            return Self::Traced(Traced::default());
        }
        Self::Shared(Shared::of(setup))
    }

    /// The next machine of the trace comes.
    pub(crate) fn add_traced(&mut self) {
        match self {
            Self::Traced(traced) => traced.add_machine(),
            Self::Shared(_) => unreachable!("machines come by a trace"),
        }
    }

    /// A machine of the trace goes; the runs that were on it are returned, with the operations that each had left.
    pub(crate) fn lose(&mut self, given: &Given<'_>, now: Time, machine: MachineId) -> Vec<(RunId, f64)> {
        match self {
            Self::Traced(traced) => {
                let runs = traced.lose(&availability(given).trace, now, machine);
                runs.into_iter().map(|(run, left)| (run, left / weight(given))).collect()
            }
            Self::Shared(_) => unreachable!("machines go by a trace"),
        }
    }

    pub(crate) fn set_load(&mut self, given: &Given<'_>, now: Time, machine: MachineId, load: f64) {
        match self {
            Self::Shared(shared) => shared.set_load(given, now, machine, load),
            Self::Traced(_) => unreachable!("a trace has its owners' loads in its speeds"),
        }
    }

    /// Puts a run with so many operations left on a machine.
    #[inline]
    pub(crate) fn insert(&mut self, given: &Given<'_>, now: Time, (run, ops): (RunId, f64), on: MachineId) {
        match self {
            Self::Shared(shared) => shared.insert(given, now, (run, ops), on),
            Self::Traced(traced) => traced.insert(availability(given), now, on, run, ops * weight(given)),
        }
    }

    /// Likewise on several at a time.
    pub(crate) fn insert_wide(
        &mut self,
        given: &Given<'_>,
        now: Time,
        (run, ops): (RunId, f64),
        parts: &[Part],
    ) {
        match self {
            Self::Shared(shared) => shared.insert_wide(given, now, (run, ops), parts),
            Self::Traced(_) => unreachable!("nothing runs in parts on machines that come by a trace"),
        }
    }

    /// Takes a run off its machines and returns the operations that it has left.
    pub(crate) fn remove(&mut self, given: &Given<'_>, now: Time, run: RunId) -> f64 {
        match self {
            Self::Shared(shared) => shared.remove(given, now, run),
            Self::Traced(traced) => traced.remove(&availability(given).trace, now, run) / weight(given),
        }
    }

    #[inline]
    pub(crate) fn next_completion(&self) -> Option<(Time, RunId)> {
        match self {
            Self::Shared(shared) => shared.next_completion(),
            Self::Traced(traced) => traced.next_completion(),
        }
    }

    /// The next completion comes; whether the task is done, and not given up.
    #[inline]
    pub(crate) fn complete(&mut self, given: &Given<'_>, now: Time, run: RunId) -> bool {
        match self {
            Self::Shared(shared) => {
                shared.complete(given, now, run);
                true
            }
            Self::Traced(traced) => traced.complete(now, run),
        }
    }

    /// Where a run is, or the first of its parts.
    #[inline]
    pub(crate) fn machine_of(&self, run: RunId) -> Option<MachineId> {
        match self {
            Self::Shared(shared) => shared.machine_of(run),
            Self::Traced(traced) => traced.machine_of(run),
        }
    }

    /// Where the other parts of a run are.
    pub(crate) fn further_machines_of(&self, run: RunId) -> Vec<MachineId> {
        match self {
            Self::Shared(shared) => shared.further_machines_of(run),
            Self::Traced(_) => Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        match self {
            Self::Shared(shared) => shared.residents(machine),
            Self::Traced(traced) => traced.residents(machine),
        }
    }

    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        match self {
            Self::Shared(shared) => shared.busy_seconds(machine, now),
            Self::Traced(traced) => traced.busy_seconds(machine, now),
        }
    }
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

fn availability(setup: &Setup) -> &MachineTraces {
    setup.availability.as_ref().expect("machines by a trace come with it")
}

/// W: a trace's speeds are in the operations of the only kind.
fn weight(setup: &Setup) -> f64 {
    setup.config.weights[0]
}
