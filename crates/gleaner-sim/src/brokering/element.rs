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
    waiting: VecDeque<Piece>,
    /// Whose files are on their way, in order of decision.
    pub(super) coming: Vec<Piece>,
    /// By task of its own scheduler: which job.
    pub(super) jobs: Vec<u32>,
    /// When each processor that ever had a job has done all that stand in the queue. First come, first served, and how long
    /// each takes is known: so nothing but a newcomer changes it.
    done_at: BinaryHeap<Reverse<Time>>,
}

impl Station {
    /// A job joins the queue. Costs O(log processors).
    pub(super) fn joins(&mut self, now: Time, cpus: u32, piece: Piece) {
        self.waiting.push_back(piece);
        book(&mut self.done_at, now, cpus, piece.1);
    }

    /// A job that stands in the queue leaves it for a processor: the seconds that it takes there.
    pub(super) fn begins(&mut self, job: u32) -> f64 {
        let at = self.waiting.iter().position(|(other, _)| *other == job).expect("a job in the queue");
        self.waiting.remove(at).expect("it was just found").1
    }

    /// How many stand in the queue.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The seconds until a job that joins now would begin, first come, first served; where jobs whose files are on their way
    /// count, as if they were there. Costs O(1), and O(jobs on their way · log processors) where those count.
    pub(super) fn traversal_s(&self, now: Time, cpus: u32, with_coming: bool) -> f64 {
        if !with_coming || self.coming.is_empty() {
            return free_at(&self.done_at, cpus).since(now).seconds();
        }
        let mut done_at = self.done_at.clone();
        for (_, seconds) in &self.coming {
            book(&mut done_at, now, cpus, *seconds);
        }
        free_at(&done_at, cpus).since(now).seconds()
    }
}

/// When the next processor is free, or a moment that has passed.
fn free_at(done_at: &BinaryHeap<Reverse<Time>>, cpus: u32) -> Time {
    let all_met = done_at.len() == cpus as usize;
    done_at.peek().filter(|_| all_met).map_or(Time::ZERO, |Reverse(at)| *at)
}

/// The next processor that is free has so much more to do.
fn book(done_at: &mut BinaryHeap<Reverse<Time>>, now: Time, cpus: u32, seconds: f64) {
    let from = free_at(done_at, cpus).max(now);
    if done_at.len() == cpus as usize {
        done_at.pop();
    }
    done_at.push(Reverse(from.after_seconds(seconds)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_seconds(seconds).expect("a moment")
    }

    #[test]
    fn a_newcomer_waits_until_a_processor_is_free_for_it() {
        let three = || {
            let mut station = Station::default();
            for piece in [(0, 10.0), (1, 40.0), (2, 100.0)] {
                station.joins(at(0.0), 3, piece);
            }
            station
        };
        let mut roomy = Station::default();
        roomy.joins(at(0.0), 4, (0, 10.0));
        assert_eq!(roomy.traversal_s(at(0.0), 4, false), 0.0, "three are free");
        let mut station = three();
        assert_eq!(station.traversal_s(at(0.0), 3, false), 10.0);
        for piece in [(3, 20.0), (4, 20.0), (5, 50.0)] {
            station.joins(at(0.0), 3, piece);
        }
        assert_eq!(station.traversal_s(at(0.0), 3, false), 50.0);
        station.coming.push((6, 5.0));
        assert_eq!(station.traversal_s(at(0.0), 3, false), 50.0, "what is on its way does not show");
        assert_eq!(station.traversal_s(at(0.0), 3, true), 55.0);
        assert_eq!(station.traversal_s(at(5.0), 3, true), 50.0, "nothing came or went");
        let idle = Station { coming: vec![(0, 7.0)], ..Station::default() };
        assert_eq!(idle.traversal_s(at(3.0), 1, true), 7.0);
    }

    /// By what runs and what waits alone, job by job.
    fn plainly(now: f64, cpus: usize, jobs: &[(f64, f64)]) -> f64 {
        let mut free = vec![0.0_f64; cpus];
        for (comes, seconds) in jobs {
            let first = (0..cpus).min_by(|one, other| free[*one].total_cmp(&free[*other])).expect("one");
            free[first] = free[first].max(*comes) + seconds;
        }
        (free.into_iter().fold(f64::INFINITY, f64::min) - now).max(0.0)
    }

    #[test]
    fn what_is_kept_is_what_job_by_job_comes_to() {
        let mut draw = 1_u64;
        let mut draws = move |below: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (draw >> 33) % below
        };
        for cpus in [1, 2, 5] {
            let (mut station, mut jobs, mut now) = (Station::default(), Vec::new(), 0.0);
            for job in 0..300 {
                now += draws(20) as f64;
                let seconds = (1 + draws(60)) as f64;
                station.joins(at(now), cpus, (job, seconds));
                jobs.push((now, seconds));
                let expected = plainly(now, cpus as usize, &jobs);
                assert_eq!(
                    station.traversal_s(at(now), cpus, false),
                    expected,
                    "{cpus} processors, job {job}"
                );
            }
        }
    }
}
