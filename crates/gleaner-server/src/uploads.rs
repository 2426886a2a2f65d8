//! The files that somebody has sent, as long as a coordinator lives. Beyond a number of them the oldest are forgotten.
//!
//! **What nobody named counts for `YOUNG`, forgotten or not**: then it is removed.

use crate::blobs::BlobId;
use crate::limits::YOUNG;
use gleaner_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// What is not named is counted by the hour in which it came, and leaves the count with the last of that hour.
const HOUR_NANOS: u64 = 3_600_000_000_000;

/// A file.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: u64,
    /// In which hour it came; nothing if something names it.
    unnamed_since: Option<u64>,
}

/// Those of one user or agent.
#[derive(Clone, Debug, Default)]
pub struct Uploads {
    known: BTreeMap<BlobId, Sent>,
    in_order: VecDeque<BlobId>,
    /// How many bytes nobody named, by the hour in which they came.
    unnamed: BTreeMap<u64, u64>,
}

impl Uploads {
    /// All of this file has come; so many are remembered.
    pub fn add(&mut self, id: BlobId, (now, bytes): (Time, u64), at_most: usize) {
        let hour = hour_of(now);
        self.unnamed.retain(|&hour, _| counts(hour, now));
        let before = self.known.insert(id, Sent { bytes, unnamed_since: Some(hour) });
        if let Some(before) = before {
            self.discount(before);
        }
        *self.unnamed.entry(hour).or_default() += bytes;
        if before.is_some() {
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
    pub fn has(&self, id: BlobId) -> bool {
        self.known.contains_key(&id)
    }

    /// Whether it was sent, and is still there: what nothing named for `YOUNG` is removed.
    pub(crate) fn is_there(&self, id: BlobId, now: Time) -> bool {
        let is_young =
            |hour: u64| hour.saturating_mul(HOUR_NANOS).saturating_add(YOUNG.as_nanos() as u64) > now.nanos();
        self.known.get(&id).is_some_and(|sent| sent.unnamed_since.is_none_or(is_young))
    }

    /// How many bytes it has, if it was sent.
    pub(crate) fn size(&self, id: BlobId) -> Option<u64> {
        self.known.get(&id).map(|sent| sent.bytes)
    }

    /// A job names it, or the end of a run: from now on it is counted there.
    pub fn named(&mut self, id: BlobId) {
        let Some(sent) = self.known.get_mut(&id) else { return };
        let before = std::mem::replace(sent, Sent { unnamed_since: None, ..*sent });
        self.discount(before);
    }

    /// It was asked for, and stays for as long as if it came now.
    pub fn renew(&mut self, id: BlobId, now: Time) {
        let Some(&sent) = self.known.get(&id).filter(|sent| sent.unnamed_since.is_some()) else { return };
        let hour = hour_of(now);
        self.known.insert(id, Sent { unnamed_since: Some(hour), ..sent });
        self.discount(sent);
        *self.unnamed.entry(hour).or_default() += sent.bytes;
    }

    /// How many bytes were sent that nothing names.
    pub fn bytes(&self, now: Time) -> u64 {
        let young = self.unnamed.iter().filter(|&(&hour, _)| counts(hour, now));
        young.map(|(_, bytes)| bytes).fold(0, |all, bytes| all.saturating_add(*bytes))
    }

    fn discount(&mut self, sent: Sent) {
        if let Some(bytes) = sent.unnamed_since.and_then(|hour| self.unnamed.get_mut(&hour)) {
            *bytes = bytes.saturating_sub(sent.bytes);
        }
    }
}

fn hour_of(at: Time) -> u64 {
    at.nanos() / HOUR_NANOS
}

/// Whether some of what came in that hour may still be there.
fn counts(hour: u64, now: Time) -> bool {
    (hour + 1).saturating_mul(HOUR_NANOS).saturating_add(YOUNG.as_nanos() as u64) > now.nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> BlobId {
        BlobId::of(&number.to_le_bytes())
    }

    fn at(hours: f64) -> Time {
        Time::ZERO.after_seconds(hours * 3_600.0)
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
        let mut uploads = Uploads::default();
        (0..4).for_each(|number| uploads.add(id(number), (Time::ZERO, 1 << number), 9));
        assert_eq!(uploads.bytes(at(1.0)), 15);
        uploads.add(id(1), (at(24.0), 2), 9);
        uploads.renew(id(3), at(24.0));
        uploads.named(id(0));
        uploads.renew(id(0), at(24.0));
        assert_eq!([24.0, 24.9, 25.0, 48.9, 49.0].map(|hours| uploads.bytes(at(hours))), [14, 14, 10, 10, 0]);
        assert!(uploads.has(id(0)));
    }

    /// `tidying` removes it a day after it came, and not before.
    #[test]
    fn what_nobody_names_is_there_for_a_day() {
        let mut uploads = Uploads::default();
        (0..2).for_each(|number| uploads.add(id(number), (at(1.5), 1), 9));
        uploads.named(id(1));
        let there = |hours: f64| [0, 1, 2].map(|number| uploads.is_there(id(number), at(hours)));
        assert_eq!(there(1.5), [true, true, false]);
        assert_eq!(there(24.9), [true, true, false]);
        assert_eq!(there(25.5), [false, true, false]);
    }

    #[test]
    fn what_is_forgotten_counts_as_what_is_known() {
        let mut uploads = Uploads::default();
        for number in 0..100 {
            uploads.add(id(number), (at(number as f64 / 4.0), 10), 2);
            if number % 2 == 1 {
                uploads.named(id(number));
            }
        }
        assert_eq!(uploads.bytes(at(24.9)), 500, "what was named counts elsewhere");
        assert_eq!([25.0, 26.0, 48.0, 49.0].map(|hours| uploads.bytes(at(hours))), [480, 460, 20, 0]);
        assert!(uploads.unnamed.len() <= 26);
    }
}
