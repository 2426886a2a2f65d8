//! Batch mapping: what `gleaner bench map` shows.
//!
//! Each heuristic is measured beside its plain O(t²·w) reference, on the same instance in the same run, and **what they
//! find must be the same**.

use crate::table::{Aim, Measurement, Step, least, seconds};
use gleaner_mapping::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
use gleaner_mapping::{Heuristic, Matrix, reference};

const TASKS: usize = 8_192;
const MACHINES: usize = 256;
const SEED: u64 = 1;
const BATCH: [Heuristic; 4] =
    [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses];

/// A kind of matrix and how to make one.
type Generator = (&'static str, fn(usize, usize, u64) -> Matrix);
const KINDS: [Generator; 3] = [
    ("inconsistent", random_matrix),
    ("consistent", consistent_matrix),
    ("semi-consistent", semi_consistent_matrix),
];

/// All of them, in order.
pub fn steps() -> Vec<Step> {
    let of_kind = |kind| BATCH.map(|heuristic| Step::of(move || measured(kind, heuristic)));
    KINDS.into_iter().flat_map(of_kind).collect()
}

fn measured((kind, matrix): Generator, heuristic: Heuristic) -> Vec<Measurement> {
    let matrix = matrix(TASKS, MACHINES, SEED);
    let fast = least(|| seconds(|| heuristic.map(&matrix)));
    let mut expected = None;
    let plain = seconds(|| expected = Some(reference::map(heuristic, &matrix)));
    assert_eq!(Some(heuristic.map(&matrix)), expected, "{heuristic} is not its reference");
    let line = |what: &str, value, unit, aim| Measurement {
        name: format!("{heuristic}, {kind}{what}"),
        value,
        unit,
        aim,
    };
    vec![
        line("", 1e3 * fast, "ms", None),
        line(", reference", 1e3 * plain, "ms", None),
        line(", gain", plain / fast, "times", Some(Aim::AtLeast(100.0))),
    ]
}
