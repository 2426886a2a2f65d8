//! What the naive batch sees at one moment, and what it would do next.

use super::books::Books;
use super::terms::{Rule, Terms};
use crate::naive_lengths;
use gleaner_core::{Availability, Budget, Charged, Grid, Queue, TaskState};
use gleaner_units::{MachineId, TaskId, Time, UserId};
use std::collections::{BTreeMap, BTreeSet};

/// A meta-task: M, and what became of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Meta {
    pub(super) all: Vec<TaskId>,
    /// The first ones by age of each priority that has had its turn; they are placed before the heuristic begins.
    pub(super) old: Vec<TaskId>,
    /// The priorities that have had their turn.
    pub(super) turns: BTreeSet<i32>,
    pub(super) removed: Vec<TaskId>,
    /// Scheduled on machines that are ready only with the next batch or after it, which will take them back: nobody is
    /// told of these.
    pub(super) beyond: Vec<(TaskId, Queue)>,
    /// What each user had left when it began.
    pub(super) left: BTreeMap<UserId, f64>,
    /// What was chosen together and is left to schedule, the last first.
    pub(super) chosen: Vec<(TaskId, Worker)>,
}

/// Whether a machine takes tasks.
pub(super) fn works(grid: &Grid, id: MachineId) -> bool {
    grid.machine(id).availability() == Availability::Open && grid.machine(id).load() < 1.0
}

/// Who could do a task: a machine, or a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Worker {
    pub(super) rank: usize,
    pub(super) queue: Queue,
    pub(super) class: usize,
    /// r − D.
    pub(super) ready: f64,
    pub(super) price: f64,
}

/// B̄ with its tasks, and with those that are to be served beside them.
pub(super) struct Sums {
    pub(super) allocated: f64,
    pub(super) done: f64,
    pub(super) all: f64,
}

/// What there is to pay a task with.
pub(super) struct Means {
    pub(super) budget: Budget,
    pub(super) left: f64,
    /// Tasks that are paid from it and are left to schedule.
    pub(super) tasks_left: f64,
    pub(super) sums: Sums,
}

/// A worker that a task may go to, with its expected completion.
pub(super) type Fit = (Worker, f64);

/// A task with all its fits.
pub(super) type Fits = (TaskId, Vec<Fit>);

pub(super) fn tied_least(values: &[f64]) -> f64 {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    least + 1e-12 * least.abs()
}

pub(super) struct View<'a> {
    pub(super) grid: &'a Grid,
    pub(super) now: Time,
    pub(super) terms: &'a Terms,
    pub(super) books: &'a Books,
    pub(super) meta: &'a Meta,
}

