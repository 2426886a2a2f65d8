//! Machines that share their cores among tasks, with runs of several parts beside those of one. **A task that needs k
//! cores has k shares.**

use crate::given::Given;
use crate::setup::Setup;
use crate::sharing::Sharing;
use crate::wide::Wide;
use gleaner_core::Part;
use gleaner_units::{MachineId, RunId, Time};
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

    pub(crate) fn set_load(&mut self, given: &Given<'_>, now: Time, machine: MachineId, load: f64) {
        self.sharing.set_load(now, machine, load);
        self.rate(given, now, machine);
    }

    #[inline]
    pub(crate) fn insert(&mut self, given: &Given<'_>, now: Time, (run, ops): (RunId, f64), on: MachineId) {
        self.sharing.widen(on, given.footprint(run.task).further_shares());
        self.sharing.insert(now, on, run, ops * given.seconds_per_op(run.task, on));
        self.rate(given, now, on);
    }

    pub(crate) fn insert_wide(
        &mut self,
        given: &Given<'_>,
        now: Time,
        (run, ops): (RunId, f64),
        parts: &[Part],
    ) {
        self.wide.insert(now, run, ops, parts);
        for part in parts {
            self.sharing.crowd(now, part.on, i64::from(part.cores));
        }
        for part in parts {
            self.rate(given, now, part.on);
        }
    }

    /// Takes a run off its machines and returns the operations that it has left.
    pub(crate) fn remove(&mut self, given: &Given<'_>, now: Time, run: RunId) -> f64 {
        if let Some(left) = self.remove_wide(given, now, run) {
            return left;
        }
        let on = self.sharing.machine_of(run).expect("a run that is taken off a machine was on one");
        self.sharing.widen(on, -given.footprint(run.task).further_shares());
        let left = self.sharing.remove(now, run) / given.seconds_per_op(run.task, on);
        self.rate(given, now, on);
        left
    }

    fn remove_wide(&mut self, given: &Given<'_>, now: Time, run: RunId) -> Option<f64> {
        let (parts, left) = self.wide.remove(now, run)?;
        for part in &parts {
            self.sharing.crowd(now, part.on, -i64::from(part.cores));
        }
        for part in &parts {
            self.rate(given, now, part.on);
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
    pub(crate) fn complete(&mut self, given: &Given<'_>, now: Time, run: RunId) {
        if self.remove_wide(given, now, run).is_some() {
            return;
        }
        let on = self.sharing.machine_of(run).expect("a run that ends is somewhere");
        self.sharing.widen(on, -given.footprint(run.task).further_shares());
        self.sharing.complete(now, run);
        self.rate(given, now, on);
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
    fn rate(&mut self, given: &Given<'_>, now: Time, machine: MachineId) {
        let sharing = &self.sharing;
        self.wide
            .rate(now, machine, |run, part| sharing.share(part.on) / given.seconds_per_op(run.task, part.on));
    }
}
