//! Sufferage, one task a step, on any matrix.
//!
//! Where tasks are alike they are compared in blocks ([`alike`]). Elsewhere, each by itself:
//!
//! Only the tasks whose best two machines a step concerned are looked at again ([`Standings`]); the largest sufferage,
//! and the lowest task that ties with it, come from a [`Tournament`]. Cost: O(t·w) to begin with, O(w) a step for the
//! machine, O(log t) for each task concerned, and O(w) for each whose best two have to be found afresh: few a step.

use crate::mapping::{Building, Mapping, earliest, highest_tie};
use crate::standings::Standings;
use crate::tournament::Tournament;
use crate::{Matrix, alike};

pub(crate) fn map(matrix: &Matrix, building: Building) -> Mapping {
    if alike::are_alike(matrix, &building.ready) {
        alike::map(matrix, building)
    } else {
        one_by_one(matrix, building)
    }
}

fn one_by_one(matrix: &Matrix, mut building: Building) -> Mapping {
    let mut standings = Standings::new(matrix, &building.ready);
    // The tournament finds the least, so it holds negatives.
    let mut tasks = Tournament::new((0..matrix.tasks()).map(|task| -standings.of(task).sufferage_bound()));
    for _ in 0..matrix.tasks() {
        let task = next(&mut standings, &mut tasks, &building.ready);
        let row = matrix.row(task);
        let machine = earliest(&building.ready, row);
        building.assign(task, machine, row[machine]);
        tasks.set(task, f64::INFINITY);
        standings.delay(
            machine,
            &building.ready,
            |task| !building.is_assigned(task),
            |task, standing| tasks.set(task, -standing.sufferage_bound()),
        );
    }
    building.done()
}

/// The lowest of the tasks that suffer most. Bounds are too large where they are not exact, so where neither the
/// largest nor the one to be chosen is inexact, no other task can come before.
fn next(standings: &mut Standings<'_>, tasks: &mut Tournament, ready: &[f64]) -> usize {
    loop {
        let largest = tasks.least();
        let lowest_within = |limit: f64| tasks.first(|value| value <= limit).expect("a task is left");
        let (best, lowest) = (lowest_within(largest), lowest_within(highest_tie(largest)));
        let inexact = [best, lowest].into_iter().find(|task| standings.settle(*task, ready));
        let Some(task) = inexact else { return lowest };
        tasks.set(task, -standings.of(task).sufferage_bound());
    }
}
