//! When which tasks arrive.
//!
//! - **A pattern depends on its seed, its period and its length alone**: every version is given the same tasks.
//! - Tasks arrive at whole periods from the first on, so that the batch of that moment has them.

use super::{ARRIVALS_MAX, LENGTHS};
use crate::Stream;
use gleaner_sim::Tasks;
use gleaner_units::{Ops, TaskClassId, Time};

const NANOS: u64 = 1_000_000_000;

/// What a stream is for; its number is part of what a seed means. Other papers' streams have other numbers.
#[derive(Clone, Copy)]
enum Purpose {
    Counts = 0x0e11_0000,
    Lengths = 0x0e11_0001,
}

/// The tasks of a seed, in periods of `period_s` seconds for so many days.
pub(super) fn tasks(seed: u64, period_s: u32, days: f64) -> Tasks {
    let stream = |purpose: Purpose| Stream::new(seed, purpose as u64);
    let (mut counts, mut lengths) = (stream(Purpose::Counts), stream(Purpose::Lengths));
    let mut tasks = Tasks::default();
    for event in 1..=events(period_s, days) {
        let arrival = Time::from_nanos(event * u64::from(period_s) * NANOS);
        for _ in 0..counts.below(ARRIVALS_MAX + 1) {
            let length = lengths.uniform(LENGTHS.0, LENGTHS.1).round();
            tasks.push(arrival, Ops::new(length).expect("far above 0"), TaskClassId::new(0));
        }
    }
    tasks
}

/// How often tasks arrive.
fn events(period_s: u32, days: f64) -> u64 {
    (days * 86_400.0 / f64::from(period_s)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_and_lengths_are_the_papers() {
        let tasks = tasks(1, 120, 14.0);
        let mean = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let events = events(120, 14.0);
        assert_eq!(events, 10_080);
        assert!((tasks.len() as f64 / events as f64 - 100.0).abs() < 2.0, "{} tasks", tasks.len());
        let lengths = || tasks.lengths.iter().map(|length| length.amount());
        assert!((mean(&mut lengths()) / 8.5e6 - 1.0).abs() < 0.001);
        assert!(lengths().all(|length| (5e6..=12e6).contains(&length)));
        assert_eq!(tasks.arrivals.last().map(|time| time.seconds()), Some(14.0 * 86_400.0));
    }
}
