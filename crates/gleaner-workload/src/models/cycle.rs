//! The day's cycle of the Lublin-Feitelson model: how many jobs come in each half hour.
//!
//! The share of a bucket is that of a gamma distribution between its edges, where the day begins at bucket 11. A job
//! pays its gap in points: a bucket costs as many as it has shares, on average one, so that gaps are short where many
//! jobs come.

use super::gamma;

const BUCKETS: usize = 48;
const BUCKET_S: f64 = 1_800.0;
/// The bucket, from 1, with which the day begins.
const START: usize = 11;

/// What each bucket costs.
#[derive(Clone, Debug)]
pub(super) struct Cycle {
    points: [f64; BUCKETS],
}

/// Where in the cycle somebody is, at midnight of the first day in the beginning.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    bucket: usize,
    /// Paid to the current bucket.
    paid: f64,
    /// What share of the current bucket that is.
    share: f64,
    /// Whole seconds since the beginning.
    now_s: f64,
}

impl Cycle {
    /// The cycle by the shape and the scale of its gamma distribution.
    pub(super) fn new(shape: f64, scale: f64) -> Self {
        let mut points = [0.0; BUCKETS];
        for edge in START..START + BUCKETS {
            let edges = (edge as f64 - 0.5, edge as f64 + 0.5);
            let share = gamma::at_most(edges.1, shape, scale) - gamma::at_most(edges.0, shape, scale);
            points[(edge - 1) % BUCKETS] = share;
        }
        let mean = points.iter().sum::<f64>() / BUCKETS as f64;
        Self { points: points.map(|share| share / mean) }
    }
}

impl Clock {
    /// The moment `gap_s` later, were all buckets alike; in whole seconds.
    pub(super) fn advance(&mut self, cycle: &Cycle, gap_s: f64) -> f64 {
        self.paid += gap_s / BUCKET_S;
        let mut elapsed = 0.0;
        while self.paid > cycle.points[self.bucket] {
            self.paid -= cycle.points[self.bucket];
            self.bucket = (self.bucket + 1) % BUCKETS;
            elapsed += BUCKET_S;
        }
        let share = self.paid / cycle.points[self.bucket];
        elapsed += BUCKET_S * (share - self.share);
        self.share = share;
        self.now_s = (self.now_s + elapsed).trunc();
        self.now_s
    }
}
