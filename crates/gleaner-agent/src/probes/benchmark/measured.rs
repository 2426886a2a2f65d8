//! One measurement.

use serde::{Deserialize, Serialize};

/// A speed and how much its measurements disagreed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The best measurement.
    pub speed: f64,
    /// How far the worst lies below the best, as a share of it, from 0 to 1.
    pub spread: f64,
}

impl Measured {
    pub(super) fn best(self, other: Self) -> Self {
        if other.speed > self.speed { other } else { self }
    }

    /// The best of several, each above 0; at least one.
    pub(super) fn best_of(speeds: &[f64]) -> Self {
        let best = speeds.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let worst = speeds.iter().copied().fold(best, f64::min);
        Self { speed: best, spread: (best - worst) / best }
    }
}
