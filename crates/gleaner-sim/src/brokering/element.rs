//! What is at a computing element, as the world knows it, and how long it estimates that a newcomer waits.

use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

/// A job with the seconds that it takes there.
pub(super) type Piece = (u32, f64);

/// Jobs at an element.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Station {
    /// Each with its end.
    pub(super) running: BTreeSet<(Time, u32)>,
    /// In order of arrival.
    pub(super) waiting: VecDeque<Piece>,
    /// Whose files are on their way, in order of decision.
    pub(super) coming: Vec<Piece>,
    /// By task of its own scheduler: which job.
    pub(super) jobs: Vec<u32>,
}

impl Station {
    /// The seconds until a job that joins now would begin, first come, first served. Costs O(jobs · log processors) where
    /// any waits.
    pub(super) fn traversal_s(&self, now: Time, cpus: u32, with_coming: bool) -> f64 {
        let coming: &[Piece] = if with_coming { &self.coming } else { &[] };
        let ahead = self.waiting.len() + coming.len();
        if self.running.len() + ahead < cpus as usize {
            return 0.0;
        }
        let idle = (cpus as usize).saturating_sub(self.running.len());
        let free = std::iter::repeat_n(now, idle).chain(self.running.iter().map(|(end, _)| *end));
        let mut free: BinaryHeap<Reverse<Time>> = free.map(Reverse).collect();
        for (_, seconds) in self.waiting.iter().chain(coming) {
            let Reverse(at) = free.pop().expect("an element has a processor");
            free.push(Reverse(at.after_seconds(*seconds)));
        }
        free.peek().map_or(0.0, |Reverse(at)| at.since(now).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_seconds(seconds).expect("a moment")
    }

    #[test]
    fn a_newcomer_waits_until_a_processor_is_free_for_it() {
        let mut station = Station::default();
        for (job, end) in [(0, 10.0), (1, 40.0), (2, 100.0)] {
            station.running.insert((at(end), job));
        }
        assert_eq!(station.traversal_s(at(0.0), 4, false), 0.0, "one is free");
        assert_eq!(station.traversal_s(at(0.0), 3, false), 10.0);
        station.waiting.extend([(3, 20.0), (4, 20.0), (5, 50.0)]);
        assert_eq!(station.traversal_s(at(0.0), 3, false), 50.0);
        station.coming.push((6, 5.0));
        assert_eq!(station.traversal_s(at(0.0), 3, false), 50.0, "what is on its way does not show");
        assert_eq!(station.traversal_s(at(0.0), 3, true), 55.0);
        let idle = Station { coming: vec![(0, 7.0)], ..Station::default() };
        assert_eq!(idle.traversal_s(at(3.0), 1, true), 7.0);
    }
}
