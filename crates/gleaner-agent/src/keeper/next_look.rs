//! When a task is looked at again.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NextLook(Instant);

impl NextLook {
    pub(crate) fn after(pause: Duration) -> Self {
        Self(Instant::now() + pause)
    }

    pub(crate) fn is_due(self) -> bool {
        self.patience().is_zero()
    }

    /// How long until then.
    pub(crate) fn patience(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }
}
