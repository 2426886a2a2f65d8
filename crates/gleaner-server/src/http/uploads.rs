//! Whose uploads are whose until a job names them.
//!
//! In memory only: after a restart a user's program asks whether a file is there, hears that it is not, and sends it
//! again.

use crate::blobs::BlobId;
use crate::limits::UPLOADS_EACH_MAX;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Uploads {
    by_user: Mutex<BTreeMap<String, OfUser>>,
}

#[derive(Debug, Default)]
struct OfUser {
    known: BTreeSet<BlobId>,
    in_order: VecDeque<BlobId>,
}

impl Uploads {
    /// A user has sent all of this file.
    pub(super) fn add(&self, user: &str, id: BlobId) {
        let mut by_user = self.by_user.lock().unwrap_or_else(PoisonError::into_inner);
        let own = by_user.entry(user.to_owned()).or_default();
        if own.known.insert(id) {
            own.in_order.push_back(id);
            if own.in_order.len() > UPLOADS_EACH_MAX
                && let Some(oldest) = own.in_order.pop_front()
            {
                own.known.remove(&oldest);
            }
        }
    }

    /// Whether the user has sent it.
    pub(super) fn has(&self, user: &str, id: BlobId) -> bool {
        let by_user = self.by_user.lock().unwrap_or_else(PoisonError::into_inner);
        by_user.get(user).is_some_and(|own| own.known.contains(&id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_are_the_users_own_and_the_oldest_are_forgotten() {
        let uploads = Uploads::default();
        let id = |number: usize| BlobId::of(&number.to_le_bytes());
        for number in (0..=UPLOADS_EACH_MAX).chain([1]) {
            uploads.add("ada", id(number));
        }
        assert!(!uploads.has("ada", id(0)) && uploads.has("ada", id(1)) && !uploads.has("bob", id(1)));
    }
}
