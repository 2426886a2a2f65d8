//! The heuristics as one would write them down, for tests and benchmarks to compare with: O(t²·w).

use crate::heuristic::machines_of;
use crate::mapping::{Building, Mapping, earliest, highest_tie, lowest_least};
use crate::{Heuristic, Matrix};
use gleaner_core::tie_threshold;

/// The mapping of [`Heuristic::map_from`], found the slow way.
pub fn map_from(heuristic: Heuristic, matrix: &Matrix, ready: &[f64]) -> Mapping {
    let building = Building::new(matrix.tasks(), ready);
    match heuristic {
        Heuristic::MinMin => batch(matrix, building, |ready, row| -two_least(ready, row).0),
        Heuristic::MaxMin => batch(matrix, building, |ready, row| two_least(ready, row).0),
        Heuristic::Sufferage => batch(matrix, building, sufferage),
        Heuristic::SufferagePasses => passes(matrix, building),
        Heuristic::Mct => immediate(matrix, building, earliest),
        Heuristic::Met => immediate(matrix, building, |_, row| lowest_least(row)),
        Heuristic::Olb => immediate(matrix, building, |ready, _| lowest_least(ready)),
        Heuristic::Kpb { percent } => {
            let count = machines_of(percent, matrix.machines());
            immediate(matrix, building, |ready, row| k_best(ready, row, count))
        }
    }
}

/// The mapping of [`Heuristic::map`], found the slow way.
pub fn map(heuristic: Heuristic, matrix: &Matrix) -> Mapping {
    map_from(heuristic, matrix, &vec![0.0; matrix.machines()])
}

/// The earliest and the second earliest end; with one machine the second is infinite.
fn two_least(ready: &[f64], row: &[f64]) -> (f64, f64) {
    let mut least = (f64::INFINITY, f64::INFINITY);
    for end in ready.iter().zip(row).map(|(ready, time)| ready + time) {
        if end < least.0 {
            least = (end, least.0);
        } else if end < least.1 {
            least.1 = end;
        }
    }
    least
}

fn sufferage(ready: &[f64], row: &[f64]) -> f64 {
    let (first, second) = two_least(ready, row);
    if second.is_finite() { second - first } else { 0.0 }
}

/// The lowest of the tasks in `among` that have the largest metric.
fn lowest_best(among: impl Iterator<Item = usize> + Clone, metric: impl Fn(usize) -> f64) -> Option<usize> {
    let scores: Vec<(usize, f64)> = among.map(|task| (task, metric(task))).collect();
    let best = scores.iter().fold(f64::NEG_INFINITY, |best, (_, score)| best.max(*score));
    scores.into_iter().find(|(_, score)| *score >= tie_threshold(best)).map(|(task, _)| task)
}

fn batch(matrix: &Matrix, mut building: Building, metric: impl Fn(&[f64], &[f64]) -> f64) -> Mapping {
    let left = |building: &Building| {
        let unassigned: Vec<usize> =
            (0..matrix.tasks()).filter(|task| !building.is_assigned(*task)).collect();
        lowest_best(unassigned.into_iter(), |task| metric(&building.ready, matrix.row(task)))
    };
    while let Some(task) = left(&building) {
        let machine = earliest(&building.ready, matrix.row(task));
        building.assign(task, machine, matrix.time(task, machine));
    }
    building.done()
}

fn passes(matrix: &Matrix, mut building: Building) -> Mapping {
    let mut left: Vec<usize> = (0..matrix.tasks()).collect();
    while !left.is_empty() {
        let ready = building.ready.clone();
        for machine in 0..matrix.machines() {
            let suitors = left.iter().copied().filter(|task| earliest(&ready, matrix.row(*task)) == machine);
            if let Some(task) = lowest_best(suitors, |task| sufferage(&ready, matrix.row(task))) {
                building.assign(task, machine, matrix.time(task, machine));
            }
        }
        left.retain(|task| !building.is_assigned(*task));
    }
    building.done()
}

fn immediate(matrix: &Matrix, mut building: Building, choose: impl Fn(&[f64], &[f64]) -> usize) -> Mapping {
    for task in 0..matrix.tasks() {
        let machine = choose(&building.ready, matrix.row(task));
        building.assign(task, machine, matrix.time(task, machine));
    }
    building.done()
}

fn k_best(ready: &[f64], row: &[f64], count: usize) -> usize {
    let mut kept: Vec<usize> = Vec::new();
    for _ in 0..count {
        let others = || (0..row.len()).filter(|machine| !kept.contains(machine));
        let limit = highest_tie(others().map(|machine| row[machine]).fold(f64::INFINITY, f64::min));
        let next = others().find(|machine| row[*machine] <= limit);
        kept.push(next.expect("no more than there are"));
    }
    kept.sort_unstable();
    let end = |machine: &usize| ready[*machine] + row[*machine];
    let limit = highest_tie(kept.iter().map(end).fold(f64::INFINITY, f64::min));
    kept.into_iter().find(|machine| end(machine) <= limit).expect("the least ties with itself")
}
