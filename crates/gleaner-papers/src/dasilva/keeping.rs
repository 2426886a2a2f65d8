//! The numbers that a simulation comes to: found among those kept, or worked out and kept.

use crate::{Interrupted, Kept, Progress};

/// Whenever results mean something else than before, this changes.
pub const EDITION: &str = "dasilva 3";

/// Where numbers are kept, and who watches.
pub(super) struct Keeping<'a> {
    pub(super) kept: &'a Kept<Vec<f64>>,
    pub(super) progress: Progress<'a>,
}

impl Keeping<'_> {
    /// The numbers of the simulation of that name.
    pub(super) fn or(
        &self,
        name: String,
        simulate: impl FnOnce() -> Vec<f64>,
    ) -> Result<Vec<f64>, Interrupted> {
        if let Some(found) = self.kept.find(&name) {
            (self.progress.done)();
            return Ok(found);
        }
        if (self.progress.stop)() {
            return Err(Interrupted::Stopped);
        }
        let found = simulate();
        self.kept.keep(name, found.clone())?;
        (self.progress.done)();
        Ok(found)
    }
}
