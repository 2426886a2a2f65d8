//! Max-Min and Sufferage, one task a step, on any matrix.
//!
//! Only the tasks whose best two machines a step concerned are looked at again ([`Standings`]); the best metric, and
//! the lowest task that ties with it, come from a [`Tournament`]. Cost: O(t·w) to begin with, O(w) a step for the
//! machine, O(log t) for each task concerned, and O(w) for each whose metric has to be found afresh: few a step.

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
        let task = next(&mut standings, &mut tasks, &building.ready, metric);
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

/// The lowest of the tasks that have the largest metric. Inexact metrics are too large, so where neither the largest
/// nor the one to be chosen is inexact, no other task can come before.
fn next(standings: &mut Standings<'_>, tasks: &mut Tournament, ready: &[f64], metric: Metric) -> usize {
    loop {
        let largest = tasks.least();
        let lowest_within = |limit: f64| tasks.first(|value| value <= limit).expect("a task is left");
        let (best, lowest) = (lowest_within(largest), lowest_within(highest_tie(largest)));
        let inexact = [best, lowest].into_iter().find(|task| standings.settle(*task, ready));
        let Some(task) = inexact else { return lowest };
        tasks.set(task, -standings.of(task).metric(metric));
    }
}
