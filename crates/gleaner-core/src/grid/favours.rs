//! The Network of Favours (Andrade, Brasileiro, Cirne and Mowbray): what a site remembers of what peers did for it.
//!
//! **A site's ledger is its own**: nobody else writes it or reads it, and it counts what the site saw itself. **No value goes
//! below zero**, so that nothing is gained by a new identity. Only finished work counts.

use gleaner_units::{PartyId, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of its machines that a site lends is turned down and up in so many steps.
const SUPPLY_STEPS: u32 = 16;

/// After so many favours, done or received, the part that is lent is reconsidered.
const SUPPLY_FAVOURS: u32 = 16;

/// The ledger of one site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Favours {
    /// What each peer did for us less what we did for it; no peer at 0.
    held: BTreeMap<PartyId, Span>,
    supply: Supply,
}

/// How much may be lent where what is given is to match what comes back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Supply {
    steps: u32,
    favours: u32,
    done: Span,
    received: Span,
}

impl Default for Favours {
    fn default() -> Self {
        let supply = Supply { steps: SUPPLY_STEPS, favours: 0, done: Span::ZERO, received: Span::ZERO };
        Self { held: BTreeMap::new(), supply }
    }
}

fn sum(one: Span, other: Span) -> Span {
    Span::from_nanos(one.nanos().saturating_add(other.nanos()))
}

impl Favours {
    /// What is owed to a peer.
    pub fn owed_to(&self, peer: PartyId) -> Span {
        self.held.get(&peer).copied().unwrap_or(Span::ZERO)
    }

    /// All to whom something is owed.
    pub fn iter(&self) -> impl Iterator<Item = (PartyId, Span)> + '_ {
        self.held.iter().map(|(peer, worth)| (*peer, *worth))
    }

    /// Of so many machines, how many may be lent at a time if what is given is to match what comes back (FD-NoF, Falcão et
    /// al.): fewer while less than three quarters of what was done came back, more otherwise; always one.
    pub fn supply(&self, machines: u32) -> u32 {
        let part = u64::from(machines) * u64::from(self.supply.steps) / u64::from(SUPPLY_STEPS);
        (part as u32).max(1)
    }

    pub(super) fn received(&mut self, from: PartyId, worth: Span) {
        if worth == Span::ZERO {
            return;
        }
        let held = self.held.entry(from).or_insert(Span::ZERO);
        *held = sum(*held, worth);
        self.supply.received = sum(self.supply.received, worth);
        self.supply.count();
    }

    pub(super) fn done(&mut self, to: PartyId, worth: Span) {
        if worth == Span::ZERO {
            return;
        }
        if let Some(held) = self.held.get_mut(&to) {
            *held = Span::from_nanos(held.nanos().saturating_sub(worth.nanos()));
            if *held == Span::ZERO {
                self.held.remove(&to);
            }
        }
        self.supply.done = sum(self.supply.done, worth);
        self.supply.count();
    }
}

impl Supply {
    fn count(&mut self) {
        self.favours += 1;
        if self.favours < SUPPLY_FAVOURS {
            return;
        }
        let came_back = u128::from(self.received.nanos()) * 4 >= u128::from(self.done.nanos()) * 3;
        self.steps =
            if came_back { (self.steps + 1).min(SUPPLY_STEPS) } else { self.steps.saturating_sub(1) };
        (self.favours, self.done, self.received) = (0, Span::ZERO, Span::ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PartyId = PartyId::FIRST;

    fn span(nanos: u64) -> Span {
        Span::from_nanos(nanos)
    }

    #[test]
    fn two_ledgers_of_what_was_done_and_received() {
        let b = PartyId::new(1);
        let (mut of_a, mut of_b) = (Favours::default(), Favours::default());
        let mut held = Vec::new();
        for (a_serves, worth) in [(true, 100), (false, 30), (true, 80)] {
            let worth = span(worth);
            if a_serves {
                of_a.done(b, worth);
                of_b.received(A, worth);
            } else {
                of_b.done(A, worth);
                of_a.received(b, worth);
            }
            held.push((of_b.owed_to(A).nanos(), of_a.owed_to(b).nanos()));
        }
        assert_eq!(held, [(100, 0), (70, 30), (150, 0)], "what B holds for A, what A holds for B");
    }

    #[test]
    fn what_is_lent_is_turned_down_while_nothing_comes_back_and_up_again() {
        let mut favours = Favours::default();
        assert_eq!(favours.supply(32), 32);
        for _ in 0..SUPPLY_FAVOURS * 4 {
            favours.done(A, span(10));
        }
        assert_eq!(favours.supply(32), 24);
        for _ in 0..SUPPLY_FAVOURS * 100 {
            favours.done(A, span(10));
        }
        assert_eq!((favours.supply(32), favours.supply(0)), (1, 1));
        for _ in 0..SUPPLY_FAVOURS * 2 {
            favours.received(A, span(10));
        }
        assert_eq!(favours.supply(32), 4);
    }

    #[test]
    fn no_sum_overflows() {
        let mut favours = Favours::default();
        for _ in 0..3 {
            favours.received(A, span(u64::MAX));
        }
        assert_eq!(favours.owed_to(A).nanos(), u64::MAX);
    }
}
