//! Second runs of tasks on idle machines: which task gains most by one.
//!
//! Where nobody says how long a task is, **what ran so far stands for it**: the mean length of the tasks of its class that
//! ended; a task that has done more than half of that already is taken for twice what it has done.

use super::line::Turn;
use gleaner_core::{Grid, Run, Stage};
use gleaner_units::{MachineId, Ops, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;

/// A second run has to save this part of the time that it takes.
const GAIN_MIN: f64 = 0.5;

/// Lengths are summed in these parts of an operation, so that the order of the sum makes no difference.
const PARTS: f64 = 1024.0;

/// How long tasks were that ended, by class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Ended(BTreeMap<TaskClassId, Lengths>);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Lengths {
    /// In [`PARTS`].
    sum: u128,
    tasks: u64,
}

impl Ended {
    /// Of a whole grid. Costs O(tasks).
    pub(super) fn of(grid: &Grid) -> Self {
        let mut ended = Self::default();
        grid.tasks().for_each(|(id, _)| ended.add(grid, id));
        ended
    }

    /// A task, if it ended and it is known how long it was.
    pub(super) fn add(&mut self, grid: &Grid, id: TaskId) {
        let Some(took) = grid.took(id) else { return };
        let lengths = self.0.entry(grid.task(id).class()).or_default();
        lengths.sum += (took.ops() * PARTS).round() as u128;
        lengths.tasks += 1;
    }

    /// Nothing that ended is of that class any more.
    pub(super) fn forget(&mut self, class: TaskClassId) {
        self.0.remove(&class);
    }

    /// Whether all that is in `other` was learnt here too: what ended once and runs again now stays learnt.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let knows = |class, tasks| self.0.get(class).is_some_and(|own: &Lengths| own.tasks >= tasks);
        other.0.iter().all(|(class, lengths)| knows(class, lengths.tasks))
    }

    /// Nothing where none ended.
    pub(super) fn mean(&self, class: TaskClassId) -> f64 {
        let Some(lengths) = self.0.get(&class) else { return 0.0 };
        lengths.sum as f64 / PARTS / lengths.tasks as f64
    }
}

/// The task of that class that gains most by a second run on this idle machine; of equals the lowest. Costs O(machines).
pub(super) fn most_gained(
    grid: &Grid,
    now: Time,
    (class, on): (TaskClassId, MachineId),
    (turn, ended): (Turn, &Ended),
) -> Option<TaskId> {
    let there = grid.seconds_per_op(class, on);
    let usual = ended.mean(class);
    let gain = |run: &Run| {
        let here = grid.seconds_per_op(class, run.on());
        let done = now.since(run.since()).seconds() / here;
        let declared = grid.declared_length(run.id().task).filter(|_| turn == Turn::Longest);
        let length = declared.map_or(usual.max(2.0 * done), Ops::amount);
        (length - done) * here - length * there * (1.0 + GAIN_MIN)
    };
    let alone = |task: TaskId| {
        let mut runs = grid.runs_of(task);
        runs.next().filter(|run| run.stage() == Stage::Running && runs.next().is_none())
    };
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let running = machines.flat_map(|machine| grid.machine(machine).running_of(class));
    let gains = running.filter_map(|run| Some((gain(alone(run.task)?), run.task)));
    let best = gains.filter(|(gain, _)| *gain > 0.0);
    best.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1))).map(|(_, task)| task)
}
