//! The mail between parties: each letter comes after a delay, or never.
//!
//! - **Letters of one instant come in the order in which they were sent.**
//! - **Whether the n-th letter is lost depends on the seed and on n**, and so not on what is drawn elsewhere.

use gleaner_core::{Chance, Purpose};
use gleaner_units::{PartyId, Span, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What letters between two parties meet with.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Way {
    /// How long a letter takes.
    pub delay: Span,
    /// The part of the letters that never comes, from 0 to 1.
    pub loss: f64,
}

/// A letter as it comes.
#[derive(Clone, PartialEq, Debug)]
pub struct Letter<L> {
    /// Who wrote it.
    pub from: PartyId,
    /// For whom it is.
    pub to: PartyId,
    /// When it was sent.
    pub sent: Time,
    /// What it says.
    pub body: L,
}

/// Letters on their way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mail<L> {
    seed: u64,
    way: Way,
    /// When, and which letter.
    arrivals: BinaryHeap<Reverse<(Time, u64)>>,
    on_the_way: BTreeMap<u64, (PartyId, PartyId, Time, L)>,
    sent: u64,
    lost: u64,
}

impl<L> Mail<L> {
    /// No letters yet.
    pub fn new(seed: u64, way: Way) -> Self {
        let (arrivals, on_the_way) = (BinaryHeap::new(), BTreeMap::new());
        Self { seed, way, arrivals, on_the_way, sent: 0, lost: 0 }
    }

    /// How many letters were sent so far, lost ones among them.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// How many of them never come.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn post(&mut self, now: Time, (from, to): (PartyId, PartyId), body: L) {
        let number = self.sent;
        self.sent += 1;
        let way = self.way;
        if way.loss > 0.0 && Chance::of_nth(self.seed, Purpose::Letter, number).unit() < way.loss {
            self.lost += 1;
            return;
        }
        self.arrivals.push(Reverse((now + way.delay, number)));
        self.on_the_way.insert(number, (from, to, now, body));
    }

    /// When the next letter comes.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.arrivals.peek().map(|Reverse((time, _))| *time)
    }

    pub(crate) fn take(&mut self) -> Letter<L> {
        let Reverse((_, number)) = self.arrivals.pop().expect("a letter is on its way");
        let (from, to, sent, body) = self.on_the_way.remove(&number).expect("a letter that arrives was sent");
        Letter { from, to, sent, body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn party(index: usize) -> PartyId {
        PartyId::new(index)
    }

    #[test]
    fn letters_come_after_their_delay_in_the_order_in_which_they_were_sent() {
        let mut mail = Mail::new(1, Way { delay: Span::from_nanos(10), loss: 0.0 });
        mail.post(Time::from_nanos(0), (party(0), party(1)), 'a');
        mail.post(Time::from_nanos(5), (party(1), party(0)), 'b');
        mail.post(Time::from_nanos(5), (party(0), party(1)), 'c');
        let mut came = String::new();
        while let Some(at) = mail.next() {
            let letter = mail.take();
            came += &format!("{}@{} ", letter.body, at.nanos());
        }
        assert_eq!(came, "a@10 b@15 c@15 ");
    }

    #[test]
    fn as_many_letters_are_lost_as_is_said() {
        for loss in [0.0, 0.1, 0.5, 1.0] {
            let mut mail = Mail::new(7, Way { delay: Span::ZERO, loss });
            for _ in 0..10_000 {
                mail.post(Time::ZERO, (party(0), party(1)), ());
            }
            let part = mail.lost() as f64 / 10_000.0;
            assert!((part - loss).abs() < 0.02, "{part} of the letters were lost where {loss} should be");
        }
    }
}
