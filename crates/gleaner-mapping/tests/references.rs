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
