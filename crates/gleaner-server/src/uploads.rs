//! The files that somebody has sent, as long as a coordinator lives. Beyond a number of them the oldest are forgotten.
//!
//! What nobody named counts for [`YOUNG`]: then it is removed.

use crate::blobs::BlobId;
use crate::tidying::YOUNG;
use gleaner_units::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// Those of one user or agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uploads {
    /// How long each is, and when it came; of those that something names, nothing.
    known: BTreeMap<BlobId, Option<(Time, u64)>>,
    in_order: VecDeque<BlobId>,
}

impl Uploads {
    /// All of this file has come; so many are remembered.
    pub(crate) fn add(&mut self, id: BlobId, (now, bytes): (Time, u64), at_most: usize) {
        if self.has(id) {
            return;
        }
        self.known.insert(id, Some((now, bytes)));
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

    /// A job names it, or the end of a run: from now on it is counted there.
    pub(crate) fn named(&mut self, id: BlobId) {
        if let Some(about) = self.known.get_mut(&id) {
            *about = None;
        }
    }

    /// How many bytes were sent that nothing names.
    pub(crate) fn bytes(&self, now: Time) -> u64 {
        let young = Span::from_nanos(YOUNG.as_nanos() as u64);
        let unnamed = self.known.values().flatten().filter(|(at, _)| *at + young >= now);
        unnamed.map(|(_, bytes)| bytes).sum()
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
            uploads.add(id(number), (Time::ZERO, 1), 9);
        }
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
