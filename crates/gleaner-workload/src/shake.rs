//! Moments of arrival, each moved by a little: what a file says once, drawn as often as there are seeds.
//!
//! How a rule fares on one log may hang on the order of two arrivals. With each moved by up to a minute the log is as good a
//! log as before, and what a rule is worth shows over many of them.

use crate::Stream;
use gleaner_sim::Tasks;
use gleaner_units::{Span, Time};

/// Tells this stream from others.
const STREAM: u64 = 0x0073_6861_6b65;

/// By how much, and which draw of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shake {
    /// The draw.
    pub seed: u64,
    /// At most so much earlier or later, and not before time begins.
    pub most: Span,
    /// Whether what follows on each other at one moment is moved by the same, as the tasks of an array are that are submitted as one.
    pub keeps_together: bool,
}

impl Shake {
    /// The moments as they are then, the earliest first, each with its place in what was given; equals in the order that
    /// they had.
    pub fn of(self, moments: impl IntoIterator<Item = Time>) -> Vec<(Time, usize)> {
        let mut stream = Stream::new(self.seed, STREAM);
        let most = self.most.seconds();
        let mut last = None;
        let moved = |moment: Time| {
            let by = match last {
                Some((at, by)) if self.keeps_together && at == moment => by,
                _ => stream.uniform(-most, most),
            };
            last = Some((moment, by));
            // What would come before time begins comes as long after: otherwise half of what is there from the beginning would
            // stay where it is, in its order.
            let earlier =
                Span::from_seconds(-by).map(|by| Time::from_nanos(moment.nanos().abs_diff(by.nanos())));
            earlier.unwrap_or_else(|| moment.after_seconds(by))
        };
        let moved = moments.into_iter().map(moved);
        let mut placed: Vec<(Time, usize)> = moved.zip(0..).collect();
        placed.sort_unstable();
        placed
    }

    /// The tasks as they come then, and which of the given ones each is.
    pub fn tasks(self, before: &Tasks) -> (Tasks, Vec<usize>) {
        let (mut tasks, mut order) = (Tasks::default(), Vec::with_capacity(before.arrivals.len()));
        for (arrival, place) in self.of(before.arrivals.iter().copied()) {
            tasks.push(arrival, before.lengths[place], before.classes[place]);
            *tasks.declared.last_mut().expect("it was pushed") = before.declared[place];
            order.push(place);
        }
        (tasks, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_moves_by_no_more_than_that_and_none_before_the_beginning() {
        let second = |second: u64| Time::from_nanos(second * 1_000_000_000);
        let given: Vec<Time> = (0..1_000).map(|at| second(at / 2 * 10)).collect();
        let shake = Shake { seed: 3, most: Span::from_nanos(30_000_000_000), keeps_together: false };
        let moved = shake.of(given.iter().copied());
        assert_eq!(moved, shake.of(given.iter().copied()));
        assert_ne!(moved, Shake { seed: 4, ..shake }.of(given.iter().copied()));
        assert!(moved.is_sorted());
        let mut places: Vec<usize> = moved.iter().map(|moved| moved.1).collect();
        assert!(!places.is_sorted(), "some change their order");
        let off = |&(at, place): &(Time, usize)| at.seconds() - given[place].seconds();
        assert!(moved.iter().all(|moved| off(moved).abs() <= 30.0));
        assert!(moved.iter().any(|moved| off(moved) > 20.0) && moved.iter().any(|moved| off(moved) < -20.0));
        places.sort_unstable();
        assert!(places.into_iter().eq(0..1_000));
        let together = Shake { keeps_together: true, ..shake }.of(given.iter().copied());
        let pairs: Vec<[Time; 2]> = (0..500).map(|_| [Time::ZERO; 2]).collect();
        let pairs = together.iter().fold(pairs, |mut pairs, &(at, place)| {
            pairs[place / 2][place % 2] = at;
            pairs
        });
        assert!(pairs.iter().all(|[one, other]| one == other), "who came together does so still");
        assert!(pairs.iter().zip(0..).any(|(pair, number)| pair[0] != second(number * 10)));
        let batch = shake.of(std::iter::repeat_n(Time::ZERO, 1_000));
        assert!(batch.iter().all(|moved| Time::ZERO < moved.0 && moved.0 <= second(30)));
        let still = Shake { most: Span::ZERO, ..shake }.of(given.iter().copied());
        assert!(still.into_iter().map(|moved| moved.1).eq(0..1_000));
    }
}
