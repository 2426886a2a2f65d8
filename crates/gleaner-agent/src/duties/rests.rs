//! How long to wait until the coordinator is asked again for what it could not do.
//!
//! It may be starting, be busy, or have a full disk; and then every agent waits for it. So the rests grow, and no two
//! runs have the same ones.

use gleaner_units::{RunId, Span};

/// After the first time, on the average.
const FIRST: Span = Span::from_nanos(1_000_000_000);
/// On the average, however often it was asked.
const MAX: Span = Span::from_nanos(60_000_000_000);

/// The rest after so many times, of this run on this agent: from a half to one and a half times of what doubles each time.
pub(crate) fn rest(agent: u32, run: RunId, times: u32) -> Span {
    let doubled = FIRST.nanos().saturating_mul(1 << times.saturating_sub(1).min(30)).min(MAX.nanos());
    let names = [u64::from(agent), run.task.index() as u64, u64::from(run.number), u64::from(times)];
    let spread = names.into_iter().fold(0, |mixed, name| mix(mixed ^ name)) % doubled;
    Span::from_nanos(doubled / 2 + spread)
}

/// `SplitMix64`'s last step.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::TaskId;
    use std::collections::BTreeSet;

    #[test]
    fn rests_double_up_to_the_longest_and_differ_from_run_to_run() {
        let run = |task| RunId { task: TaskId::new(task), number: 1 };
        for (times, average_s) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (u32::MAX, 60)] {
            let average = average_s * 1_000_000_000;
            let rests: BTreeSet<u64> = (0..100).map(|task| rest(3, run(task), times).nanos()).collect();
            assert!(rests.iter().all(|rest| (average / 2..average * 3 / 2).contains(rest)), "{rests:?}");
            assert_eq!(rests.len(), 100, "{times}");
            assert!(rests.iter().any(|rest| *rest < average) && rests.iter().any(|rest| *rest > average));
        }
    }
}
