//! The owner's limits on all tasks together, by the kernel: they hold whatever the coordinator orders, where it can hold them.
//!
//! **What the kernel does not take is written again until it does**: version 1 of cgroups takes no less memory than tasks
//! have in use. Either version may take its time to free what is above.

use super::latest::Latest;
use crate::confine::{Limiter, Limits};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What holds all tasks together.
pub(super) struct Bounding {
    limiter: Limiter,
    limits: Latest<Limits>,
    /// Whether that was said.
    is_refused: AtomicBool,
}

impl Bounding {
    /// Holds them to these limits before any of them begins.
    pub(super) fn new(limiter: Limiter, limits: Limits) -> Arc<Self> {
        let bounding = Self { limiter, limits: Latest::default(), is_refused: AtomicBool::new(false) };
        bounding.limits.set(limits);
        bounding.write();
        Arc::new(bounding)
    }

    /// The limits are these from the next [`look`](Self::look) on.
    pub(super) fn set(&self, limits: Limits) {
        self.limits.set(limits);
    }

    /// Has what is not in force written, by a thread that may wait for the kernel.
    pub(super) fn look(self: &Arc<Self>) {
        if self.limits.waits() {
            let bounding = self.clone();
            tokio::task::spawn_blocking(move || bounding.write());
        }
    }

    fn write(&self) {
        match self.limits.write(|limits| self.limiter.bound(limits)) {
            Err(why) if !self.is_refused.swap(true, Ordering::Relaxed) => {
                tracing::warn!(%why, "the kernel does not hold all tasks together to the owner's limits yet");
            }
            Ok(()) if self.is_refused.swap(false, Ordering::Relaxed) => {
                tracing::info!("the kernel holds all tasks together to the owner's limits now");
            }
            Err(_) | Ok(()) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confine::{Control, Hierarchy, Version};
    use std::fs;
    use std::time::{Duration, Instant};

    #[tokio::test]
    async fn what_the_kernel_does_not_take_is_written_again() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().to_owned();
        let (file, controls) = (folder.join("memory.max"), vec![Control::Memory]);
        let limiter = Limiter::over(vec![Hierarchy { folder, version: Version::V2, controls }]);
        let most = |bytes| Limits { memory_bytes: Some(bytes), ..Limits::default() };
        // It is not there, and nothing makes it: nothing is taken.
        let bounding = Bounding::new(limiter, most(7));
        assert!(bounding.limits.waits() && bounding.is_refused.load(Ordering::Relaxed));
        for bytes in [7, 5] {
            // Before it is set: a late writer of the bound before finds it empty.
            fs::write(&file, "").unwrap();
            bounding.set(most(bytes));
            let begun = Instant::now();
            while bounding.limits.waits() || bounding.is_refused.load(Ordering::Relaxed) {
                bounding.look();
                assert!(begun.elapsed() < Duration::from_secs(30), "it is tried again");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            // Waits for whoever is writing.
            bounding.write();
        }
        // It is written from its beginning.
        assert_eq!(fs::read_to_string(&file).unwrap(), "5");
    }
}
