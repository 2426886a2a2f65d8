//! Whose uploads are whose until a job names them, and how much that is.
//!
//! In memory only: after a restart a user's program asks whether a file is there, hears that it is not, and sends it
//! again. What agents send, the desk remembers.

use crate::blobs::BlobId;
use crate::limits::UPLOADS_OF_USER_MAX;
use crate::tidying::YOUNG;
use crate::uploads::Uploads;
use gleaner_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct UsersUploads(Mutex<BTreeMap<String, Sent>>);

#[derive(Debug, Default)]
struct Sent {
    uploads: Uploads,
    /// In order: when each came that no job named yet, and how long it is. What is older was removed, or is a job's.
    young: VecDeque<(Time, BlobId, u64)>,
}

impl UsersUploads {
    /// A user has sent all of this file.
    pub(super) fn add(&self, user: &str, id: BlobId, (now, bytes): (Time, u64)) {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = by_user.entry(user.to_owned()).or_default();
        if !sent.uploads.has(id) {
            sent.young.push_back((now, id, bytes));
        }
        sent.uploads.add((id, bytes), UPLOADS_OF_USER_MAX);
    }

    /// Whether the user has sent it.
    pub(super) fn has(&self, user: &str, id: BlobId) -> bool {
        let by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.get(user).is_some_and(|own| own.uploads.has(id))
    }

    /// A job names these: from now on they are counted with it.
    pub(super) fn named(&self, user: &str, ids: impl Fn(BlobId) -> bool) {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sent) = by_user.get_mut(user) {
            sent.young.retain(|&(_, id, _)| !ids(id));
        }
    }

    /// How many bytes the user has sent that no job named.
    pub(super) fn bytes(&self, user: &str, now: Time) -> u64 {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(sent) = by_user.get_mut(user) else { return 0 };
        let young = Span::from_nanos(YOUNG.as_nanos() as u64);
        while sent.young.front().is_some_and(|&(at, ..)| at + young < now) {
            sent.young.pop_front();
        }
        sent.young.iter().map(|&(_, _, bytes)| bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_uploads_of_a_user_are_remembered() {
        let uploads = UsersUploads::default();
        let id = |number: usize| BlobId::of(&number.to_le_bytes());
        let send = |number| uploads.add("ada", id(number), (Time::ZERO, 1));
        (0..UPLOADS_OF_USER_MAX).for_each(send);
        assert!(uploads.has("ada", id(0)));
        send(UPLOADS_OF_USER_MAX);
        let known: Vec<bool> =
            [0, 1, UPLOADS_OF_USER_MAX].map(|number| uploads.has("ada", id(number))).into();
        assert_eq!(known, [false, true, true], "the oldest has to be sent again");
    }
}
