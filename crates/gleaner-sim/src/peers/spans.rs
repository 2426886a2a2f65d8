//! When somebody is silent or away, by whom it is about.

use gleaner_units::Time;
use std::collections::BTreeMap;

/// Spans of time of each of many.
#[derive(Clone, Debug)]
pub(super) struct Spans<K> {
    /// In order of their begins; beside each the last end of it and of all before.
    by_key: BTreeMap<K, Vec<(Time, Time)>>,
}

impl<K: Ord> Spans<K> {
    /// Each from a moment until another.
    pub(super) fn of(spans: impl Iterator<Item = (K, Time, Time)>) -> Self {
        let mut by_key: BTreeMap<K, Vec<(Time, Time)>> = BTreeMap::new();
        for (key, from, until) in spans {
            by_key.entry(key).or_default().push((from, until));
        }
        for spans in by_key.values_mut() {
            spans.sort_unstable();
            let mut last = Time::ZERO;
            for (_, until) in spans {
                last = last.max(*until);
                *until = last;
            }
        }
        Self { by_key }
    }

    /// The last end of those that have begun and are not over; none if there is none. Costs O(log spans).
    pub(super) fn last_end(&self, key: &K, now: Time) -> Option<Time> {
        let spans = self.by_key.get(key)?;
        let begun = spans.partition_point(|(from, _)| *from <= now);
        let (_, until) = spans.get(begun.checked_sub(1)?)?;
        Some(*until).filter(|until| now < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_may_lie_within_each_other() {
        let at = |seconds: u64| Time::from_nanos(seconds * 1_000_000_000);
        let given = [(1, 10, 50), (1, 0, 5), (1, 20, 30), (2, 7, 8)];
        let spans = Spans::of(given.into_iter().map(|(key, from, until)| (key, at(from), at(until))));
        for key in 0..3 {
            for now in (0..60).map(at) {
                let all = given
                    .iter()
                    .filter(|(of, from, until)| *of == key && at(*from) <= now && now < at(*until));
                let expected = all.map(|(.., until)| at(*until)).max();
                assert_eq!(spans.last_end(&key, now), expected, "{key} at {now}");
            }
        }
    }
}
