//! Whose uploads are whose until a job names them, and how much that is.
//!
//! In memory only: after a restart a user's program asks whether a file is there, hears that it is not, and sends it
//! again. What agents send, the desk remembers.
//!
//! **What is on its way is counted before it comes**, or many files that come at once would pass a quota.

use crate::limits::UPLOADS_OF_USER_MAX;
use crate::places::Who;
use gleaner_server::uploads::Uploads;
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct UsersUploads(Mutex<BTreeMap<String, Uploads<()>>>);

impl UsersUploads {
    /// A user has sent all of this file, if it is a user still; whether it is. Nobody who goes meanwhile is remembered:
    /// [`forget`](Self::forget) is called behind that.
    pub(super) fn add(
        &self,
        user: &str,
        id: BlobHash,
        (now, bytes): (Time, u64),
        is_known: impl FnOnce() -> bool,
    ) -> bool {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = is_known();
        if is_known {
            by_user.entry(user.to_owned()).or_default().add(id, (), (now, bytes), UPLOADS_OF_USER_MAX);
        }
        is_known
    }

    /// Whether the user has sent it.
    pub(super) fn has(&self, user: &str, id: BlobHash) -> bool {
        let by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.get(user).is_some_and(|own| own.has(id))
    }

    /// Whoever gets the name next has sent nothing.
    pub(super) fn forget(&self, user: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(user);
    }

    /// It was asked for, and stays a while longer.
    pub(super) fn renew(&self, user: &str, id: BlobHash, now: Time) {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sent) = by_user.get_mut(user) {
            sent.renew(id, now);
        }
    }

    /// A job names these: from now on they are counted with it.
    pub(super) fn named(&self, user: &str, ids: impl IntoIterator<Item = BlobHash>) {
        let mut by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sent) = by_user.get_mut(user) {
            ids.into_iter().for_each(|id| sent.named(id));
        }
    }

    /// How many bytes the user has sent that no job named.
    pub(super) fn bytes(&self, user: &str, now: Time) -> u64 {
        let by_user = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.get(user).map_or(0, |sent| sent.bytes(&(), now))
    }
}

/// Who sends something, and for whom it counts.
pub(super) type Sender = (Who, String);

/// How many bytes are on their way, by who sends them and for whom they count.
#[derive(Debug, Default)]
pub(super) struct Coming(Mutex<BTreeMap<Sender, u64>>);

/// Some of them, until this is dropped.
#[derive(Debug)]
pub(super) struct Expected {
    of: Arc<Coming>,
    sender: Sender,
    bytes: u64,
}

impl Coming {
    /// So many are.
    pub(super) fn bytes(&self, sender: &Sender) -> u64 {
        let coming = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        coming.get(sender).copied().unwrap_or(0)
    }

    /// So many more are.
    pub(super) fn expect(self: &Arc<Self>, sender: Sender, bytes: u64) -> Expected {
        let mut coming = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *coming.entry(sender.clone()).or_default() += bytes;
        Expected { of: Arc::clone(self), sender, bytes }
    }
}

impl Expected {
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut coming = self.of.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = coming.get_mut(&self.sender) {
            *bytes -= self.bytes;
            if *bytes == 0 {
                coming.remove(&self.sender);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_uploads_of_a_user_are_remembered() {
        let uploads = UsersUploads::default();
        let id = |number: usize| BlobHash::of(&number.to_le_bytes());
        let send = |number| assert!(uploads.add("ada", id(number), (Time::ZERO, 1), || true));
        (0..UPLOADS_OF_USER_MAX).for_each(send);
        assert!(uploads.has("ada", id(0)));
        send(UPLOADS_OF_USER_MAX);
        let known: Vec<bool> =
            [0, 1, UPLOADS_OF_USER_MAX].map(|number| uploads.has("ada", id(number))).into();
        assert_eq!(known, [false, true, true], "the oldest has to be sent again");
    }
}
