//! Every heuristic agrees, task by task and to the bit, with the one written down plainly.

use crate::draw::Choices;
use gleaner_mapping::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
use gleaner_mapping::{Heuristic, Matrix, reference};

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

/// Large enough that short lists run out and tasks wait at machines that are not their best.
#[test]
fn heuristics_agree_with_the_reference_on_larger_matrices() {
    let few_times = |tasks, machines, seed| {
        let mut choices = Choices::seeded(seed);
        let times = (0..tasks * machines).map(|_| (1 + choices.below(3)) as f64 / 10.0).collect();
        Matrix::new(tasks, machines, times).expect("a matrix")
    };
    let equal_times =
        |tasks, machines, _| Matrix::new(tasks, machines, vec![0.1; tasks * machines]).expect("a matrix");
    let kinds: [fn(usize, usize, u64) -> Matrix; 5] =
        [random_matrix, consistent_matrix, semi_consistent_matrix, few_times, equal_times];
    for seed in 0..3 {
        for (kind, make) in kinds.into_iter().enumerate() {
            let matrix = make(400, 37, seed);
            for heuristic in HEURISTICS {
                let expected = reference::map(heuristic, &matrix);
                assert_eq!(heuristic.map(&matrix), expected, "seed {seed}, kind {kind}, {heuristic}");
            }
        }
    }
}
