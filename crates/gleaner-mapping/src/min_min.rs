//! Min-Min on any matrix: each machine's tasks sorted by their time on it, and a cursor at the shortest left.
//!
//! The machines' cursors hold the best candidate of all, since a machine's earliest end is that of its shortest
//! task. Cost: O(t·w·log t) for the sorting, then O(w) a step; 4 bytes a task and machine. **Ties are found by run**:
//! of tasks that are equally long on a machine the first left is the lowest, and only it is looked at. Only lengths
//! that differ by less than a tie's 1e-12 of the moment are looked at one by one.

use crate::mapping::{Building, Mapping, earliest, highest_tie};
use crate::{Matrix, scan};

const NO_TASK: u32 = u32::MAX;

pub(crate) fn map(matrix: &Matrix, building: Building) -> Mapping {
    let mut fronts = Fronts::new(matrix, building);
    for _ in 0..matrix.tasks() {
        let task = fronts.next_task();
        let machine = earliest(&fronts.building.ready, matrix.row(task));
        fronts.assign(task, machine);
    }
    fronts.building.done()
}

/// What each machine would take next.
struct Fronts<'a> {
    matrix: &'a Matrix,
    building: Building,
    /// All tasks by time then number, machine by machine.
    sorted: Vec<u32>,
    cursors: Vec<usize>,
    /// The task at each cursor.
    shortest: Vec<u32>,
    /// When each machine would be done with that task; infinite where none is left.
    done: Vec<f64>,
}

impl<'a> Fronts<'a> {
    fn new(matrix: &'a Matrix, building: Building) -> Self {
        let machines = matrix.machines();
        let mut fronts = Self {
            matrix,
            building,
            sorted: sorted_columns(matrix),
            cursors: vec![0; machines],
            shortest: vec![NO_TASK; machines],
            done: vec![0.0; machines],
        };
        (0..machines).for_each(|machine| fronts.advance(machine));
        fronts
    }

    fn column(&self, machine: usize) -> &[u32] {
        &self.sorted[machine * self.matrix.tasks()..][..self.matrix.tasks()]
    }

    fn next_task(&self) -> usize {
        let limit = highest_tie(scan::least(&self.done));
        let tied = self.done.iter().enumerate().filter(|(_, done)| **done <= limit);
        let lowest = tied.map(|(machine, _)| self.lowest_within(machine, limit)).min();
        lowest.expect("a task is left") as usize
    }

    /// The lowest task left that this machine would be done with by `limit`; there is one.
    fn lowest_within(&self, machine: usize, limit: f64) -> u32 {
        let column = self.column(machine);
        let time = |task: u32| self.matrix.time(task as usize, machine);
        let mut lowest = self.shortest[machine];
        let mut run = time(lowest);
        let mut at = self.cursors[machine] + 1;
        while let Some(&task) = column.get(at) {
            let its_time = time(task);
            if self.building.ready[machine] + its_time > limit {
                break;
            }
            if its_time == run {
                at += column[at..].partition_point(|&other| time(other) == run);
                continue;
            }
            if !self.building.is_assigned(task as usize) {
                lowest = lowest.min(task);
                run = its_time;
            }
            at += 1;
        }
        lowest
    }

    fn assign(&mut self, task: usize, machine: usize) {
        self.building.assign(task, machine, self.matrix.time(task, machine));
        for other in 0..self.matrix.machines() {
            if self.shortest[other] == task as u32 {
                self.advance(other);
            }
        }
        self.time_front(machine);
    }

    /// Moves a cursor to the first task left.
    fn advance(&mut self, machine: usize) {
        let from = self.cursors[machine];
        let ahead = &self.column(machine)[from..];
        let step = ahead.iter().position(|task| !self.building.is_assigned(*task as usize));
        let (step, task) = step.map_or((ahead.len(), NO_TASK), |step| (step, ahead[step]));
        self.cursors[machine] = from + step;
        self.shortest[machine] = task;
        self.time_front(machine);
    }

    fn time_front(&mut self, machine: usize) {
        self.done[machine] = match self.shortest[machine] {
            NO_TASK => f64::INFINITY,
            task => self.building.ready[machine] + self.matrix.time(task as usize, machine),
        };
    }
}

/// How many columns are gathered at once: a cache line of each row.
const GATHERED: usize = 8;

fn sorted_columns(matrix: &Matrix) -> Vec<u32> {
    let (tasks, machines) = (matrix.tasks(), matrix.machines());
    let mut sorted = Vec::with_capacity(tasks * machines);
    let mut columns = [const { Vec::new() }; GATHERED];
    for first in (0..machines).step_by(GATHERED) {
        let width = GATHERED.min(machines - first);
        columns.iter_mut().for_each(Vec::clear);
        for row in matrix.rows() {
            for (column, time) in columns.iter_mut().zip(&row[first..first + width]) {
                column.push(order_of(*time));
            }
        }
        for column in &mut columns[..width] {
            crate::sorting::sort_into(column, &mut sorted);
        }
    }
    sorted
}

/// Times from 0 on, as whole numbers in the same order. Adding 0 makes 0 of −0.
fn order_of(time: f64) -> u64 {
    (time + 0.0).to_bits()
}
