//! The files that somebody has sent, as long as a coordinator lives. Beyond a number of them the oldest are forgotten, those first that
//! something names: what names one has it.
//!
//! **What nobody named counts for `YOUNG`, forgotten or not**: then it is removed. What was thrown away counts no more. What an agent
//! sent counts for each user whose runs left it, by itself.

use crate::limits::YOUNG;
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::collections::BTreeMap;

/// What is not named is counted by the hour in which it came, and leaves the count with the last of that hour.
const HOUR_NANOS: u64 = 3_600_000_000_000;

/// A file.
#[derive(Clone, Debug)]
struct Sent<W> {
    bytes: u64,
    /// For whom it counts.
    whose: W,
    /// How many were sent before it first came.
    number: u64,
    /// In which hour it came; nothing if something names it.
    unnamed_since: Option<u64>,
}

impl<W> Sent<W> {
    /// The lowest is forgotten first.
    fn place(&self) -> (bool, u64) {
        (self.unnamed_since.is_some(), self.number)
    }
}

/// Those of one user or agent.
#[derive(Clone, Debug)]
pub struct Uploads<W> {
    known: BTreeMap<BlobHash, Sent<W>>,
    in_order: BTreeMap<(bool, u64), BlobHash>,
    /// How many were sent, each counted once.
    sent: u64,
    /// How many bytes nobody named, by for whom they count and the hour in which they came.
    unnamed: BTreeMap<(W, u64), u64>,
}

impl<W> Default for Uploads<W> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), in_order: BTreeMap::new(), sent: 0, unnamed: BTreeMap::new() }
    }
}

