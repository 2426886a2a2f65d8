//! Every heuristic agrees, task by task and to the bit, with the one written down plainly.

mod draw;

use draw::Choices;
use gleaner_mapping::{Heuristic, reference};

const HEURISTICS: [Heuristic; 9] = [
    Heuristic::MinMin,
    Heuristic::MaxMin,
    Heuristic::Sufferage,
    Heuristic::SufferagePasses,
    Heuristic::Mct,
    Heuristic::Met,
    Heuristic::Olb,
    Heuristic::Kpb { percent: 20.0 },
    Heuristic::Kpb { percent: 60.0 },
];

#[test]
fn heuristics_agree_with_the_reference() {
    for seed in 0..2000 {
        let mut choices = Choices::seeded(seed);
        let matrix = choices.matrix();
        let ready = choices.ready(matrix.machines());
        for heuristic in HEURISTICS {
            let expected = reference::map_from(heuristic, &matrix, &ready);
            assert_eq!(heuristic.map_from(&matrix, &ready), expected, "seed {seed}, {heuristic}");
        }
    }
}

#[test]
fn classes_agree_with_the_matrix_they_stand_for() {
    for seed in 0..2000 {
        let mut choices = Choices::seeded(seed);
        let grid = choices.grid();
        let ready = choices.ready(grid.machines());
        let matrix = grid.to_matrix().expect("a matrix");
        for heuristic in [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Mct] {
            let expected = reference::map_from(heuristic, &matrix, &ready);
            assert_eq!(grid.map_from(heuristic, &ready), Some(expected), "seed {seed}, {heuristic}");
        }
    }
}
