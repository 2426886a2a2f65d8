//! The heuristics as one would write them down, for tests and benchmarks to compare with: O(t²·w). **They have nothing of the code
//! that they check**, not even what a tie is: within 1e-12 of the best, relative to it.

use crate::{Heuristic, Mapping, Matrix};

/// The mapping of [`Heuristic::map_from`], found the slow way.
pub fn map_from(heuristic: Heuristic, matrix: &Matrix, ready: &[f64]) -> Mapping {
    let mut plan = Plan { matrix, ready: ready.to_vec(), machine_of: vec![None; matrix.tasks()] };
    match heuristic {
        Heuristic::MinMin => plan.batch(|ends| -least(ends)),
        Heuristic::MaxMin => plan.batch(least),
        Heuristic::Sufferage => plan.batch(sufferage),
        Heuristic::SufferagePasses => plan.passes(),
        Heuristic::Mct => plan.immediate(|ready, row| first_least(&ends(ready, row))),
        Heuristic::Met => plan.immediate(|_, row| first_least(row)),
        Heuristic::Olb => plan.immediate(|ready, _| first_least(ready)),
        Heuristic::Kpb { percent } => plan.immediate(|ready, row| k_best(ready, row, percent)),
    }
    let makespan = plan.ready.iter().copied().fold(0.0, f64::max);
    let assignment = plan.machine_of.into_iter().map(|machine| machine.expect("all are assigned") as u32);
    Mapping { assignment: assignment.collect(), makespan }
}

/// The mapping of [`Heuristic::map`], found the slow way.
pub fn map(heuristic: Heuristic, matrix: &Matrix) -> Mapping {
    map_from(heuristic, matrix, &vec![0.0; matrix.machines()])
}

/// Tasks on machines, so far.
struct Plan<'a> {
    matrix: &'a Matrix,
    ready: Vec<f64>,
    machine_of: Vec<Option<usize>>,
}

impl Plan<'_> {
    fn assign(&mut self, task: usize, machine: usize) {
        self.machine_of[task] = Some(machine);
        self.ready[machine] += self.matrix.row(task)[machine];
    }

    fn left(&self) -> Vec<usize> {
        (0..self.machine_of.len()).filter(|task| self.machine_of[*task].is_none()).collect()
    }

    /// The task with the largest metric of its ends is next, and goes where it ends first.
    fn batch(&mut self, metric: impl Fn(&[f64]) -> f64) {
        loop {
            let left = self.left();
            let ends_of = |task: &usize| ends(&self.ready, self.matrix.row(*task));
            let losses: Vec<f64> = left.iter().map(|task| -metric(&ends_of(task))).collect();
            if left.is_empty() {
                return;
            }
            let task = left[first_least(&losses)];
            let machine = first_least(&ends_of(&task));
            self.assign(task, machine);
        }
    }

    /// In each pass over all that are left, each machine that is somebody's first choice takes who would lose most.
    fn passes(&mut self) {
        while !self.left().is_empty() {
            let (left, ready) = (self.left(), self.ready.clone());
            for machine in 0..ready.len() {
                let ends_of = |task: &usize| ends(&ready, self.matrix.row(*task));
                let wants = |task: &&usize| first_least(&ends_of(task)) == machine;
                let suitors: Vec<usize> = left.iter().filter(wants).copied().collect();
                let losses: Vec<f64> = suitors.iter().map(|task| -sufferage(&ends_of(task))).collect();
                if !suitors.is_empty() {
                    self.assign(suitors[first_least(&losses)], machine);
                }
            }
        }
    }

    /// One task after the other.
    fn immediate(&mut self, choose: impl Fn(&[f64], &[f64]) -> usize) {
        for task in 0..self.machine_of.len() {
            let machine = choose(&self.ready, self.matrix.row(task));
            self.assign(task, machine);
        }
    }
}

/// When each machine would be done with a task.
fn ends(ready: &[f64], row: &[f64]) -> Vec<f64> {
    (0..row.len()).map(|machine| ready[machine] + row[machine]).collect()
}

fn least(values: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for &value in values {
        if value < least {
            least = value;
        }
    }
    least
}

/// What is lost by the second choice; nothing where there is none.
fn sufferage(ends: &[f64]) -> f64 {
    let first = least(ends);
    let choice = ends.iter().position(|end| *end == first).expect("one of them is the least");
    let others: Vec<f64> = [&ends[..choice], &ends[choice + 1..]].concat();
    if others.is_empty() { 0.0 } else { least(&others) - first }
}

/// The place of the first value that ties with the least.
fn first_least(values: &[f64]) -> usize {
    let least = least(values);
    let ties = |value: &f64| *value <= least + 1e-12 * least.abs();
    values.iter().position(ties).expect("the least ties with itself")
}

/// Of the machines that are fastest for the task, so many per cent of all and one at least, the one that is done first.
fn k_best(ready: &[f64], row: &[f64], percent: f64) -> usize {
    let count = (1..=row.len()).filter(|count| *count as f64 * 100.0 <= percent * row.len() as f64).count();
    let mut others: Vec<usize> = (0..row.len()).collect();
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..count.max(1) {
        let times: Vec<f64> = others.iter().map(|machine| row[*machine]).collect();
        kept.push(others.remove(first_least(&times)));
    }
    kept.sort_unstable();
    let ends: Vec<f64> = kept.iter().map(|machine| ready[*machine] + row[*machine]).collect();
    kept[first_least(&ends)]
}
