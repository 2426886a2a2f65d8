//! Chance that a seed and a task repeat: what is drawn for one task depends on nothing that was drawn for another, so that a
//! recovered scheduler draws the same without a place in a stream.

use gleaner_units::TaskId;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// The purpose: "broker".
const PURPOSE: u64 = 0x6272_6f6b_6572;

/// The draws for one task.
pub(crate) struct Lot(ChaCha8Rng);

impl Lot {
    /// The first draw for `task` comes next.
    pub(crate) fn of(seed: u64, task: TaskId) -> Self {
        let mut words = ChaCha8Rng::seed_from_u64(seed ^ PURPOSE);
        words.set_stream(task.index() as u64);
        Self(words)
    }

    /// From 0 up to, not including, 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 up to, not including, `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.unit() * f64::from(bound)) as u32
    }
}
