//! The mapping that moves change, and the best one met.

use crate::Matrix;
use crate::mapping::{Mapping, loads, makespan_of};

pub(super) struct State<'a> {
    matrix: &'a Matrix,
    assignment: Vec<u32>,
    loads: Vec<f64>,
    /// Each machine's tasks, in no order.
    members: Vec<Vec<u32>>,
    /// Where each task is among its machine's.
    places: Vec<u32>,
    /// Loads above this count.
    aim: f64,
    best: Best,
}

struct Best {
    assignment: Vec<u32>,
    makespan: f64,
    /// How many machines are as busy as the best mapping's busiest, or busier; at 0 there is a better one.
    not_below: usize,
    /// The tasks that were moved since, or at least as many as there are tasks.
    moved: Vec<u32>,
}

impl<'a> State<'a> {
    pub(super) fn new(matrix: &'a Matrix, start: Mapping, aim: f64) -> Self {
        let loads = loads(matrix, &start.assignment);
        let mut members = vec![Vec::new(); matrix.machines()];
        let mut places = Vec::with_capacity(matrix.tasks());
        for (task, &machine) in (0..).zip(&start.assignment) {
            let members: &mut Vec<u32> = &mut members[machine as usize];
            places.push(members.len() as u32);
            members.push(task);
        }
        let assignment = start.assignment.clone();
        let best =
            Best { assignment: start.assignment, makespan: start.makespan, not_below: 0, moved: Vec::new() };
        let mut state = Self { matrix, assignment, loads, members, places, aim, best };
        state.settle();
        state
    }

    pub(super) fn matrix(&self) -> &'a Matrix {
        self.matrix
    }

    /// From now on loads above `aim` count.
    pub(super) fn aim_at(&mut self, aim: f64) {
        self.aim = aim;
    }

    #[inline]
    pub(super) fn machine_of(&self, task: usize) -> usize {
        self.assignment[task] as usize
    }

    #[inline]
    pub(super) fn tasks_on(&self, machine: usize) -> &[u32] {
        &self.members[machine]
    }

    pub(super) fn best_makespan(&self) -> f64 {
        self.best.makespan
    }

    pub(super) fn into_best(self) -> Vec<u32> {
        self.best.assignment
    }

    /// Adds up the loads afresh: moves add and subtract, and leave a little each time.
    pub(super) fn settle(&mut self) {
        self.loads = loads(self.matrix, &self.assignment);
        self.count_not_below();
    }

    /// Gives the task to the machine unless the energy rises by `rise` or more.
    #[inline]
    pub(super) fn try_move(&mut self, task: usize, to: usize, rise: f64) {
        let from = self.machine_of(task);
        let from_load = self.loads[from] - self.matrix.time(task, from);
        let to_load = self.loads[to] + self.matrix.time(task, to);
        if self.rise(from, from_load, to, to_load) >= rise {
            return;
        }
        let place = self.places[task];
        self.members[from].swap_remove(place as usize);
        if let Some(&moved) = self.members[from].get(place as usize) {
            self.places[moved as usize] = place;
        }
        self.place(task, to, self.members[to].len() as u32);
        self.members[to].push(task as u32);
        self.load(from, from_load, to, to_load);
    }

    /// Lets two tasks of different machines change places unless the energy rises by `rise` or more.
    #[inline]
    pub(super) fn try_swap(&mut self, task: usize, other: usize, rise: f64) {
        let (from, to) = (self.machine_of(task), self.machine_of(other));
        let time = |task, machine| self.matrix.time(task, machine);
        let from_load = self.loads[from] - time(task, from) + time(other, from);
        let to_load = self.loads[to] - time(other, to) + time(task, to);
        if self.rise(from, from_load, to, to_load) >= rise {
            return;
        }
        let (place, other_place) = (self.places[task], self.places[other]);
        self.place(task, to, other_place);
        self.place(other, from, place);
        self.members[to][other_place as usize] = task as u32;
        self.members[from][place as usize] = other as u32;
        self.load(from, from_load, to, to_load);
    }

    #[inline]
    fn rise(&self, from: usize, from_load: f64, to: usize, to_load: f64) -> f64 {
        let energy = |load: f64| {
            let over = (load - self.aim).max(0.0);
            over * over
        };
        energy(from_load) - energy(self.loads[from]) + (energy(to_load) - energy(self.loads[to]))
    }

    fn place(&mut self, task: usize, machine: usize, place: u32) {
        self.assignment[task] = machine as u32;
        self.places[task] = place;
        if self.best.moved.len() < self.assignment.len() {
            self.best.moved.push(task as u32);
        }
    }

    fn load(&mut self, from: usize, from_load: f64, to: usize, to_load: f64) {
        let not_below = |load: f64| usize::from(load >= self.best.makespan);
        let before = not_below(self.loads[from]) + not_below(self.loads[to]);
        let after = not_below(from_load) + not_below(to_load);
        self.best.not_below = self.best.not_below + after - before;
        self.loads[from] = from_load;
        self.loads[to] = to_load;
        if self.best.not_below == 0 {
            self.keep();
        }
    }

    /// What is there now is the best.
    #[cold]
    fn keep(&mut self) {
        if self.best.moved.len() < self.assignment.len() {
            for &task in &self.best.moved {
                self.best.assignment[task as usize] = self.assignment[task as usize];
            }
        } else {
            self.best.assignment.copy_from_slice(&self.assignment);
        }
        self.best.moved.clear();
        self.best.makespan = makespan_of(&self.loads);
        self.count_not_below();
    }

    fn count_not_below(&mut self) {
        self.best.not_below = self.loads.iter().filter(|load| **load >= self.best.makespan).count();
        if self.best.not_below == 0 {
            // Only the last digits of a sum made the difference; the next move finds it, or finds a better one.
            self.best.makespan = makespan_of(&self.loads);
            self.best.not_below = 1;
        }
    }
}
