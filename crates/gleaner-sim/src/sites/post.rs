//! Sees to it that what is said arrives, once: what is not acknowledged is said again, and what was heard is not heard again.

use super::letters::{Slip, Word};
use crate::Out;
use gleaner_units::{PartyId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Post {
    said: u64,
    /// What was not acknowledged yet.
    open: BTreeMap<u64, (PartyId, PartyId, Word)>,
    again: BTreeSet<(Time, u64)>,
    heard: BTreeSet<u64>,
    patience: Span,
}

impl Post {
    pub(super) fn new(patience: Span) -> Self {
        Self { patience, ..Self::default() }
    }

    pub(super) fn say(&mut self, now: Time, (from, to): (PartyId, PartyId), word: Word, out: &mut Out<Slip>) {
        let number = self.said;
        self.said += 1;
        self.open.insert(number, (from, to, word.clone()));
        self.again.insert((now + self.patience, number));
        out.send(from, to, Slip::Word(number, word));
    }

    /// What was said from one to the other under a number, and is not acknowledged yet.
    pub(super) fn find(&self, (from, to): (PartyId, PartyId), number: u64) -> Option<&Word> {
        let (by, at, word) = self.open.get(&number)?;
        ((*by, *at) == (from, to)).then_some(word)
    }

    /// Whether what was said under a number was acknowledged.
    pub(super) fn is_closed(&self, number: u64) -> bool {
        number < self.said && !self.open.contains_key(&number)
    }

    pub(super) fn was_heard(&self, number: u64) -> bool {
        self.heard.contains(&number)
    }

    /// Whether all that was said was heard.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// When something is to be said again.
    pub(super) fn next(&self) -> Option<Time> {
        self.again.first().map(|(at, _)| *at)
    }

    pub(super) fn say_again(&mut self, now: Time, out: &mut Out<Slip>) {
        let Some((_, number)) = self.again.pop_first() else { return };
        let Some((from, to, word)) = self.open.get(&number).cloned() else { return };
        self.again.insert((now + self.patience, number));
        out.send(from, to, Slip::Word(number, word));
    }

    /// What is said in a letter, if it is heard for the first time.
    pub(super) fn hear(
        &mut self,
        (from, to): (PartyId, PartyId),
        slip: Slip,
        out: &mut Out<Slip>,
    ) -> Option<Word> {
        match slip {
            Slip::Heard(number) => {
                self.open.remove(&number);
                self.again.retain(|(_, other)| *other != number);
                None
            }
            Slip::Word(number, word) => {
                out.send(to, from, Slip::Heard(number));
                self.heard.insert(number).then_some(word)
            }
        }
    }
}
