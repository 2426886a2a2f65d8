//! What each task has done, worked out from all that passed and from nothing else: between two entries of the record,
//! whatever runs goes on at min(1, c(1−λ)/n).

use crate::naive::{fits, wants};
use crate::record::Entry;
use gleaner_core::{Decision, Event, MachineClass, RunEnd, TaskClass};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
struct Station {
    class: usize,
    load: f64,
    lost: bool,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    on: MachineId,
    runs: bool,
    /// It waits for the end of another.
    held: bool,
    /// It is to stop, and slows nobody any more.
    stopping: bool,
    /// Operations, by earlier speeds.
    done: f64,
    /// Seconds with a core to itself, at the present speed.
    served: f64,
}

/// How long a run took that came to its end, as if all of its task had been done there.
#[derive(Clone, Copy, Debug)]
struct Spent {
    seconds: f64,
    /// The class of its machine then.
    class: usize,
}

/// The record so far.
#[derive(Clone, Debug, Default)]
pub struct NaiveProgress {
    weights: Vec<f64>,
    machine_classes: Vec<MachineClass>,
    task_classes: Vec<TaskClass>,
    machines: Vec<Station>,
    tasks: Vec<TaskClassId>,
    /// Those that are not over.
    runs: BTreeMap<RunId, Run>,
    /// Those that were on a machine that was lost, with what they had done.
    missing: BTreeMap<RunId, f64>,
    /// Those that are to stop and count no more.
    superseded: BTreeSet<RunId>,
    finished: BTreeSet<TaskId>,
    /// Of those that are finished, where it is known.
    spent: BTreeMap<TaskId, Spent>,
    withdrawn: BTreeSet<TaskId>,
    retired: BTreeSet<TaskId>,
    /// How many runs each task has had.
    given: BTreeMap<TaskId, u32>,
    /// Operations that need not be done again.
    kept: BTreeMap<TaskId, f64>,
    now: Time,
}

