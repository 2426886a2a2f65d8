//! The files that somebody has sent, as long as a coordinator lives. Beyond a number of them the oldest are forgotten.

use crate::blobs::BlobId;
use std::collections::{BTreeMap, VecDeque};

/// Those of one user or agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uploads {
    /// With how many bytes each has.
    known: BTreeMap<BlobId, u64>,
    in_order: VecDeque<BlobId>,
}

impl Uploads {
    /// All of this file has come; so many are remembered.
    pub(crate) fn add(&mut self, (id, bytes): (BlobId, u64), at_most: usize) {
        if self.known.insert(id, bytes).is_some() {
            return;
        }
        self.in_order.push_back(id);
        if self.in_order.len() > at_most
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether it was sent.
    pub(crate) fn has(&self, id: BlobId) -> bool {
        self.known.contains_key(&id)
    }

    /// How many bytes it has, if it was sent.
    pub(crate) fn size(&self, id: BlobId) -> Option<u64> {
        self.known.get(&id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut uploads = Uploads::default();
        let id = |number: usize| BlobId::of(&number.to_le_bytes());
        for number in (0..=9).chain([1]) {
            uploads.add((id(number), number as u64), 9);
        }
        assert_eq!(uploads.size(id(3)), Some(3));
        assert!(!uploads.has(id(0)) && (1..=9).all(|number| uploads.has(id(number))));
    }
}
