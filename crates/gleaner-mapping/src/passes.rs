//! Sufferage in passes, as Maheswaran, Ali, Siegel, Hensgen and Freund (1999) wrote it.
//!
//! In a pass the machines' moments stand still. Every machine that is some task's first choice takes, of those
//! tasks, the one with the largest sufferage; then all these machines become busier, and the next pass begins. In
//! the paper a later task displaces an earlier one that suffers less, and the displaced one waits for the next pass:
//! the same, since nothing else changes during a pass.
//!
//! Cost: O(t·w) to begin with, then O(tasks left) a pass and what [`Standings`] takes for each machine filled.

use crate::Matrix;
use crate::mapping::{Building, Mapping, earliest, highest_tie};
use crate::standings::Standings;
use gleaner_core::tie_threshold;

pub(crate) fn map(matrix: &Matrix, mut building: Building) -> Mapping {
    let mut standings = Standings::new(matrix, &building.ready);
    let mut left: Vec<usize> = (0..matrix.tasks()).collect();
    while !left.is_empty() {
        for &task in &left {
            standings.settle(task, &building.ready);
        }
        let taken = one_pass(matrix, &building, &standings, &left);
        for &(task, machine) in &taken {
            building.assign(task, machine, matrix.time(task, machine));
        }
        left.retain(|task| !building.is_assigned(*task));
        for (_, machine) in taken {
            standings.delay(machine, &building.ready, |task| !building.is_assigned(task));
        }
    }
    building.done()
}

/// Which task each machine takes; not every machine takes one.
fn one_pass(
    matrix: &Matrix,
    building: &Building,
    standings: &Standings<'_>,
    left: &[usize],
) -> Vec<(usize, usize)> {
    let choices: Vec<_> = left.iter().map(|&task| choice(matrix, building, standings, task)).collect();
    let mut most = vec![f64::NEG_INFINITY; matrix.machines()];
    for &(machine, sufferage) in &choices {
        most[machine] = most[machine].max(sufferage);
    }
    let mut taken = Vec::new();
    for (&task, (machine, sufferage)) in left.iter().zip(choices) {
        if sufferage >= tie_threshold(most[machine]) {
            taken.push((task, machine));
            // The lowest task that ties has it.
            most[machine] = f64::INFINITY;
        }
    }
    taken
}

fn choice(matrix: &Matrix, building: &Building, standings: &Standings<'_>, task: usize) -> (usize, f64) {
    let standing = standings.of(task);
    let alone = standing.second_end > highest_tie(standing.first_end);
    let machine = if alone { standing.first as usize } else { earliest(&building.ready, matrix.row(task)) };
    (machine, standing.sufferage())
}
