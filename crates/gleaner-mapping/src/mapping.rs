//! Which machine each task is given, and when the last machine is done.

use crate::{Matrix, scan};
use gleaner_core::tie_threshold;

/// A machine for every task.
#[derive(Clone, PartialEq, Debug)]
pub struct Mapping {
    /// The machine of each task, in task order, counted from 0.
    pub assignment: Vec<u32>,
    /// When the last machine is done: the sum of the times of its tasks, in the order in which they were assigned.
    pub makespan: f64,
}

impl Mapping {
    /// A mapping found elsewhere; its loads are added up in task order. Machines start idle.
    ///
    /// # Panics
    /// If `assignment` is not of the length of the matrix, or names a machine that it does not have.
    pub fn of(matrix: &Matrix, assignment: Vec<u32>) -> Self {
        let makespan = makespan_of(&loads(matrix, &assignment));
        Self { assignment, makespan }
    }
}

/// How long each machine is busy, added up in task order.
pub(crate) fn loads(matrix: &Matrix, assignment: &[u32]) -> Vec<f64> {
    assert_eq!(assignment.len(), matrix.tasks(), "a machine for every task");
    let mut loads = vec![0.0; matrix.machines()];
    for (row, &machine) in matrix.rows().zip(assignment) {
        loads[machine as usize] += row[machine as usize];
    }
    loads
}

pub(crate) fn makespan_of(ready: &[f64]) -> f64 {
    ready.iter().copied().fold(0.0, f64::max)
}

/// The largest value that ties with `least`, where less is better.
#[inline]
pub(crate) fn highest_tie(least: f64) -> f64 {
    -tie_threshold(-least)
}

/// The machine that is done first with a task, the lowest of those that tie.
#[inline]
pub(crate) fn earliest(ready: &[f64], row: &[f64]) -> usize {
    let limit = highest_tie(scan::least_sum(ready, row));
    let mut ends = ready.iter().zip(row).map(|(ready, time)| ready + time);
    ends.position(|end| end <= limit).expect("the least ties with itself")
}

/// The first of the least.
pub(crate) fn lowest_least(values: &[f64]) -> usize {
    let limit = highest_tie(scan::least(values));
    values.iter().position(|value| *value <= limit).expect("the least ties with itself")
}

/// A mapping while it is made.
#[derive(Clone, Debug)]
pub(crate) struct Building {
    pub(crate) ready: Vec<f64>,
    pub(crate) assignment: Vec<u32>,
}

/// The machine of a task that has none yet.
const NONE: u32 = u32::MAX;

impl Building {
    pub(crate) fn new(tasks: usize, ready: &[f64]) -> Self {
        Self { ready: ready.to_vec(), assignment: vec![NONE; tasks] }
    }

    #[inline]
    pub(crate) fn assign(&mut self, task: usize, machine: usize, time: f64) {
        self.assignment[task] = machine as u32;
        self.ready[machine] += time;
    }

    #[inline]
    pub(crate) fn is_assigned(&self, task: usize) -> bool {
        self.assignment[task] != NONE
    }

    pub(crate) fn done(self) -> Mapping {
        Mapping { makespan: makespan_of(&self.ready), assignment: self.assignment }
    }
}
