//! What each task has done, worked out from all that passed and from nothing else: between two entries of the record,
//! whatever runs goes on at min(1, c(1−λ)/n).

use crate::record::Entry;
use gleaner_core::{Command, Event, MachineClass, TaskClass};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
struct Station {
    class: usize,
    load: f64,
    lost: bool,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    attempt: u32,
    on: MachineId,
    runs: bool,
    /// Operations, by earlier speeds.
    done: f64,
    /// Seconds with a core to itself, at the present speed.
    served: f64,
}

/// The record so far.
#[derive(Clone, Debug, Default)]
pub struct NaiveProgress {
    weights: Vec<f64>,
    machine_classes: Vec<MachineClass>,
    task_classes: Vec<TaskClass>,
    machines: Vec<Station>,
    tasks: Vec<TaskClassId>,
    runs: BTreeMap<TaskId, Run>,
    now: Time,
}

impl NaiveProgress {
    /// Nothing happened yet; W is the grid's.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights, ..Self::default() }
    }

    /// The operations done of each task that is on a machine or on its way to one.
    pub fn ops_done(&self) -> impl Iterator<Item = (TaskId, f64)> + '_ {
        self.runs.iter().map(|(&task, run)| (task, self.ops(task, run)))
    }

    /// The next entry of the record.
    pub fn take_in(&mut self, now: Time, entry: &Entry) {
        let passed = (now.nanos() - self.now.nanos()) as f64 / 1e9;
        self.now = now;
        let shares: BTreeMap<TaskId, f64> =
            self.runs.iter().map(|(&task, run)| (task, self.share(run.on))).collect();
        for (task, run) in &mut self.runs {
            run.served += if run.runs { passed * shares[task] } else { 0.0 };
        }
        match entry {
            Entry::Event(event) => self.event(event),
            Entry::Command(command) => self.command(command),
        }
    }

    fn share(&self, on: MachineId) -> f64 {
        let Station { class, load, .. } = self.machines[on.index()];
        let cores = f64::from(self.machine_classes[class].cores);
        let tasks = self.runs.values().filter(|run| run.on == on).count() as f64;
        (cores * (1.0 - load) / tasks).min(1.0)
    }

    fn ops(&self, task: TaskId, run: &Run) -> f64 {
        let composition = &self.task_classes[self.tasks[task.index()].index()].composition;
        let speeds = &self.machine_classes[self.machines[run.on.index()].class].speeds;
        let mut seconds_per_op = 0.0;
        for kind in 0..self.weights.len() {
            if composition[kind] > 0.0 {
                seconds_per_op += self.weights[kind] * composition[kind] / speeds[kind];
            }
        }
        if run.served == 0.0 { run.done } else { run.done + run.served / seconds_per_op }
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::MachineClassMet(ref class) => self.machine_classes.push(class.clone()),
            Event::TaskClassMet(ref class) => self.task_classes.push(class.clone()),
            Event::TaskClassMeasured { class, ref composition } => {
                self.task_classes[class.index()].composition.clone_from(composition);
            }
            Event::MachineJoined { class, .. } => {
                self.machines.push(Station { class: class.index(), load: 0.0, lost: false });
            }
            Event::MachineMeasured { machine, class } => self.measured(machine, class.index()),
            Event::MachineLost { machine } => {
                self.runs.retain(|_, run| run.on != machine);
                self.machines[machine.index()].lost = true;
            }
            Event::MachineReturned { machine } => {
                let station = &mut self.machines[machine.index()];
                station.load = if station.lost { 0.0 } else { station.load };
                station.lost = false;
            }
            Event::TasksSubmitted { count, class, .. } => {
                self.tasks.extend(std::iter::repeat_n(class, count as usize));
            }
            Event::TasksWithdrawn { first, count } => {
                let withdrawn = first.index()..first.index() + count as usize;
                self.runs.retain(|task, _| !withdrawn.contains(&task.index()));
            }
            Event::OwnerLoadReported { machine, load } => self.machines[machine.index()].load = load,
            Event::AttemptStarted { task, attempt } => {
                if let Some(run) = self.runs.get_mut(&task).filter(|run| run.attempt == attempt) {
                    run.runs = true;
                }
            }
            Event::AttemptFinished { task, attempt } | Event::AttemptLost { task, attempt } => {
                self.runs.retain(|other, run| *other != task || run.attempt != attempt);
            }
            Event::MachineClosed { .. }
            | Event::MachineOpened { .. }
            | Event::TasksReturned { .. }
            | Event::BudgetSet(_)
            | Event::RuleChanged
            | Event::WokeUp => {}
        }
    }

    fn measured(&mut self, machine: MachineId, class: usize) {
        // What the grid knew already is no news, and closes no chapter.
        if self.machines[machine.index()].class == class {
            return;
        }
        let there: Vec<TaskId> =
            self.runs.iter().filter(|(_, run)| run.on == machine).map(|(task, _)| *task).collect();
        for task in there {
            let run = self.runs[&task];
            self.runs.insert(task, Run { done: self.ops(task, &run), served: 0.0, ..run });
        }
        self.machines[machine.index()].class = class;
    }

    fn command(&mut self, command: &Command) {
        match *command {
            Command::Start { task, attempt, on } => {
                self.runs.insert(task, Run { attempt, on, runs: false, done: 0.0, served: 0.0 });
            }
            Command::Move { task, attempt, to, .. } => {
                let restarts = self.task_classes[self.tasks[task.index()].index()].restarts;
                let done = if restarts { 0.0 } else { self.ops(task, &self.runs[&task]) };
                self.runs.insert(task, Run { attempt, on: to, runs: false, done, served: 0.0 });
            }
            Command::WakeAt { .. } | Command::Collect | Command::Plan { .. } => {}
        }
    }
}
