//! The coordinator among crashes, lost messages, full disks and sleeping machines: many histories, each from a seed.
//!
//! The desk, the ledger, the rows and the recovery are the real ones. `GLEANER_FAULTS=N` lives through N histories;
//! `GLEANER_FAULT_SEED=N` through the one of that seed, and tells it. A program of its own: it takes all cores.

mod agent;
mod bad_machine;
mod chance;
mod checker;
mod claims;
mod closed;
mod flaw;
mod history;
mod journal;
mod mended;
mod mutant;
mod network;
mod put_back;
mod queue;
mod recovery;
mod retired;
mod scene;
mod server;
mod small;
mod time_limit;
mod trouble;
mod twins;
mod used;
mod users;
mod world;

use mutant::Mutant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use world::World;

const HISTORIES: u64 = 10_000;
/// How many histories a mistake may need to show.
const MUTANT_HISTORIES: u64 = 1_000;

/// How much happened in a history, and how much of it was trouble.
fn live(seed: u64, is_traced: bool) -> Result<(u64, u64, retired::Seen), String> {
    let (history, server) = World::new(seed, None, is_traced).run()?;
    checker::judge(&history)?;
    recovery::check(&history.rows, &server.saved)?;
    recovery::check_from_beginning(&server.disk)?;
    let seen = retired::check(&history.rows, &server.disk)?;
    let seen = retired::Seen { compacted: server.compactions, ..seen };
    Ok((history.events, history.faults, seen))
}

fn live_guarded(seed: u64) -> Result<(u64, u64, retired::Seen), String> {
    catch_unwind(AssertUnwindSafe(|| live(seed, false))).unwrap_or_else(|_| Err("it panicked".to_owned()))
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}; expected a number")))
}

#[test]
fn nothing_is_lost_in_any_history() {
    if let Some(seed) = number_from("GLEANER_FAULT_SEED") {
        let (events, faults, seen) =
            live(seed, true).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        println!("seed {seed}: {events} events, {faults} faults, {seen:?}");
        return;
    }
    let histories = number_from("GLEANER_FAULTS").unwrap_or(HISTORIES);
    let (next, events, faults) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let [retired, revived, jobs, removed, kept, compacted] = [const { AtomicU64::new(0) }; 6];
    let started = Instant::now();
    let work = || {
        let mut failures = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= histories || failures.len() >= 5 {
                return failures;
            }
            match live_guarded(seed) {
                Ok((happened, wrong, seen)) => {
                    assert!(happened >= 200 && wrong >= 3, "seed {seed}: {happened} events, {wrong} faults");
                    events.fetch_add(happened, Ordering::Relaxed);
                    faults.fetch_add(wrong, Ordering::Relaxed);
                    retired.fetch_add(seen.retired, Ordering::Relaxed);
                    revived.fetch_add(seen.revived, Ordering::Relaxed);
                    jobs.fetch_add(seen.jobs, Ordering::Relaxed);
                    removed.fetch_add(seen.removed, Ordering::Relaxed);
                    kept.fetch_add(seen.kept, Ordering::Relaxed);
                    compacted.fetch_add(seen.compacted, Ordering::Relaxed);
                }
                Err(broken) => failures.push(format!("GLEANER_FAULT_SEED={seed}: {broken}")),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("it says what is wrong")).collect()
    });
    let rate = histories as f64 / started.elapsed().as_secs_f64();
    println!("{histories} histories, {events:?} events, {faults:?} faults, {rate:.0} histories a second");
    println!("{retired:?} tasks left memory, {revived:?} came back, {jobs:?} jobs were gone in the end");
    println!(
        "results were removed {removed:?} times, and wanted or not wanted {kept:?} times; journals were compacted {compacted:?} times"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let seen = [retired, revived, jobs, removed, kept, compacted].map(AtomicU64::into_inner);
    // A few say nothing of how often it happens.
    let is_enough = histories < 1_000 || seen.iter().all(|seen| *seen * 20 > histories);
    assert!(is_enough, "hardly anything left memory: {seen:?}");
}

#[test]
fn every_mistake_is_noticed() {
    for mutant in Mutant::ALL {
        let notice = (0..MUTANT_HISTORIES).find_map(|seed| {
            // What nobody judges is not noticed: a history that goes round in circles does not count.
            let live = AssertUnwindSafe(|| World::new(seed, Some(mutant), false).run());
            let (history, _) = catch_unwind(live).ok()?.ok()?;
            checker::judge(&history).err().map(|broken| (seed, broken))
        });
        let (seed, broken) = notice.unwrap_or_else(|| panic!("{mutant:?} goes unnoticed"));
        println!("{mutant:?}: seed {seed}: {broken}");
    }
}
