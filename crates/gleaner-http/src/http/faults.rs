//! Why files broke off that were being sent: whoever asks for one again hears it.

use gleaner_wire::BlobHash;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Of so many it is known, the latest.
const KNOWN_MAX: usize = 1_024;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<VecDeque<(BlobHash, ErrorKind)>>);

impl Faults {
    pub(super) fn note(&self, id: BlobHash, fault: ErrorKind) {
        let mut known = self.known();
        known.retain(|(known, _)| *known != id);
        if known.len() >= KNOWN_MAX {
            known.pop_front();
        }
        known.push_back((id, fault));
    }

    /// Said once: whoever asks then is sent the file again, if it is there.
    pub(super) fn take(&self, id: BlobHash) -> Option<ErrorKind> {
        let mut known = self.known();
        let at = known.iter().position(|(known, _)| *known == id)?;
        known.remove(at).map(|(_, fault)| fault)
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<(BlobHash, ErrorKind)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
