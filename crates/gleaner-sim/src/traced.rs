//! Machines that run tasks as a trace has it: one task a core, each as fast as the machine is at the moment.
//!
//! When a task starts, the trace already says when it will be done, or that its machine goes first. So nothing is
//! touched between a task's start and its end.
//!
//! - **Machine k is interval k of the trace.**
//! - **The first of the completions is always one that will come**: entries of runs that were taken off are dropped as
//!   soon as they are first.

use crate::availability::MachineTraces;
use crate::trace::Trace;
use gleaner_units::{MachineId, RunId, Span, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The machines of a trace and the tasks on them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Traced {
    /// By interval, as far as they have begun.
    machines: Vec<Station>,
    /// By task: where a run of it is.
    places: Vec<Option<Place>>,
    /// Where further runs of the same tasks are.
    more_places: BTreeMap<RunId, Place>,
    completions: BinaryHeap<Reverse<(Time, RunId)>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Station {
    runs: Vec<RunId>,
    /// When the first of the runs that are there came to an empty machine.
    busy_since: Time,
    busy: Span,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    number: u32,
    machine: MachineId,
    /// What the machine could have done since its interval began when the task will be done.
    done_at: f64,
    /// None where the machine goes before.
    finish: Option<Time>,
    /// What comes then is no end: the machine gives the task up.
    gives_up: bool,
}

/// The part of a task that a saboteur does before it gives up.
pub(crate) const DONE_IN_VAIN: f64 = 0.9;

impl Traced {
    /// The next interval begins.
    pub(crate) fn add_machine(&mut self) {
        self.machines.push(Station::default());
    }

    /// Starts a task on a machine that is there.
    pub(crate) fn insert(
        &mut self,
        availability: &MachineTraces,
        now: Time,
        machine: MachineId,
        run: RunId,
        ops: f64,
    ) {
        let trace = &*availability.trace;
        let gives_up = availability.saboteurs.contains(&availability.host(machine));
        assert!(self.find_place(run).is_none(), "{run} is on a machine already");
        let started_at = trace.ops_until(machine.index(), now);
        let done_at = started_at + ops;
        let ends_at = if gives_up { started_at + DONE_IN_VAIN * ops } else { done_at };
        // What rounding puts before its own start is done at once.
        let finish = trace.time_of(machine.index(), ends_at).map(|time| time.max(now));
        let place = Place { number: run.number, machine, done_at, finish, gives_up };
        if self.places.len() <= run.task.index() {
            self.places.resize(run.task.index() + 1, None);
        }
        match &mut self.places[run.task.index()] {
            first @ None => *first = Some(place),
            Some(_) => {
                self.more_places.insert(run, place);
            }
        }
        self.completions.extend(finish.map(|finish| Reverse((finish, run))));
        let station = &mut self.machines[machine.index()];
        if station.runs.is_empty() {
            station.busy_since = now;
        }
        station.runs.push(run);
    }

    /// Takes a run off its machine and returns the operations that it still needs.
    pub(crate) fn remove(&mut self, trace: &Trace, now: Time, run: RunId) -> f64 {
        let place = self.take_off(now, run);
        (place.done_at - trace.ops_until(place.machine.index(), now)).max(0.0)
    }

    /// The earliest completion, and of those of one moment that of the lowest task.
    pub(crate) fn next_completion(&self) -> Option<(Time, RunId)> {
        self.completions.peek().map(|Reverse(first)| *first)
    }

    /// The next completion comes; whether the task is done.
    pub(crate) fn complete(&mut self, now: Time, run: RunId) -> bool {
        assert_eq!(self.next_completion(), Some((now, run)), "not the next completion");
        !self.take_off(now, run).gives_up
    }

    /// A machine goes; the runs that were on it are returned, with the operations that each still needs.
    pub(crate) fn lose(&mut self, trace: &Trace, now: Time, machine: MachineId) -> Vec<(RunId, f64)> {
        let runs = self.machines[machine.index()].runs.clone();
        runs.into_iter().map(|run| (run, self.remove(trace, now, run))).collect()
    }

    /// Where a run is.
    pub(crate) fn machine_of(&self, run: RunId) -> Option<MachineId> {
        self.find_place(run).map(|place| place.machine)
    }

    /// How many runs are on a machine.
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        self.machines[machine.index()].runs.len()
    }

    /// For how long a machine has run something.
    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        let Some(station) = self.machines.get(machine.index()) else { return 0.0 };
        let running = if station.runs.is_empty() { Span::ZERO } else { now.since(station.busy_since) };
        station.busy.seconds() + running.seconds()
    }

    fn find_place(&self, run: RunId) -> Option<Place> {
        match self.places.get(run.task.index())? {
            Some(first) if first.number == run.number => Some(*first),
            Some(_) | None => self.more_places.get(&run).copied(),
        }
    }

    fn take_off(&mut self, now: Time, run: RunId) -> Place {
        let place = self.find_place(run).expect("a run that is on a machine");
        if self.more_places.remove(&run).is_none() {
            self.places[run.task.index()] = None;
        }
        let station = &mut self.machines[place.machine.index()];
        station.runs.retain(|other| *other != run);
        if station.runs.is_empty() {
            let since = now.since(station.busy_since);
            station.busy = Span::from_nanos(station.busy.nanos() + since.nanos());
        }
        while let Some(&Reverse((time, first))) = self.completions.peek() {
            if self.find_place(first).is_some_and(|place| place.finish == Some(time)) {
                break;
            }
            self.completions.pop();
        }
        place
    }
}
