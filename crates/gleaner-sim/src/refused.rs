//! What parties sent to each other that made no sense: it changes nothing, and is shown.

use gleaner_units::{PartyId, Time};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// So many refusals are kept.
pub const REFUSED_MAX: usize = 1_000;

/// What a party sent that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refused {
    /// When it came.
    pub at: Time,
    /// Who refused it.
    pub by: PartyId,
    /// From whom it was.
    pub from: PartyId,
    /// Why.
    pub why: Cow<'static, str>,
}

/// The first [`REFUSED_MAX`] of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Refusals(Vec<Refused>);

impl Refusals {
    pub(crate) fn note(&mut self, at: Time, (by, from): (PartyId, PartyId), why: &'static str) {
        if self.0.len() < REFUSED_MAX {
            self.0.push(Refused { at, by, from, why: why.into() });
        }
    }

    pub(crate) fn kept(&self) -> &[Refused] {
        &self.0
    }
}
