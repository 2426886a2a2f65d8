//! Machines that run tasks as a trace has it: one task a core, each as fast as the machine is at the moment.
//!
//! When a task starts, the trace already says when it will be done, or that its machine goes first. So nothing is
//! touched between a task's start and its end.
//!
//! - **Machine k is interval k of the trace.**
//! - **The first of the completions is always one that will come**: entries of tasks that were taken off are dropped as
//!   soon as they are first.

use crate::availability::Availability;
use crate::trace::Trace;
use gleaner_units::{MachineId, Span, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The machines of a trace and the tasks on them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Traced {
    /// By interval, as far as they have begun.
    machines: Vec<Station>,
    /// By task.
    places: Vec<Option<Place>>,
    completions: BinaryHeap<Reverse<(Time, TaskId)>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Station {
    tasks: Vec<TaskId>,
    /// When the first of the tasks that are there came to an empty machine.
    busy_since: Time,
    busy: Span,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    machine: MachineId,
    /// What the machine could have done since its interval began when the task will be done.
    done_at: f64,
    /// None where the machine goes before.
    finish: Option<Time>,
    /// What comes then is no end: the machine gives the task up.
    gives_up: bool,
}

/// The part of a task that a saboteur does before it gives up.
const DONE_IN_VAIN: f64 = 0.9;

impl Traced {
    /// The next interval begins.
    pub(crate) fn add_machine(&mut self) {
        self.machines.push(Station::default());
    }

    /// Starts a task on a machine that is there.
    pub(crate) fn insert(
        &mut self,
        availability: &Availability,
        now: Time,
        machine: MachineId,
        task: TaskId,
        ops: f64,
    ) {
        let trace = &*availability.trace;
        let gives_up = availability.saboteurs.contains(&availability.host(machine));
        if self.places.len() <= task.index() {
            self.places.resize(task.index() + 1, None);
        }
        assert!(self.places[task.index()].is_none(), "{task} is on a machine already");
        let started_at = trace.ops_until(machine.index(), now);
        let done_at = started_at + ops;
        let ends_at = if gives_up { started_at + DONE_IN_VAIN * ops } else { done_at };
        // What rounding puts before its own start is done at once.
        let finish = trace.time_of(machine.index(), ends_at).map(|time| time.max(now));
        self.places[task.index()] = Some(Place { machine, done_at, finish, gives_up });
        self.completions.extend(finish.map(|finish| Reverse((finish, task))));
        let station = &mut self.machines[machine.index()];
        if station.tasks.is_empty() {
            station.busy_since = now;
        }
        station.tasks.push(task);
    }

    /// Takes a task off its machine and returns the operations that it still needs.
    pub(crate) fn remove(&mut self, trace: &Trace, now: Time, task: TaskId) -> f64 {
        let place = self.take_off(now, task);
        (place.done_at - trace.ops_until(place.machine.index(), now)).max(0.0)
    }

    /// The earliest completion, and of those of one moment that of the lowest task.
    pub(crate) fn next_completion(&self) -> Option<(Time, TaskId)> {
        self.completions.peek().map(|Reverse(first)| *first)
    }

    /// The next completion comes; whether the task is done.
    pub(crate) fn complete(&mut self, now: Time, task: TaskId) -> bool {
        assert_eq!(self.next_completion(), Some((now, task)), "not the next completion");
        !self.take_off(now, task).gives_up
    }

    /// A machine goes; the tasks that were on it are returned.
    pub(crate) fn lose(&mut self, now: Time, machine: MachineId) -> Vec<TaskId> {
        let tasks = self.machines[machine.index()].tasks.clone();
        for &task in &tasks {
            self.take_off(now, task);
        }
        tasks
    }

    /// Where a task is.
    pub(crate) fn machine_of(&self, task: TaskId) -> Option<MachineId> {
        self.places.get(task.index())?.map(|place| place.machine)
    }

    /// How many tasks are on a machine.
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        self.machines[machine.index()].tasks.len()
    }

    /// For how long a machine has run something.
    pub(crate) fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        let Some(station) = self.machines.get(machine.index()) else { return 0.0 };
        let running = if station.tasks.is_empty() { Span::ZERO } else { now.since(station.busy_since) };
        station.busy.seconds() + running.seconds()
    }

    fn take_off(&mut self, now: Time, task: TaskId) -> Place {
        let place = self.places[task.index()].take().expect("a task that is on a machine");
        let station = &mut self.machines[place.machine.index()];
        station.tasks.retain(|other| *other != task);
        if station.tasks.is_empty() {
            let since = now.since(station.busy_since);
            station.busy = Span::from_nanos(station.busy.nanos() + since.nanos());
        }
        let will_come = |&(time, task): &(Time, TaskId)| {
            self.places[task.index()].is_some_and(|place: Place| place.finish == Some(time))
        };
        while self.completions.peek().is_some_and(|Reverse(first)| !will_come(first)) {
            self.completions.pop();
        }
        place
    }
}
