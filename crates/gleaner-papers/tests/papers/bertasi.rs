//! The generated job sets have the counts, lengths and arrivals of the paper's tables 2 and 4.

use gleaner_papers::bertasi::jobs::{JobSet, PERMUTATIONS, job_set_0, job_set_1, job_set_2};
use gleaner_papers::bertasi::{COMPOSITIONS, READINGS, owners};
use gleaner_units::Time;
use std::collections::BTreeSet;

fn lengths_of(set: &JobSet, kind: usize) -> Vec<f64> {
    let of_kind = set.kinds.iter().zip(&set.lengths).filter(|(k, _)| **k == kind);
    of_kind.map(|(_, length)| length.amount()).collect()
}

/// Each step as (jobs, mean, deviation), told apart by `cuts` between them.
#[track_caller]
fn check_steps(set: &JobSet, kind: usize, cuts: &[f64], steps: &[(usize, f64, f64)]) {
    let lengths = lengths_of(set, kind);
    let mut high = f64::INFINITY;
    for (at, &(count, mean, deviation)) in steps.iter().enumerate() {
        let low = cuts.get(at).copied().unwrap_or(0.0);
        let own: Vec<f64> =
            lengths.iter().copied().filter(|&length| low <= length && length < high).collect();
        let n = own.len() as f64;
        let found = own.iter().sum::<f64>() / n;
        let spread = (own.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n).sqrt();
        assert_eq!(own.len(), count, "jobs of type {kind} near {mean}");
        assert!((found - mean).abs() < 4.0 * deviation / n.sqrt(), "mean {found}, expected {mean}");
        assert!(
            (spread / deviation - 1.0).abs() < 3.0 / n.sqrt(),
            "deviation {spread}, expected {deviation}"
        );
        high = low;
    }
}

#[test]
fn job_set_0_has_the_lengths_of_table_2() {
    let set = job_set_0(1);
    let cpu = [(48, 400e3, 8e3), (76, 200e3, 4e3), (76, 100e3, 2e3)];
    check_steps(&set, 0, &[300e3, 150e3], &cpu);
    let generic = [(192, 100e3, 4e3), (304, 50e3, 2e3), (304, 25e3, 1e3)];
    check_steps(&set, 1, &[75e3, 36e3], &generic);
    assert_eq!(set.kinds.len(), 1000);
}

#[test]
fn job_set_1_fills_up_its_96_per_cent() {
    let cuts = [360e3, 180e3];
    for kind in [0, 4] {
        let set = job_set_1(2);
        check_steps(&set, kind, &cuts, &[(104, 500e3, 40e3), (198, 250e3, 20e3), (198, 125e3, 10e3)]);
    }
}

#[test]
fn job_set_2_has_the_mean_length_of_table_2() {
    // The steps overlap: mean Σ pμ = 94k, variance Σ p(σ² + μ²) − mean².
    let (mean, deviation) = (94e3_f64, 92_000.0_f64);
    for seed in 1..=5 {
        let set = job_set_2(seed, &PERMUTATIONS[0]);
        for kind in 0..4 {
            let lengths = lengths_of(&set, kind);
            assert_eq!(lengths.len(), 500);
            let found = lengths.iter().sum::<f64>() / 500.0;
            // The steps' counts are exact, so the mean varies less than that of 500 draws.
            assert!((found - mean).abs() < deviation / 500_f64.sqrt() * 2.0, "{found}");
            assert!(lengths.iter().all(|&length| length >= 1.0 && length.fract() == 0.0));
        }
    }
}

#[test]
fn arrivals_are_uniform_and_in_order() {
    for (set, until) in [(job_set_0(3), 100.0), (job_set_1(3), 1000.0)] {
        assert!(set.arrivals.is_sorted());
        let n = set.arrivals.len() as f64;
        let gap = |(at, time): (usize, &Time)| (time.seconds() / until - at as f64 / n).abs();
        let distance = set.arrivals.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt();
        assert!(distance < 1.95, "Kolmogorov's distance is {distance}");
    }
}