impl<W: Ord + Clone> Uploads<W> {
    /// All of this file has come; so many are remembered.
    pub fn add(&mut self, id: BlobHash, whose: W, (now, bytes): (Time, u64), at_most: usize) {
        let hour = hour_of(now);
        self.unnamed.retain(|&(_, hour), _| counts(hour, now));
        let number = self.known.get(&id).map_or(self.sent, |before| before.number);
        self.sent = self.sent.max(number + 1);
        self.put(id, Sent { bytes, whose, number, unnamed_since: Some(hour) });
        if self.in_order.len() > at_most
            && let Some((_, oldest)) = self.in_order.pop_first()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether it was sent.
    pub fn has(&self, id: BlobHash) -> bool {
        self.known.contains_key(&id)
    }

    /// Whether it was sent, and is still there: what nothing named for `YOUNG` is removed.
    pub(crate) fn is_there(&self, id: BlobHash, now: Time) -> bool {
        let is_young =
            |hour: u64| hour.saturating_mul(HOUR_NANOS).saturating_add(YOUNG.as_nanos() as u64) > now.nanos();
        self.known.get(&id).is_some_and(|sent| sent.unnamed_since.is_none_or(is_young))
    }

    /// How many bytes it has, if it was sent.
    pub(crate) fn size(&self, id: BlobHash) -> Option<u64> {
        self.known.get(&id).map(|sent| sent.bytes)
    }

    /// A job names it, or the end of a run: from now on it is counted there.
    pub fn named(&mut self, id: BlobHash) {
        let Some(sent) = self.known.get(&id) else { return };
        let sent = Sent { unnamed_since: None, ..sent.clone() };
        self.put(id, sent);
    }

    /// Nothing will name it, though it came in order: it counts no more, and whoever wants to name it sends it again.
    pub(crate) fn thrown_away(&mut self, id: BlobHash) {
        if self.known.get(&id).is_some_and(|sent| sent.unnamed_since.is_some())
            && let Some(sent) = self.known.remove(&id)
        {
            self.in_order.remove(&sent.place());
            self.discount(sent);
        }
    }

    /// It was asked for, and stays for as long as if it came now.
    pub fn renew(&mut self, id: BlobHash, now: Time) {
        let Some(sent) = self.known.get(&id).filter(|sent| sent.unnamed_since.is_some()) else { return };
        let sent = Sent { unnamed_since: Some(hour_of(now)), ..sent.clone() };
        self.put(id, sent);
    }

    /// How many bytes were sent for somebody that nothing names.
    pub fn bytes(&self, whose: &W, now: Time) -> u64 {
        let theirs = self.unnamed.range((whose.clone(), 0)..=(whose.clone(), u64::MAX));
        let young = theirs.filter(|&(&(_, hour), _)| counts(hour, now));
        young.map(|(_, bytes)| bytes).fold(0, |all, bytes| all.saturating_add(*bytes))
    }

    /// From now on a file is known, counted and forgotten as it is said here.
    fn put(&mut self, id: BlobHash, sent: Sent<W>) {
        if let Some(hour) = sent.unnamed_since {
            *self.unnamed.entry((sent.whose.clone(), hour)).or_default() += sent.bytes;
        }
        let place = sent.place();
        self.in_order.insert(place, id);
        let Some(before) = self.known.insert(id, sent) else { return };
        if before.place() != place {
            self.in_order.remove(&before.place());
        }
        self.discount(before);
    }

    fn discount(&mut self, sent: Sent<W>) {
        if let Some(hour) = sent.unnamed_since
            && let Some(bytes) = self.unnamed.get_mut(&(sent.whose, hour))
        {
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

    fn id(number: usize) -> BlobHash {
        BlobHash::of(&number.to_le_bytes())
    }

    fn at(hours: f64) -> Time {
        Time::ZERO.after_seconds(hours * 3_600.0)
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut uploads = Uploads::default();
        for number in (0..=9).chain([1]) {
            uploads.add(id(number), "ada", (Time::ZERO, number as u64), 9);
        }
        assert_eq!(uploads.size(id(3)), Some(3));
        assert!(!uploads.has(id(0)) && (1..=9).all(|number| uploads.has(id(number))));
    }

    /// What is named needs no place: who names it has it.
    #[test]
    fn what_is_named_makes_room_for_what_is_not() {
        let mut uploads = Uploads::default();
        for number in 0..8 {
            uploads.add(id(number), "ada", (Time::ZERO, 1), 4);
            if number > 1 {
                uploads.named(id(number));
            }
        }
        let known =
            |uploads: &Uploads<_>| (0..9).filter(|number| uploads.has(id(*number))).collect::<Vec<_>>();
        assert_eq!(known(&uploads), [0, 1, 6, 7]);
        // Sent again, it is nobody's until it is named again.
        uploads.add(id(6), "ada", (Time::ZERO, 1), 4);
        uploads.add(id(8), "ada", (Time::ZERO, 1), 4);
        assert_eq!(known(&uploads), [0, 1, 6, 8]);
        assert_eq!(uploads.bytes(&"ada", at(1.0)), 4);
    }

    #[test]
    fn what_nobody_names_counts_for_a_day() {
        let mut uploads = Uploads::default();
        (0..4).for_each(|number| uploads.add(id(number), "ada", (Time::ZERO, 1 << number), 9));
        assert_eq!(uploads.bytes(&"ada", at(1.0)), 15);
        uploads.add(id(1), "ada", (at(24.0), 2), 9);
        uploads.renew(id(3), at(24.0));
        uploads.named(id(0));
        uploads.renew(id(0), at(24.0));
        assert_eq!(
            [24.0, 24.9, 25.0, 48.9, 49.0].map(|hours| uploads.bytes(&"ada", at(hours))),
            [14, 14, 10, 10, 0]
        );
        assert!(uploads.has(id(0)));
    }

    /// `tidying` removes it a day after it came, and not before.
    #[test]
    fn what_nobody_names_is_there_for_a_day() {
        let mut uploads = Uploads::default();
        (0..2).for_each(|number| uploads.add(id(number), "ada", (at(1.5), 1), 9));
        uploads.named(id(1));
        let there = |hours: f64| [0, 1, 2].map(|number| uploads.is_there(id(number), at(hours)));
        assert_eq!(there(1.5), [true, true, false]);
        assert_eq!(there(24.9), [true, true, false]);
        assert_eq!(there(25.5), [false, true, false]);
    }

    #[test]
    fn each_counts_by_itself() {
        let mut uploads = Uploads::default();
        uploads.add(id(1), "ada", (at(0.0), 10), 9);
        uploads.add(id(2), "bob", (at(1.0), 3), 9);
        let bytes = |uploads: &Uploads<_>| ["ada", "bob", "eve"].map(|whose| uploads.bytes(&whose, at(2.0)));
        assert_eq!(bytes(&uploads), [10, 3, 0]);
        uploads.add(id(1), "eve", (at(1.0), 10), 9);
        assert_eq!(bytes(&uploads), [0, 3, 10], "who sent it last");
        uploads.named(id(2));
        assert_eq!(bytes(&uploads), [0, 0, 10]);
    }

    #[test]
    fn what_is_thrown_away_counts_no_more_unless_it_was_named() {
        let mut uploads = Uploads::default();
        for number in 0..3 {
            uploads.add(id(number), "ada", (at(0.0), 10), 9);
        }
        uploads.named(id(0));
        (0..2).for_each(|number| uploads.thrown_away(id(number)));
        assert_eq!([0, 1, 2].map(|number| uploads.has(id(number))), [true, false, true]);
        assert_eq!((uploads.bytes(&"ada", at(0.0)), uploads.in_order.len()), (10, 2));
    }

    #[test]
    fn what_is_forgotten_counts_as_what_is_known() {
        let mut uploads = Uploads::default();
        for number in 0..100 {
            uploads.add(id(number), "ada", (at(number as f64 / 4.0), 10), 2);
            if number % 2 == 1 {
                uploads.named(id(number));
            }
        }
        assert_eq!(uploads.bytes(&"ada", at(24.9)), 500, "what was named counts elsewhere");
        assert_eq!([25.0, 26.0, 48.0, 49.0].map(|hours| uploads.bytes(&"ada", at(hours))), [480, 460, 20, 0]);
        assert!(uploads.unnamed.len() <= 26);
    }
}
