//! Batch mapping: what `gleaner bench map` shows.
//!
//! On general matrices each heuristic is measured beside its plain O(t²·w) reference, on the same instance in the same
//! run, and **what they find must be the same**. By classes there is no matrix to give to a reference; the tests of
//! `gleaner-mapping` compare them on smaller grids.

use crate::resident::peak_growth_bytes;
use crate::table::{Aim, Measurement, Step, least, seconds};
use gleaner_mapping::by_class::ClassedGrid;
use gleaner_mapping::workload::{consistent_matrix, random_matrix, semi_consistent_matrix, speed_classes};
use gleaner_mapping::{Heuristic, Mapping, Matrix, reference};

const TASKS: usize = 8_192;
const MACHINES: usize = 256;
const SEED: u64 = 1;
const BATCH: [Heuristic; 4] =
    [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses];

/// A kind of matrix and how to make one.
type Kind = (&'static str, fn(usize, usize, u64) -> Matrix);
const KINDS: [Kind; 3] = [
    ("inconsistent", random_matrix),
    ("consistent", consistent_matrix),
    ("semi-consistent", semi_consistent_matrix),
];

/// All of them, in order. The largest grid is first: its memory is measured in a process that has freed none yet.
pub fn steps() -> Vec<Step> {
    let classes = [(1_000_000, 1_000_000, 0.3), (100_000, 10_000, 0.025)];
    let memory = Step::of(|| memory(1_000_000, 1_000_000));
    let by_class = classes.into_iter().flat_map(|(tasks, machines, aim)| {
        BATCH.map(|heuristic| Step::of(move || vec![by_class(tasks, machines, heuristic, aim)]))
    });
    let general =
        KINDS.into_iter().flat_map(|kind| BATCH.map(|heuristic| Step::of(move || general(kind, heuristic))));
    std::iter::once(memory).chain(by_class).chain(general).collect()
}

fn memory(tasks: usize, machines: usize) -> Vec<Measurement> {
    let growth = peak_growth_bytes(|| {
        let grid = speed_classes(tasks, machines, SEED);
        for heuristic in BATCH {
            std::hint::black_box(mapped(&grid, heuristic));
        }
    });
    let line = |growth: f64| Measurement {
        name: format!("memory by class, {tasks} × {machines}, input included"),
        value: growth / tasks as f64,
        unit: "bytes a task",
        aim: Some(Aim::AtMost(200.0)),
    };
    growth.map(line).into_iter().collect()
}

fn by_class(tasks: usize, machines: usize, heuristic: Heuristic, aim_s: f64) -> Measurement {
    let grid = speed_classes(tasks, machines, SEED);
    Measurement {
        name: format!("{heuristic} by class, {tasks} × {machines}"),
        value: 1e3 * least(|| seconds(|| mapped(&grid, heuristic))),
        unit: "ms",
        aim: Some(Aim::AtMost(1e3 * aim_s)),
    }
}

fn mapped(grid: &ClassedGrid, heuristic: Heuristic) -> Mapping {
    grid.map(heuristic).expect("a heuristic with a form by class")
}

fn general((kind, matrix): Kind, heuristic: Heuristic) -> Vec<Measurement> {
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