impl NaiveProgress {
    /// Nothing happened yet; W is the grid's.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights, ..Self::default() }
    }

    /// The operations done by each run that is on a machine or on its way to one, and is to stay.
    pub fn ops_done(&self) -> impl Iterator<Item = (RunId, f64)> + '_ {
        let there = self.runs.iter().filter(|(_, run)| !run.stopping);
        there.map(|(&id, run)| (id, self.ops(id.task, run)))
    }

    /// Likewise of one run.
    pub fn ops_done_of(&self, id: RunId) -> Option<f64> {
        self.runs.get(&id).filter(|run| !run.stopping).map(|run| self.ops(id.task, run))
    }

    /// The operations of each task that is finished, where the run that finished it was seen from its beginning to its end on
    /// machines that can do it.
    pub fn lengths(&self) -> impl Iterator<Item = (TaskId, f64)> + '_ {
        self.spent.iter().filter_map(|(&task, spent)| {
            let seconds_per_op = self.seconds_per_op(task, spent.class);
            seconds_per_op.is_finite().then_some((task, spent.seconds / seconds_per_op))
        })
    }

    /// The next entry of the record.
    pub fn take_in(&mut self, now: Time, entry: &Entry) {
        let passed = (now.nanos() - self.now.nanos()) as f64 / 1e9;
        self.now = now;
        let shares: BTreeMap<RunId, f64> =
            self.runs.iter().map(|(&id, run)| (id, self.share(run.on))).collect();
        for (id, run) in &mut self.runs {
            run.served += if run.runs && !run.stopping { passed * shares[id] } else { 0.0 };
        }
        match entry {
            Entry::Event(event) => self.event(event),
            Entry::Decision(decision) => self.decision(decision),
            Entry::Command(_) => {}
        }
    }

    fn share(&self, on: MachineId) -> f64 {
        let Station { class, load, .. } = self.machines[on.index()];
        let cores = f64::from(self.machine_classes[class].cores);
        let there = self.runs.iter().filter(|(_, run)| run.on == on && !run.stopping);
        let wanted: u32 = there.map(|(id, _)| self.class_of(id.task).needs.cores).sum();
        (cores * (1.0 - load) / f64::from(wanted)).min(1.0)
    }

    fn class_of(&self, task: TaskId) -> &TaskClass {
        &self.task_classes[self.tasks[task.index()].index()]
    }

    /// Infinite where such a machine cannot run it, as far as one core of it goes.
    fn seconds_per_op(&self, task: TaskId, class: usize) -> f64 {
        let (kind, machine) = (self.class_of(task), &self.machine_classes[class]);
        let (one, other) = (kind.ad.as_ref(), machine.ad.as_ref());
        let is_provided = kind.requires.iter().all(|tag| machine.provides.contains(tag));
        if !is_provided
            || !fits(&[kind.needs.of_part(1)], machine)
            || !wants(one, other)
            || !wants(other, one)
        {
            return f64::INFINITY;
        }
        let (composition, speeds) = (&kind.composition, &machine.speeds);
        let mut seconds_per_op = 0.0;
        for kind in 0..self.weights.len() {
            if composition[kind] > 0.0 {
                seconds_per_op += self.weights[kind] * composition[kind] / speeds[kind];
            }
        }
        seconds_per_op
    }

    /// How long an operation takes a run where it is: one that is there already goes on, however few cores its machine has now.
    pub fn seconds_per_op_of(&self, id: RunId) -> f64 {
        self.seconds_per_op(id.task, self.machines[self.runs[&id].on.index()].class)
    }

    fn ops(&self, task: TaskId, run: &Run) -> f64 {
        let seconds_per_op = self.seconds_per_op(task, self.machines[run.on.index()].class);
        if run.served == 0.0 { run.done } else { run.done + run.served / seconds_per_op }
    }

    /// What is known of how long a run took that comes to its end.
    fn spent(&self, task: TaskId, run: &Run) -> Option<Spent> {
        let class = self.machines[run.on.index()].class;
        let seconds = self.ops(task, run) * self.seconds_per_op(task, class);
        (run.runs && !run.stopping && seconds.is_finite()).then_some(Spent { seconds, class })
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::MachineClassMet(ref class) => self.machine_classes.push(MachineClass::clone(class)),
            Event::TaskClassMet(ref class) => self.task_classes.push(TaskClass::clone(class)),
            Event::TaskClassReplaced { class, ref by } => {
                self.task_classes[class.index()] = TaskClass::clone(by);
            }
            Event::TaskClassesMeasured { ref classes, ref composition } => {
                for class in classes {
                    self.task_classes[class.index()].composition.clone_from(composition);
                }
            }
            Event::MachineJoined { class, .. } => {
                self.machines.push(Station { class: class.index(), load: 0.0, lost: false });
            }
            Event::MachineMeasured { machine, class } => self.measured(machine, class.index()),
            Event::MachineLost { machine } => self.lost(machine),
            Event::MachineReturned { machine } => {
                let station = &mut self.machines[machine.index()];
                station.load = if station.lost { 0.0 } else { station.load };
                station.lost = false;
            }
            Event::TasksSubmitted { count, class, .. } => {
                self.tasks.extend(std::iter::repeat_n(class, count as usize));
            }
            Event::TasksWithdrawn { first, count } => {
                for task in tasks(first, count).filter(|task| !self.is_finished(*task)).collect::<Vec<_>>() {
                    self.withdrawn.insert(task);
                    self.stop_all(task);
                }
            }
            Event::TasksReturned { first, count } => {
                for task in tasks(first, count) {
                    self.withdrawn.remove(&task);
                }
            }
            Event::TasksRerun { tasks: ref stretches } => {
                for task in stretches.iter().flat_map(|&(first, count)| tasks(first, count)) {
                    self.rerun(task);
                }
            }
            Event::TasksReclassed { first, count, class } => {
                for task in tasks(first, count) {
                    if !self.runs.keys().any(|run| run.task == task)
                        && (self.withdrawn.contains(&task) || self.finished.contains(&task))
                    {
                        self.tasks[task.index()] = class;
                    }
                }
            }
            Event::TasksRetired { first, count } => {
                for task in tasks(first, count) {
                    self.finished.remove(&task);
                    self.spent.remove(&task);
                    self.withdrawn.remove(&task);
                    self.kept.remove(&task);
                    self.retired.insert(task);
                }
            }
            Event::TasksRevived { first, count, class, runs, .. } => {
                let retired: Vec<TaskId> =
                    tasks(first, count).filter(|task| self.retired.remove(task)).collect();
                for task in retired {
                    self.tasks[task.index()] = class;
                    self.given.insert(task, runs);
                    self.withdrawn.insert(task);
                }
            }
            Event::OwnerLoadReported { machine, load } => self.machines[machine.index()].load = load,
            Event::RunStarted(run) => {
                if let Some(run) = self.runs.get_mut(&run).filter(|run| !run.held && !run.stopping) {
                    run.runs = true;
                }
            }
            Event::RunEnded { run, end } => self.ended(run, end),
            Event::MachineClosed { .. }
            | Event::MachineOpened { .. }
            | Event::FileMet { .. }
            | Event::FileStored { .. }
            | Event::FileRemoved { .. }
            | Event::InputsNamed { .. }
            | Event::ClassLimited { .. }
            | Event::MachineSited { .. }
            | Event::LinkMeasured { .. }
            | Event::StatePublished { .. }
            | Event::SurveyAnswered { .. }
            | Event::ResidentsPublished { .. }
            | Event::Lending(_)
            | Event::RunGranted { .. }
            | Event::RunRefused { .. }
            | Event::RunArrived { .. }
            | Event::BudgetSet(_)
            | Event::CoresCapped { .. }
            | Event::CheckingSet(_)
            | Event::ClassChecked { .. }
            | Event::MachineOwned { .. }
            | Event::SeedDrawn(_)
            | Event::RuleChanged
            | Event::WokeUp { .. } => {}
        }
    }

    fn measured(&mut self, machine: MachineId, class: usize) {
        // What the grid knew already is no news, and closes no chapter.
        if self.machines[machine.index()].class == class {
            return;
        }
        let there: Vec<RunId> =
            self.runs.iter().filter(|(_, run)| run.on == machine).map(|(id, _)| *id).collect();
        for id in there {
            let run = self.runs[&id];
            self.runs.insert(id, Run { done: self.ops(id.task, &run), served: 0.0, ..run });
        }
        self.machines[machine.index()].class = class;
    }

    fn is_finished(&self, task: TaskId) -> bool {
        self.finished.contains(&task) || self.retired.contains(&task)
    }

    fn rerun(&mut self, task: TaskId) {
        if !self.finished.contains(&task) && !self.withdrawn.contains(&task) {
            return;
        }
        self.superseded.extend(self.runs_of(task));
        self.missing.retain(|other, _| other.task != task);
        self.kept.remove(&task);
        self.finished.remove(&task);
        self.spent.remove(&task);
        self.withdrawn.remove(&task);
    }

    fn restarts(&self, task: TaskId) -> bool {
        self.class_of(task).restarts
    }

    fn runs_of(&self, task: TaskId) -> Vec<RunId> {
        self.runs.keys().copied().filter(|id| id.task == task).collect()
    }

    fn keep(&mut self, task: TaskId, done: f64) {
        if done > 0.0 && !self.restarts(task) {
            let kept = self.kept.entry(task).or_default();
            *kept = kept.max(done);
        }
    }

    fn ended(&mut self, id: RunId, end: RunEnd) {
        let task = id.task;
        let run = self.runs.get(&id).filter(|run| !run.held).copied();
        let done = match run {
            Some(run) => self.ops(task, &run),
            None if self.missing.contains_key(&id) => self.missing[&id],
            None => return,
        };
        self.runs.remove(&id);
        self.missing.remove(&id);
        let end = if self.superseded.contains(&id) { RunEnd::Lost } else { end };
        match end {
            // Nothing is compared in the grids that this reference is made for.
            RunEnd::Finished | RunEnd::Answered(_) => {
                self.finished.insert(task);
                let spent = run.and_then(|run| self.spent(task, &run));
                self.spent.extend(spent.map(|spent| (task, spent)));
                self.withdrawn.remove(&task);
                self.superseded.extend(self.runs_of(task));
                self.kept.remove(&task);
                self.missing.retain(|other, _| other.task != task);
                self.stop_all(task);
            }
            RunEnd::Kept => self.keep(task, done),
            RunEnd::Lost | RunEnd::Refused | RunEnd::Compared(_) => {}
        }
        if end != RunEnd::Kept && run.is_some() {
            self.start_anew(task);
        }
        self.release(task);
    }

    /// What is held goes on from what is kept, since what was to come with it does not.
    fn start_anew(&mut self, task: TaskId) {
        let done = self.kept.get(&task).copied().unwrap_or(0.0);
        for (id, run) in &mut self.runs {
            if id.task == task && run.held {
                run.done = done;
            }
        }
    }

    /// What is held is sent when nothing else of its task is left.
    fn release(&mut self, task: TaskId) {
        if let [only] = self.runs_of(task)[..] {
            self.runs.get_mut(&only).expect("what was just found").held = false;
        }
    }

    /// Runs are to stop, and those that were not sent are none.
    fn stop_all(&mut self, task: TaskId) {
        self.runs.retain(|id, run| id.task != task || !run.held);
        for id in self.runs_of(task) {
            self.stop(id);
        }
    }

    /// What it has done until now is what counts, however the speeds turn out to be later.
    fn stop(&mut self, id: RunId) {
        let run = self.runs[&id];
        if !run.stopping {
            let done = self.ops(id.task, &run);
            self.runs.insert(id, Run { done, served: 0.0, stopping: true, ..run });
        }
    }

    fn lost(&mut self, machine: MachineId) {
        self.machines[machine.index()].lost = true;
        let gone: Vec<RunId> =
            self.runs.iter().filter(|(_, run)| run.on == machine).map(|(id, _)| *id).collect();
        for id in gone {
            let run = self.runs[&id];
            let done = self.ops(id.task, &run);
            self.runs.remove(&id);
            let follows = self.runs_of(id.task).iter().any(|other| self.runs[other].held);
            if !run.held && !follows {
                self.missing.insert(id, done);
            }
            if follows {
                self.start_anew(id.task);
                self.release(id.task);
            }
        }
    }

    fn decision(&mut self, decision: &Decision) {
        let (task, on) = match *decision {
            Decision::Start { task, on } | Decision::Replicate { task, on } => (task, on),
            Decision::Relocate { task, to } => (task, to),
            Decision::Follow { .. }
            | Decision::TakeBack { .. }
            | Decision::StartWide { .. }
            | Decision::ReplicateWide { .. }
            | Decision::Ask { .. } => {
                panic!(
                    "this reference knows runs on one machine that begin at once; `wide.rs` has exact rates for others"
                )
            }
            Decision::Collect
            | Decision::Survey { .. }
            | Decision::Plan { .. }
            | Decision::Lending(_)
            | Decision::Wake { .. } => {
                return;
            }
        };
        let number = self.given.entry(task).or_insert(0);
        *number += 1;
        let id = RunId::new(task, *number);
        let mut run = Run { on, runs: false, held: false, stopping: false, done: 0.0, served: 0.0 };
        run.done = self.kept.get(&task).copied().unwrap_or(0.0);
        match decision {
            Decision::Start { .. } => self.missing.retain(|other, _| other.task != task),
            Decision::Relocate { .. } => {
                let from = self.runs_of(task)[0];
                run.held = true;
                run.done = if self.restarts(task) { 0.0 } else { self.ops(task, &self.runs[&from]) };
                self.stop(from);
            }
            _ => {}
        }
        self.runs.insert(id, run);
    }
}

fn tasks(first: TaskId, count: u32) -> impl Iterator<Item = TaskId> {
    (first.index()..first.index() + count as usize).map(TaskId::new)
}
