//! What is at a computing element, as the world knows it, and how long it estimates that a newcomer waits.

use gleaner_units::{TaskClassId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A job at an element, or on its way there.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Piece {
    pub(super) job: u32,
    /// The processors that it takes at a time.
    pub(super) cores: u32,
    /// For how long.
    pub(super) seconds: f64,
    /// For how long the element believes.
    pub(super) estimated_s: f64,
}

/// Jobs at an element.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Station {
    /// Each with its end, and when the element believes that it ends.
    running: BTreeMap<(Time, u32), (Time, u32)>,
    cores_taken: u32,
    /// In order of arrival.
    waiting: VecDeque<Piece>,
    /// Whose files are on their way, in order of decision.
    pub(super) coming: Vec<Piece>,
    /// By task of its own scheduler: which job.
    pub(super) jobs: Vec<u32>,
    /// By class of its own scheduler: how many processors.
    kinds: Vec<u32>,
    booked: Bookings,
}

/// When each processor that ever had a job has done all that stands in the queue, first come, first served.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Bookings {
    done_at: BinaryHeap<Reverse<Time>>,
    /// When the last of them begins: nobody passes it.
    last: Time,
}

impl Station {
    /// A job joins the queue. Costs O(its processors · log processors).
    pub(super) fn joins(&mut self, now: Time, cpus: u32, piece: Piece) {
        self.waiting.push_back(piece);
        self.booked.book(now, cpus, (piece.cores, piece.estimated_s));
    }

    /// A job that stands in the queue leaves it for processors. When it ends. Costs O(jobs before it in the queue).
    pub(super) fn begins(&mut self, now: Time, job: u32) -> Time {
        let at = self.waiting.iter().position(|other| other.job == job).expect("a job in the queue");
        let piece = self.waiting.remove(at).expect("it was just found");
        let end = now.after_seconds(piece.seconds);
        self.cores_taken += piece.cores;
        self.running.insert((end, job), (now.after_seconds(piece.estimated_s), piece.cores));
        end
    }

    /// A job that runs has come to its end.
    pub(super) fn ends(&mut self, now: Time, job: u32) {
        let (_, cores) = self.running.remove(&(now, job)).expect("a job that runs");
        self.cores_taken -= cores;
    }

    /// The class that a job of so many processors has with the element's own scheduler, and whether it is new there.
    pub(super) fn kind(&mut self, cores: u32) -> (TaskClassId, bool) {
        let known = self.kinds.iter().position(|kind| *kind == cores);
        let at = known.unwrap_or_else(|| {
            self.kinds.push(cores);
            self.kinds.len() - 1
        });
        (TaskClassId::new(at), known.is_none())
    }

    /// How many processors are taken.
    pub(super) fn cores_taken(&self) -> u32 {
        self.cores_taken
    }

    /// How many stand in the queue.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The seconds until a job of one processor that joins now would begin, first come, first served by what the element
    /// believes; where jobs whose files are on their way count, as if they were there. Where nothing but a newcomer changes
    /// that, it costs O(1), and O(jobs on their way · log processors) where those count; else O(jobs there · log processors).
    pub(super) fn traversal_s(&self, now: Time, cpus: u32, (with_coming, is_booked): (bool, bool)) -> f64 {
        let coming = if with_coming { &self.coming[..] } else { &[] };
        if is_booked && coming.is_empty() {
            return self.booked.begin(cpus, 1).since(now).seconds();
        }
        let mut booked = if is_booked { self.booked.clone() } else { self.afresh(now, cpus) };
        for piece in coming {
            booked.book(now, cpus, (piece.cores, piece.estimated_s));
        }
        booked.begin(cpus, 1).since(now).seconds()
    }

    /// By what runs and what waits.
    fn afresh(&self, now: Time, cpus: u32) -> Bookings {
        let mut booked = Bookings::default();
        for (believed, cores) in self.running.values() {
            let end = (*believed).max(now);
            booked.done_at.extend((0..*cores).map(|_| Reverse(end)));
        }
        for piece in &self.waiting {
            booked.book(now, cpus, (piece.cores, piece.estimated_s));
        }
        booked
    }
}

impl Bookings {
    /// When so many processors are free for a newcomer, or a moment that has passed.
    fn begin(&self, cpus: u32, cores: u32) -> Time {
        let unmet = (cpus as usize).saturating_sub(self.done_at.len());
        let wanted = (cores as usize).saturating_sub(unmet);
        let free = match wanted {
            0 => Time::ZERO,
            1 => self.done_at.peek().map_or(Time::ZERO, |Reverse(at)| *at),
            more => {
                let mut done_at = self.done_at.clone();
                (1..more).for_each(|_| _ = done_at.pop());
                done_at.peek().map_or(Time::ZERO, |Reverse(at)| *at)
            }
        };
        free.max(self.last)
    }

