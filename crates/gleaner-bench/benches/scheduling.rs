//! Whole runs: the scheduler and the simulated world together.

use divan::Bencher;
use divan::counter::ItemsCount;
use gleaner_bench::{crowd, figure_3, growth, rigid, sites};
use gleaner_policy::Backfill;

fn main() {
    divan::main();
}

const SCHEMES: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// All 120 runs of one line of figure 3.
#[divan::bench(args = SCHEMES, sample_count = 5)]
fn figure_3_line(bencher: Bencher, scheme: usize) {
    let (setups, recipe) = (figure_3::setups(), figure_3::schemes()[scheme].recipe);
    bencher.bench_local(|| figure_3::run(&setups, recipe));
}

/// 200,000 tasks on 7,000 machines, placed and not moved.
#[divan::bench(args = [0, 2, 4], sample_count = 3)]
fn large_grid(bencher: Bencher, scheme: usize) {
    let (setup, recipe) = (crowd(7_000, 200_000, 100.0), figure_3::schemes()[scheme].recipe);
    let tasks = ItemsCount::new(setup.tasks.len());
    bencher.counter(tasks).bench_local(|| figure_3::run(std::slice::from_ref(&setup), recipe));
}

/// One event when machines multiply and the tasks on each stay the same.
#[divan::bench(args = growth::MACHINES, sample_count = 3)]
fn event_under_greedy(bencher: Bencher, machines: usize) {
    let steady = growth::Steady::new(machines, 20_000);
    let recipe = figure_3::schemes()[0].recipe;
    bencher.bench_local(|| steady.seconds_per_event(recipe));
}

const QUEUES: [Backfill; 3] = [Backfill::Fcfs, Backfill::Easy, Backfill::Conservative];

/// 100,000 rigid jobs on 1,024 cores.
#[divan::bench(args = QUEUES, sample_count = 3)]
fn rigid_jobs(bencher: Bencher, backfill: Backfill) {
    let setup = rigid::setup(100_000, 1_024, 0.8);
    bencher.counter(ItemsCount::new(setup.tasks.len())).bench_local(|| rigid::seconds(&setup, backfill));
}

/// The same with more work than the machine can do: queues of tens of thousands.
#[divan::bench(sample_count = 3)]
fn rigid_jobs_overloaded(bencher: Bencher) {
    let setup = rigid::setup(100_000, 1_024, 1.2);
    let jobs = ItemsCount::new(setup.tasks.len());
    bencher.counter(jobs).bench_local(|| rigid::seconds(&setup, Backfill::Easy));
}

/// A log of 100,000 jobs from its bytes to how its jobs were served.
#[divan::bench(sample_count = 3)]
fn log_to_results(bencher: Bencher) {
    let log = rigid::log(&rigid::setup(100_000, 1_024, 0.8), 1_024);
    bencher.counter(ItemsCount::new(100_000_usize)).bench_local(|| rigid::seconds_from_bytes(&log));
}

/// A look at a job by MRS, for each site, when sites multiply: jobs of kinds that were not met before.
#[divan::bench(args = sites::SITES, sample_count = 3)]
fn virtual_map_of_a_new_kind(bencher: Bencher, count: usize) {
    let bencher = bencher.counter(ItemsCount::new(20 * count)).with_inputs(|| sites::Idle::new(count));
    bencher.bench_local_refs(|idle| idle.seconds_per_site(20, false));
}

/// Likewise, of a kind that is known.
#[divan::bench(args = sites::SITES, sample_count = 3)]
fn virtual_map_of_a_known_kind(bencher: Bencher, count: usize) {
    let bencher = bencher.counter(ItemsCount::new(20 * count)).with_inputs(|| sites::Idle::new(count));
    bencher.bench_local_refs(|idle| idle.seconds_per_site(20, true));
}
