//! Max-Min and Sufferage, one task a step, on any matrix.
//!
//! Only the tasks whose best two machines a step concerned are looked at again ([`Standings`]); the best metric, and
//! the lowest task that ties with it, come from a [`Tournament`]. Cost: O(t·w) to begin with, O(w) a step for the
//! machine, and for each task concerned O(log t), or O(w) where the step pushed its machine behind a third.

use crate::Matrix;
use crate::mapping::{Building, Mapping, earliest, highest_tie};
use crate::standings::Standings;
use crate::tournament::Tournament;

/// What decides which task is next; the largest wins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Metric {
    /// Max-Min.
    EarliestEnd,
    /// Sufferage.
    Sufferage,
}

pub(crate) fn map(matrix: &Matrix, mut building: Building, metric: Metric) -> Mapping {
    let mut standings = Standings::new(matrix, &building.ready, metric);
    // The tournament finds the least, so it holds the metric's negative.
    let mut tasks = Tournament::new((0..matrix.tasks()).map(|task| -standings.of(task).metric(metric)));
    for _ in 0..matrix.tasks() {
        let limit = highest_tie(tasks.least());
        let task = tasks.first(|value| value <= limit).expect("a task is left");
        let row = matrix.row(task);
        let machine = earliest(&building.ready, row);
        building.assign(task, machine, row[machine]);
        tasks.set(task, f64::INFINITY);
        standings.delay(
            machine,
            &building.ready,
            |task| !building.is_assigned(task),
            |task, standing| tasks.set(task, -standing.metric(metric)),
        );
    }
    building.done()
}
