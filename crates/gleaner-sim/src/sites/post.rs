//! Sees to it that what is said arrives, once: what is not acknowledged is said again, and what was heard is not heard again.
//!
//! **Only what is not acknowledged is remembered**: what is, was heard.

use super::letters::{Slip, Word};
use crate::Out;
use gleaner_units::{PartyId, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Post {
    said: u64,
    /// What was not acknowledged yet.
    open: BTreeMap<u64, Said>,
    /// When each of these is said again.
    again: BTreeSet<(Time, u64)>,
    patience: Span,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Said {
    from: PartyId,
    to: PartyId,
    word: Word,
    again: Time,
    is_heard: bool,
}

impl Post {
    pub(super) fn new(patience: Span) -> Self {
        Self { patience, ..Self::default() }
    }

    pub(super) fn say(&mut self, now: Time, (from, to): (PartyId, PartyId), word: Word, out: &mut Out<Slip>) {
        let number = self.said;
        self.said += 1;
        let again = now + self.patience;
        self.open.insert(number, Said { from, to, word: word.clone(), again, is_heard: false });
        self.again.insert((again, number));
        out.send(from, to, Slip::Word(number, word));
    }

    /// What was said from one to the other under a number, and is not acknowledged yet.
    pub(super) fn find(&self, (from, to): (PartyId, PartyId), number: u64) -> Option<&Word> {
        let said = self.open.get(&number)?;
        ((said.from, said.to) == (from, to)).then_some(&said.word)
    }

    /// Whether what was said under a number was acknowledged.
    pub(super) fn is_closed(&self, number: u64) -> bool {
        number < self.said && !self.open.contains_key(&number)
    }

    pub(super) fn was_heard(&self, number: u64) -> bool {
        number < self.said && self.open.get(&number).is_none_or(|said| said.is_heard)
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
        let said = self.open.get_mut(&number).expect("what is said again was not acknowledged");
        said.again = now + self.patience;
        self.again.insert((said.again, number));
        out.send(said.from, said.to, Slip::Word(number, said.word.clone()));
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
                if let Some(said) = self.open.remove(&number) {
                    self.again.remove(&(said.again, number));
                }
                None
            }
            Slip::Word(number, word) => {
                out.send(to, from, Slip::Heard(number));
                let said = self.open.get_mut(&number).filter(|said| !said.is_heard)?;
                said.is_heard = true;
                Some(word)
            }
        }
    }
}
