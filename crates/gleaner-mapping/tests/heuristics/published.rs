//! The classic instances come out at the published makespans.

use crate::hcsp;
use gleaner_mapping::{Heuristic, Mapping};

const HEURISTICS: [Heuristic; 7] = [
    Heuristic::MinMin,
    Heuristic::MaxMin,
    Heuristic::Sufferage,
    Heuristic::Mct,
    Heuristic::Met,
    Heuristic::Olb,
    Heuristic::Kpb { percent: 20.0 },
];

#[test]
fn makespans_are_the_published_ones_to_every_digit() {
    let table = hcsp::table("published_makespans.csv");
    let mut wrong = Vec::new();
    for (name, published) in &table {
        let matrix = hcsp::instance(name);
        for (heuristic, published) in HEURISTICS.into_iter().zip(published) {
            let mapping = heuristic.map(&matrix);
            // The table has three decimals, and leaves zeros at the end away.
            if (mapping.makespan - published).abs() > 0.000_501 {
                wrong.push(format!("{name} {heuristic}: {} is not {published}", mapping.makespan));
            }
            let again = Mapping::of(&matrix, mapping.assignment).makespan;
            assert!((again - mapping.makespan).abs() <= 1e-9 * again);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
