//! Whose uploads are whose until a job names them.
//!
//! In memory only: after a restart a user's program asks whether a file is there, hears that it is not, and sends it
//! again. What agents send, the desk remembers.

use crate::blobs::BlobId;
use crate::limits::UPLOADS_OF_USER_MAX;
use crate::uploads::Uploads;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct UsersUploads(Mutex<BTreeMap<String, Uploads>>);

impl UsersUploads {
    /// A user has sent all of this file.
    pub(super) fn add(&self, user: &str, id: BlobId) {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.entry(user.to_owned()).or_default().add(id, UPLOADS_OF_USER_MAX);
    }

    /// Whether the user has sent it.
    pub(super) fn has(&self, user: &str, id: BlobId) -> bool {
        let by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.get(user).is_some_and(|own| own.has(id))
    }
}