impl View<'_> {
    pub(super) fn length(&self, task: TaskId) -> f64 {
        self.length_after(task, 0.0)
    }

    /// How long it is believed to be once so many operations are done.
    pub(super) fn length_after(&self, task: TaskId, done: f64) -> f64 {
        naive_lengths::length(self.grid, self.terms.lengths, task, done).unwrap_or(0.0)
    }

    pub(super) fn seconds(&self, task: TaskId, class: usize) -> f64 {
        let row = self.grid.classes().seconds_per_op_row(self.grid.task(task).class());
        self.length(task) * row[class]
    }

    /// Where a task is scheduled, told or not.
    pub(super) fn queue_of(&self, task: TaskId) -> Option<Queue> {
        let beyond = self.meta.beyond.iter().find(|(other, _)| *other == task).map(|(_, queue)| *queue);
        self.grid.plans().queue_of(task).or(beyond)
    }

    pub(super) fn ranked(&self, queue: Queue) -> Vec<TaskId> {
        let beyond = self.meta.beyond.iter().filter(|(_, on)| *on == queue).map(|(task, _)| *task);
        self.grid.plans().ranked(queue).chain(beyond).collect()
    }

    /// B̲, of whoever pays for a task.
    pub(super) fn left(&self, task: TaskId, budget: Budget) -> f64 {
        let left = self.books.left(self.payer(task), self.now);
        if matches!(budget.charged, Charged::Started | Charged::Ended) {
            return left;
        }
        let beyond: Vec<TaskId> = self.meta.beyond.iter().map(|(task, _)| *task).collect();
        left - self.sharing(task, &beyond).into_iter().map(|task| self.cost(task)).sum::<f64>()
    }

    /// Of a task that runs or is scheduled.
    pub(super) fn cost(&self, task: TaskId) -> f64 {
        let class = match (self.grid.placed_on(task), self.queue_of(task)) {
            (Some(machine), _) | (None, Some(Queue::Machine(machine))) => {
                self.grid.machine(machine).class().index()
            }
            (None, Some(Queue::Class(class))) => class.index(),
            (None, None) => 0,
        };
        (self.length(task) * self.price(class)).ceil()
    }

    pub(super) fn present(&self) -> Vec<MachineId> {
        let all = (0..self.grid.machines().len()).map(MachineId::new);
        all.filter(|id| works(self.grid, *id)).collect()
    }

    /// What is left to do of each task on a machine at the share that it gets, and nothing for each idle core.
    pub(super) fn cores(&self, id: MachineId) -> Vec<f64> {
        let machine = self.grid.machine(id);
        let share = (f64::from(machine.cores()) * (1.0 - machine.load()) / self.taken(id) as f64).min(1.0);
        let mut cores = Vec::new();
        for (task_class, _) in machine.counts() {
            for run in machine.runs_of(task_class) {
                let done = self.books.ops_done(run);
                let ops = self.length_after(run.task, done) - done;
                let left = if ops > 0.0 { ops * self.books.seconds_per_op(run) / share } else { 0.0 };
                // Moments are whole nanoseconds: what is nearest to none is none.
                let left = if left < 0.5e-9 { 0.0 } else { left };
                for _ in 0..self.needed(run.task) {
                    cores.push(left);
                }
            }
        }
        // A core for which there is no slot never has a task.
        let slots = self.grid.classes().machine_class(machine.class()).room.slots.unwrap_or(u32::MAX);
        while cores.len() < machine.cores().min(slots) as usize {
            cores.push(0.0);
        }
        // Where a task stands still, nobody knows when another could begin.
        cores.into_iter().filter(|ready| ready.is_finite()).collect()
    }

    /// The cores that tasks can have on a machine: those that its owner leaves, and no more than it has slots.
    pub(super) fn capacity(&self, id: MachineId) -> f64 {
        let machine = self.grid.machine(id);
        let left = f64::from(machine.cores()) * (1.0 - machine.load());
        let slots = self.grid.classes().machine_class(machine.class()).room.slots;
        slots.map_or(left, |slots| left.min(f64::from(slots)))
    }

    /// How many cores a task needs.
    pub(super) fn needed(&self, task: TaskId) -> usize {
        self.grid.classes().task_class(self.grid.task(task).class()).needs.cores as usize
    }

    /// How many cores are taken on a machine.
    pub(super) fn taken(&self, id: MachineId) -> usize {
        self.grid.machine(id).runs().map(|run| self.needed(run.task)).sum()
    }

    pub(super) fn price(&self, class: usize) -> f64 {
        self.grid.classes().machine_classes()[class].price
    }

    pub(super) fn workers(&self) -> Vec<Worker> {
        let all = if self.terms.by_class { self.classes() } else { self.machines() };
        // What is planned where it cannot run any more never ends, and nobody waits for that.
        all.into_iter().filter(|worker| worker.ready.is_finite()).collect()
    }

    pub(super) fn machines(&self) -> Vec<Worker> {
        let mut workers = Vec::new();
        for id in self.present() {
            let class = self.grid.machine(id).class().index();
            let mut cores = self.cores(id);
            if cores.is_empty() {
                continue;
            }
            let first = |cores: &[f64]| {
                let mut first = 0;
                for core in 1..cores.len() {
                    if cores[core] < cores[first] {
                        first = core;
                    }
                }
                first
            };
            for task in self.ranked(Queue::Machine(id)) {
                // As many as it needs, from when the last of them is ready.
                let mut having = Vec::new();
                let mut start = 0.0;
                while having.len() < self.needed(task).min(cores.len()) {
                    let open: Vec<usize> = (0..cores.len()).filter(|core| !having.contains(core)).collect();
                    let times: Vec<f64> = open.iter().map(|core| cores[*core]).collect();
                    let core = open[first(&times)];
                    start = cores[core];
                    having.push(core);
                }
                for core in having {
                    cores[core] = start + self.seconds(task, class);
                }
            }
            let (price, queue) = (self.price(class), Queue::Machine(id));
            workers.push(Worker { rank: id.index(), queue, class, ready: cores[first(&cores)], price });
        }
        workers
    }

    /// Equation (6).
    pub(super) fn classes(&self) -> Vec<Worker> {
        let mut workers = Vec::new();
        for class in 0..self.grid.classes().machine_classes().len() {
            let machines: Vec<MachineId> = self.present();
            let machines: Vec<MachineId> =
                machines.into_iter().filter(|id| self.grid.machine(*id).class().index() == class).collect();
            let cores: Vec<f64> = machines.iter().flat_map(|id| self.cores(*id)).collect();
            if cores.is_empty() {
                continue;
            }
            let running: usize = machines.iter().map(|id| self.taken(*id)).sum();
            let queue = Queue::Class(gleaner_units::MachineClassId::new(class));
            let mut ready = cores.iter().sum::<f64>() / cores.len() as f64;
            let mut assigned = 0;
            for task in self.ranked(queue) {
                ready += self.needed(task) as f64 * self.seconds(task, class) / cores.len() as f64;
                assigned += self.needed(task);
            }
            if running + assigned < cores.len() {
                ready = 0.0;
            }
            workers.push(Worker { rank: class, queue, class, ready, price: self.price(class) });
        }
        workers
    }

    pub(super) fn tasks_left(&self) -> Vec<TaskId> {
        let open = |task: &&TaskId| {
            self.queue_of(**task).is_none()
                && self.grid.task(**task).state() == TaskState::Waiting
                && !self.meta.removed.contains(*task)
        };
        self.meta.all.iter().filter(open).copied().collect()
    }

    pub(super) fn payer(&self, task: TaskId) -> UserId {
        self.grid.classes().task_class(self.grid.task(task).class()).payer
    }

    /// What limits where tasks go.
    pub(super) fn budget(&self) -> Option<Budget> {
        self.books.budget().filter(|_| self.terms.rule != Rule::None)
    }

    /// Whether both are paid for from one account.
    pub(super) fn share(&self, one: TaskId, other: TaskId) -> bool {
        self.books.share(self.payer(one), self.payer(other))
    }

    pub(super) fn sharing(&self, task: TaskId, tasks: &[TaskId]) -> Vec<TaskId> {
        tasks.iter().copied().filter(|other| self.share(task, *other)).collect()
    }
}