    /// The next processors that are free have so much more to do.
    fn book(&mut self, now: Time, cpus: u32, (cores, seconds): (u32, f64)) {
        let from = self.begin(cpus, cores).max(now);
        let unmet = (cpus as usize).saturating_sub(self.done_at.len());
        for _ in unmet..cores as usize {
            self.done_at.pop();
        }
        let end = from.after_seconds(seconds);
        self.done_at.extend((0..cores).map(|_| Reverse(end)));
        self.last = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece((job, seconds): (u32, f64)) -> Piece {
        Piece { job, cores: 1, seconds, estimated_s: seconds }
    }

    /// As it is kept, which is as it is worked out afresh.
    fn traversal_s(station: &Station, now: Time, cpus: u32, with_coming: bool) -> f64 {
        let (kept, afresh) = (true, false);
        let [kept, afresh] =
            [kept, afresh].map(|is_booked| station.traversal_s(now, cpus, (with_coming, is_booked)));
        if station.running.is_empty() && now == Time::ZERO {
            assert_eq!(kept, afresh);
        }
        kept
    }

    fn at(seconds: f64) -> Time {
        Time::from_seconds(seconds).expect("a moment")
    }

    #[test]
    fn a_newcomer_waits_until_a_processor_is_free_for_it() {
        let three = || {
            let mut station = Station::default();
            for row in [(0, 10.0), (1, 40.0), (2, 100.0)] {
                station.joins(at(0.0), 3, piece(row));
            }
            station
        };
        let mut roomy = Station::default();
        roomy.joins(at(0.0), 4, piece((0, 10.0)));
        assert_eq!(traversal_s(&roomy, at(0.0), 4, false), 0.0, "three are free");
        let mut station = three();
        assert_eq!(traversal_s(&station, at(0.0), 3, false), 10.0);
        for row in [(3, 20.0), (4, 20.0), (5, 50.0)] {
            station.joins(at(0.0), 3, piece(row));
        }
        assert_eq!(traversal_s(&station, at(0.0), 3, false), 50.0);
        station.coming.push(piece((6, 5.0)));
        assert_eq!(traversal_s(&station, at(0.0), 3, false), 50.0, "what is on its way does not show");
        assert_eq!(traversal_s(&station, at(0.0), 3, true), 55.0);
        assert_eq!(traversal_s(&station, at(5.0), 3, true), 50.0, "nothing came or went");
        let idle = Station { coming: vec![piece((0, 7.0))], ..Station::default() };
        assert_eq!(traversal_s(&idle, at(3.0), 1, true), 7.0);
    }

    #[test]
    fn nobody_passes_a_wide_job_in_what_is_estimated() {
        let mut station = Station::default();
        let wide = |job, cores, seconds| Piece { job, cores, seconds, estimated_s: 2.0 * seconds };
        station.joins(at(0.0), 10, wide(0, 6, 50.0));
        assert_eq!(station.begins(at(0.0), 0), at(50.0));
        assert_eq!(station.traversal_s(at(1.0), 10, (false, false)), 0.0, "four are free");
        station.joins(at(1.0), 10, wide(1, 8, 20.0));
        assert_eq!(station.traversal_s(at(1.0), 10, (false, false)), 99.0, "it is said to take 100 s");
        assert_eq!(station.traversal_s(at(1.0), 10, (false, true)), 99.0);
        station.joins(at(1.0), 10, wide(2, 4, 20.0));
        assert_eq!(station.traversal_s(at(1.0), 10, (false, false)), 139.0);
        station.ends(at(50.0), 0);
        assert_eq!(station.cores_taken(), 0);
        assert_eq!(station.traversal_s(at(50.0), 10, (false, false)), 40.0, "what ended sooner is seen");
        assert_eq!(station.kind(6), (TaskClassId::new(0), true));
        assert_eq!((station.kind(2).0, station.kind(6)), (TaskClassId::new(1), (TaskClassId::new(0), false)));
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
                station.joins(at(now), cpus, piece((job, seconds)));
                jobs.push((now, seconds));
                let expected = plainly(now, cpus as usize, &jobs);
                assert_eq!(
                    traversal_s(&station, at(now), cpus, false),
                    expected,
                    "{cpus} processors, job {job}"
                );
            }
        }
    }
}
