//! An offer, as it is to the tasks of one class.

use crate::parts::staying::weighed;
use crate::spending::Terms;

/// An offer, as it is to the tasks of one class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub(super) pool: usize,
    pub(super) terms: Terms,
    /// For an operation.
    pub(super) seconds: f64,
    /// Whether another machine of the pool offers the same.
    pub(super) several: bool,
    /// Longer tasks had better wait.
    pub(super) longest: f64,
    /// How often a machine of the pool is lost, where that counts.
    pub(super) losses_per_s: f64,
}

impl Bid {
    /// Seconds from now until a task of that length would be done, and more where it counts that machines leave.
    #[inline]
    pub(super) fn end(&self, length: f64) -> f64 {
        weighed(self.terms.ready_s + length * self.seconds, self.losses_per_s)
    }

    /// The same by a machine of the pool that is ready at another moment.
    #[inline]
    pub(super) fn at(self, ready_s: f64) -> Self {
        Self { terms: Terms { ready_s, ..self.terms }, ..self }
    }
}