#[test]
fn bursts_arrive_in_the_permutations_order() {
    for order in &PERMUTATIONS {
        let set = job_set_2(1, order);
        for task in 0..2000 {
            let burst = task / 500;
            assert_eq!(set.arrivals[task], Time::from_nanos(burst as u64 * 25_000_000_000));
            assert_eq!(set.kinds[task], order[burst]);
        }
    }
}

#[test]
fn long_and_short_jobs_of_a_burst_are_mixed() {
    let set = job_set_2(1, &PERMUTATIONS[0]);
    let mean =
        |tasks: std::ops::Range<usize>| set.lengths[tasks].iter().map(|l| l.amount()).sum::<f64>() / 250.0;
    assert!((mean(0..250) / mean(250..500) - 1.0).abs() < 0.25);
}

#[test]
fn a_types_jobs_are_the_same_in_every_permutation() {
    let first = job_set_2(7, &PERMUTATIONS[0]);
    for order in &PERMUTATIONS {
        let set = job_set_2(7, order);
        (0..4).for_each(|kind| assert_eq!(lengths_of(&set, kind), lengths_of(&first, kind)));
    }
}

#[test]
fn permutations_are_those_of_table_4() {
    let distinct: BTreeSet<_> = PERMUTATIONS.iter().collect();
    assert_eq!(distinct.len(), 24);
    for order in &PERMUTATIONS {
        assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), 4, "{order:?}");
        assert!(order.iter().all(|&kind| kind < 4));
    }
    let rows = [
        (1, [0, 1, 2, 3]),
        (5, [2, 1, 0, 3]),
        (8, [1, 0, 3, 2]),
        (9, [0, 3, 1, 2]),
        (12, [1, 3, 0, 2]),
        (13, [0, 3, 2, 1]),
        (16, [2, 0, 3, 1]),
        (17, [2, 3, 0, 1]),
        (19, [3, 1, 2, 0]),
        (22, [2, 3, 1, 0]),
        (24, [1, 2, 3, 0]),
    ];
    for (id, order) in rows {
        assert_eq!(PERMUTATIONS[id - 1], order, "ID {id}");
    }
    // The paper's blocks of six have one last type each.
    for (at, order) in PERMUTATIONS.iter().enumerate() {
        assert_eq!(order[3], 3 - at / 6, "ID {}", at + 1);
    }
}

/// FNV-1a over all that a set holds.
fn fingerprint(set: &JobSet) -> u64 {
    let jobs = set.arrivals.iter().zip(&set.lengths).zip(&set.kinds);
    let numbers =
        jobs.flat_map(|((arrival, length), &kind)| [arrival.nanos(), length.amount().to_bits(), kind as u64]);
    let bytes = numbers.flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A change here changes every published result: raise the data's version with it.
#[test]
fn a_seed_means_the_same_bytes_forever() {
    assert_eq!(fingerprint(&job_set_0(1)), 8_903_416_506_769_992_422);
    assert_eq!(fingerprint(&job_set_1(1)), 1_354_709_792_374_926_368);
    assert_eq!(fingerprint(&job_set_2(1, &PERMUTATIONS[0])), 651_555_143_756_002_575);
    assert_ne!(fingerprint(&job_set_0(1)), fingerprint(&job_set_0(2)));
}

#[test]
fn compositions_are_whole_and_readings_are_told() {
    assert!(COMPOSITIONS.iter().all(|shares| (shares.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(READINGS.iter().all(|r| ![r.topic, r.paper, r.taken, r.why].contains(&"")));
}

#[test]
fn owners_come_when_the_captions_say() {
    let told: Vec<_> = owners::FIGURE_4.iter().map(|c| (c.at.seconds(), c.machine, c.load)).collect();
    assert_eq!(told, [(0.0, 0, 0.95), (60.0, 6, 0.95), (100.0, 26, 0.95), (125.0, 19, 0.95)]);
    let told: Vec<_> = owners::FIGURE_2.iter().map(|c| (c.at.seconds(), c.machine, c.load)).collect();
    assert_eq!(told, [(1500.0, 3, 0.95)]);
}
