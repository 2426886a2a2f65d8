//! Max-Min on any matrix: every task waits at one machine, and when that would be done bounds the task's metric.
//!
//! **A machine never becomes free earlier**, so a task's earliest end only rises, and the end on *any* machine is no
//! less, to the bit, until that machine becomes busier. A step concerns only the tasks that wait there: each finds
//! another machine that will do, first among a few that differ from task to task, so that tasks which like the same
//! machines do not all wait at the same one. Where the bound is among the largest the task waits at its best machine,
//! and the bound is exact. **Only tasks with exact bounds are chosen**: where the others wait shows in the time that
//! it takes, never in the mapping.
//!
//! Cost: O(t·w) to begin with, O(w) a step for the machine, O(log t) for each task that has to wait elsewhere, and O(w)
//! for each that has to look at all machines.

use crate::Matrix;
use crate::mapping::{Building, Mapping, earliest, highest_tie};
use crate::scan::{greatest_within, place_of, write_sums};
use crate::tournament::Tournament;

/// How many machines a task tries before it looks at all.
const TRIES: usize = 8;
/// How far a bound may rise towards the metric that was chosen last.
const SLACK: f64 = 0.9;

pub(crate) fn map(matrix: &Matrix, mut building: Building) -> Mapping {
    let mut waiting = Waiting::new(matrix, &building.ready);
    for _ in 0..matrix.tasks() {
        let task = waiting.take_next(&building.ready);
        let row = matrix.row(task);
        let machine = earliest(&building.ready, row);
        building.assign(task, machine, row[machine]);
        waiting.delay(machine, &building.ready);
    }
    building.done()
}

/// Where the tasks wait that are left.
struct Waiting<'a> {
    matrix: &'a Matrix,
    /// The negatives of the bounds: a tournament finds the least.
    bounds: Tournament,
    is_exact: Vec<bool>,
    machine_of: Vec<u32>,
    /// The tasks at each machine, in no order.
    tasks_at: Vec<Vec<u32>>,
    /// The metric that was chosen last.
    chosen: f64,
    /// Room for the ends of one task on all machines.
    ends: Vec<f64>,
}

impl<'a> Waiting<'a> {
    fn new(matrix: &'a Matrix, ready: &[f64]) -> Self {
        let (tasks, machines) = (matrix.tasks(), matrix.machines());
        let mut waiting = Self {
            matrix,
            bounds: Tournament::new(vec![f64::INFINITY; tasks]),
            is_exact: vec![false; tasks],
            machine_of: vec![0; tasks],
            tasks_at: vec![Vec::new(); machines],
            chosen: 0.0,
            ends: vec![0.0; machines],
        };
        for task in 0..tasks {
            let metric = waiting.look(task, ready);
            waiting.wait_at_best(task, metric);
        }
        waiting
    }

    /// Of the tasks left, the lowest that ties with the largest metric. Bounds are too large where they are not exact,
    /// so where neither the largest nor the one to be chosen is inexact, no other task can come before.
    fn take_next(&mut self, ready: &[f64]) -> usize {
        loop {
            let largest = self.bounds.least();
            let lowest_within = |limit| self.bounds.first(|bound| bound <= limit).expect("a task is left");
            let (best, lowest) = (lowest_within(largest), lowest_within(highest_tie(largest)));
            let Some(task) = [best, lowest].into_iter().find(|task| !self.is_exact[*task]) else {
                self.chosen = -largest;
                self.leave(lowest);
                self.bounds.set(lowest, f64::INFINITY);
                return lowest;
            };
            self.leave(task);
            let metric = self.look(task, ready);
            self.wait_at_best(task, metric);
        }
    }

    /// After `machine` became busier: who waits there finds another place.
    fn delay(&mut self, machine: usize, ready: &[f64]) {
        for task in std::mem::take(&mut self.tasks_at[machine]) {
            self.replace(task as usize, machine, ready);
        }
    }

    fn replace(&mut self, task: usize, from: usize, ready: &[f64]) {
        let (row, machines) = (self.matrix.row(task), self.matrix.machines());
        let limit = self.limit(-self.bounds.value(task));
        let (mut machine, stride) = (from, stride(task, machines));
        for _ in 0..TRIES {
            machine = (machine + stride) % machines;
            let end = ready[machine] + row[machine];
            if end <= limit {
                return self.wait_at(task, machine, end);
            }
        }
        let metric = self.look(task, ready);
        if metric >= self.chosen {
            return self.wait_at_best(task, metric);
        }
        let end = greatest_within(&self.ends, self.limit(metric));
        self.wait_at(task, self.place_of(end), end);
    }

    /// How far a bound may rise: one that is as large as what was chosen last should not.
    fn limit(&self, bound: f64) -> f64 {
        bound.max(bound + SLACK * (self.chosen - bound))
    }

    /// Finds when each machine would be done with a task, and gives the least.
    fn look(&mut self, task: usize, ready: &[f64]) -> f64 {
        write_sums(ready, self.matrix.row(task), &mut self.ends)
    }

    /// The machine of the last look that has this end.
    fn place_of(&self, end: f64) -> usize {
        place_of(&self.ends, end).expect("an end that was found")
    }

    fn wait_at_best(&mut self, task: usize, metric: f64) {
        self.wait_at(task, self.place_of(metric), metric);
        self.is_exact[task] = true;
    }

    fn wait_at(&mut self, task: usize, machine: usize, bound: f64) {
        self.tasks_at[machine].push(task as u32);
        self.machine_of[task] = machine as u32;
        self.is_exact[task] = false;
        self.bounds.set(task, -bound);
    }

    fn leave(&mut self, task: usize) {
        let tasks = &mut self.tasks_at[self.machine_of[task] as usize];
        let at = tasks.iter().position(|other| *other == task as u32).expect("the task waits there");
        tasks.swap_remove(at);
    }
}

/// How far apart the machines are that a task tries: tasks that come from one machine spread over all.
fn stride(task: usize, machines: usize) -> usize {
    let scattered = (task as u32).wrapping_mul(0x9e37_79b9) >> 8;
    1 + scattered as usize % (machines - 1).max(1)
}
