//! The files that somebody has sent, as long as a coordinator lives. Beyond a number of them the oldest are forgotten.
//!
//! What nobody named counts for [`YOUNG`]: then it is removed.

use crate::blobs::BlobId;
use crate::limits::YOUNG;
use gleaner_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A file.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: u64,
    /// When it came; nothing if something names it.
    unnamed_since: Option<Time>,
}

/// Those of one user or agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uploads {
    known: BTreeMap<BlobId, Sent>,
    in_order: VecDeque<BlobId>,
}

impl Uploads {
    /// All of this file has come; so many are remembered.
    pub(crate) fn add(&mut self, id: BlobId, (now, bytes): (Time, u64), at_most: usize) {
        if self.has(id) {
            return;
        }
        self.known.insert(id, Sent { bytes, unnamed_since: Some(now) });
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
        self.known.get(&id).map(|sent| sent.bytes)
    }

    /// A job names it, or the end of a run: from now on it is counted there.
    pub(crate) fn named(&mut self, id: BlobId) {
        if let Some(sent) = self.known.get_mut(&id) {
            sent.unnamed_since = None;
        }
    }

    /// How many bytes were sent that nothing names.
    pub(crate) fn bytes(&self, now: Time) -> u64 {
        let young = Span::from_nanos(YOUNG.as_nanos() as u64);
        let is_young = |sent: &&Sent| sent.unnamed_since.is_some_and(|at| at + young >= now);
        self.known.values().filter(is_young).map(|sent| sent.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> BlobId {
        BlobId::of(&number.to_le_bytes())
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut uploads = Uploads::default();
        for number in (0..=9).chain([1]) {
            uploads.add(id(number), (Time::ZERO, number as u64), 9);
        }
        assert_eq!(uploads.size(id(3)), Some(3));
        assert!(!uploads.has(id(0)) && (1..=9).all(|number| uploads.has(id(number))));
    }

    #[test]
    fn what_nobody_names_counts_for_a_day() {
        let (mut uploads, day) = (Uploads::default(), Time::ZERO.after_seconds(YOUNG.as_secs_f64()));
        (0..3).for_each(|number| uploads.add(id(number), (Time::ZERO, 1 << number), 9));
        uploads.add(id(1), (day, 2), 9);
        uploads.named(id(0));
        assert_eq!((uploads.bytes(day), uploads.bytes(day.after_seconds(1.0))), (6, 0));
        assert!(uploads.has(id(0)));
    }
}
