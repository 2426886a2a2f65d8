//! Machines that share their cores among tasks, with runs of several parts beside those of one. **A task that needs k
//! cores has k shares.**

use crate::setup::Setup;
use crate::sharing::Sharing;
use crate::wide::Wide;
use gleaner_core::Part;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Shared {
    sharing: Sharing,
    wide: Wide,
}

impl Shared {
    pub(crate) fn of(setup: &Setup) -> Self {
        let mut shared = Self::default();
        for class in &setup.machines {
            shared.sharing.add_machine(setup.machine_classes[class.index()].cores);
        }
        shared
    }

    pub(crate) fn set_load(&mut self, setup: &Setup, now: Time, machine: MachineId, load: f64) {
        self.sharing.set_load(now, machine, load);
        self.rate(setup, now, machine);
    }

    #[inline]
    pub(crate) fn insert(&mut self, setup: &Setup, now: Time, (run, ops): (RunId, f64), on: MachineId) {
        self.sharing.widen(on, further_shares(setup, run.task));
        self.sharing.insert(now, on, run, ops * seconds_per_op(setup, run.task, on));
        self.rate(setup, now, on);
    }

    pub(crate) fn insert_wide(&mut self, setup: &Setup, now: Time, (run, ops): (RunId, f64), parts: &[Part]) {
        self.wide.insert(now, run, ops, parts);
        for part in parts {
            self.sharing.crowd(now, part.on, i64::from(part.cores));
        }
        for part in parts {
            self.rate(setup, now, part.on);
        }
    }

    /// Takes a run off its machines and returns the operations that it has left.
    pub(crate) fn remove(&mut self, setup: &Setup, now: Time, run: RunId) -> f64 {
        if let Some(left) = self.remove_wide(setup, now, run) {
            return left;
        }
        let on = self.sharing.machine_of(run).expect("a run that is taken off a machine was on one");
        self.sharing.widen(on, -further_shares(setup, run.task));
        let left = self.sharing.remove(now, run) / seconds_per_op(setup, run.task, on);
        self.rate(setup, now, on);
        left
    }

    fn remove_wide(&mut self, setup: &Setup, now: Time, run: RunId) -> Option<f64> {
        let (parts, left) = self.wide.remove(now, run)?;
        for part in &parts {
            self.sharing.crowd(now, part.on, -i64::from(part.cores));
        }
        for part in &parts {
            self.rate(setup, now, part.on);
        }
        Some(left)
    }

    #[inline]
    pub(crate) fn next_completion(&self) -> Option<(Time, RunId)> {
        let (one, other) = (self.sharing.next_completion(), self.wide.next_completion());
        match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, None) => one,
            (None, other) => other,
        }
    }

    /// The next completion comes.
    #[inline]
    pub(crate) fn complete(&mut self, setup: &Setup, now: Time, run: RunId) {
        if self.remove_wide(setup, now, run).is_some() {
            return;
        }
        let on = self.sharing.machine_of(run).expect("a run that ends is somewhere");
        self.sharing.widen(on, -further_shares(setup, run.task));
        self.sharing.complete(now, run);
        self.rate(setup, now, on);
    }

    /// Where a run is, or the first of its parts.
    #[inline]
    pub(crate) fn machine_of(&self, run: RunId) -> Option<MachineId> {
        self.sharing.machine_of(run).or_else(|| self.wide.parts_of(run).first().map(|part| part.on))
    }

    /// Where the other parts of a run are.
    pub(crate) fn further_machines_of(&self, run: RunId) -> Vec<MachineId> {
        self.wide.parts_of(run).iter().skip(1).map(|part| part.on).collect()
    }

    #[inline]
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        self.sharing.residents(machine) + self.wide.residents(machine)
    }

    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        self.sharing.busy_seconds(machine, now)
    }

    #[inline]
    fn rate(&mut self, setup: &Setup, now: Time, machine: MachineId) {
        let sharing = &self.sharing;
        self.wide.rate(now, machine, |run, part| {
            sharing.share(part.on) / seconds_per_op(setup, run.task, part.on)
        });
    }
}

/// A run of one part counts once, and with each further core once more.
fn further_shares(setup: &Setup, task: TaskId) -> i64 {
    let cores = setup.task_classes[setup.tasks.classes[task.index()].index()].needs.cores;
    i64::from(cores.saturating_sub(1))
}

/// Σ W·C/S with 0/0 = 0: what an operation of a task takes on a machine, where it has a core to itself.
fn seconds_per_op(setup: &Setup, task: TaskId, on: MachineId) -> f64 {
    let composition = &setup.task_classes[setup.tasks.classes[task.index()].index()].composition;
    let speeds = &setup.machine_classes[setup.machines[on.index()].index()].speeds;
    let terms = setup.config.weights.iter().zip(composition).zip(speeds);
    terms.filter(|((_, share), _)| **share > 0.0).map(|((weight, share), speed)| weight * share / speed).sum()
}
