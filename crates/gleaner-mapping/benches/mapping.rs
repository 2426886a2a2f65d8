//! How long mapping takes: beside the plain O(t²·w) references, and the lower bound.
//!
//! The references take seconds each: `cargo bench -p gleaner-mapping -- --skip reference` leaves them out.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_mapping::bound::Bound;
use gleaner_mapping::polish::Polisher;
use gleaner_mapping::workload::{consistent_matrix, random_matrix, semi_consistent_matrix};
use gleaner_mapping::{Heuristic, reference};

const BATCH: [Heuristic; 4] =
    [Heuristic::MinMin, Heuristic::MaxMin, Heuristic::Sufferage, Heuristic::SufferagePasses];
const TASKS: usize = 8_192;
const MACHINES: usize = 256;
const SEED: u64 = 1;

fn main() {
    divan::main();
}

#[divan::bench(args = BATCH, sample_count = 10)]
fn random(bencher: Bencher, heuristic: Heuristic) {
    let matrix = random_matrix(TASKS, MACHINES, SEED);
    bencher.counter(ItemsCount::new(TASKS)).bench_local(|| heuristic.map(&matrix));
}

#[divan::bench(args = BATCH, sample_count = 5)]
fn consistent(bencher: Bencher, heuristic: Heuristic) {
    let matrix = consistent_matrix(TASKS, MACHINES, SEED);
    bencher.counter(ItemsCount::new(TASKS)).bench_local(|| heuristic.map(&matrix));
}

#[divan::bench(args = BATCH, sample_count = 5)]
fn semi_consistent(bencher: Bencher, heuristic: Heuristic) {
    let matrix = semi_consistent_matrix(TASKS, MACHINES, SEED);
    bencher.counter(ItemsCount::new(TASKS)).bench_local(|| heuristic.map(&matrix));
}

#[divan::bench(args = BATCH, sample_count = 1)]
fn random_reference(bencher: Bencher, heuristic: Heuristic) {
    let matrix = random_matrix(TASKS, MACHINES, SEED);
    bencher.counter(ItemsCount::new(TASKS)).bench_local(|| reference::map(heuristic, &matrix));
}

/// Tasks, machines.
#[divan::bench(args = [(512, 16), (2_048, 64)], sample_count = 3)]
fn bound(bencher: Bencher, (tasks, machines): (usize, usize)) {
    let matrix = random_matrix(tasks, machines, SEED);
    bencher.bench_local(|| Bound::of(&matrix).value);
}

/// Moves a second.
#[divan::bench(sample_count = 3)]
fn polish(bencher: Bencher) {
    const MOVES: u64 = 1_000_000;
    let matrix = random_matrix(512, 16, SEED);
    let (bound, start) = (Bound::of(&matrix), Heuristic::MinMin.map(&matrix));
    bencher.counter(ItemsCount::new(MOVES)).bench_local(|| {
        let mut polisher = Polisher::new(&matrix, &start, &bound, SEED);
        polisher.advance(MOVES, 0.5);
        polisher.makespan()
    });
}
