//! How long the lower bound takes, and a search for a better mapping. `gleaner bench map` has the heuristics beside their references.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_mapping::Heuristic;
use gleaner_mapping::bound::Bound;
use gleaner_mapping::polish::Polisher;
use gleaner_mapping::workload::random_matrix;

const SEED: u64 = 1;

fn main() {
    divan::main();
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
