//! Events a second of the processor-sharing engine: an event is one arrival or one completion.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_sim::sharing::ClosedLoop;

const COMPLETIONS: u64 = 500_000;

fn main() {
    divan::main();
}

/// Machines, and tasks on each.
#[divan::bench(args = [(70, 30), (7_000, 30), (1, 40), (1, 4_000)])]
fn closed_loop(bencher: Bencher, (machines, tasks_per_machine): (usize, usize)) {
    let mut warm = ClosedLoop::new(machines, tasks_per_machine, 1);
    warm.run(COMPLETIONS);
    bencher.counter(ItemsCount::new(2 * COMPLETIONS)).bench_local(|| warm.run(COMPLETIONS));
}
