//! The discovery service: which peers there are, which of them has a worker to lend, and who wants some.
//!
//! It asks one offering peer after another, in the order in which they registered, and tells who asked if there is none; for
//! whoever seeks the most powerful worker, it asks for one at a time, the peer with the most powerful offer first. **It
//! decides nothing**: to whom a worker goes is the lender's to say. What it knows of one that falls silent it forgets.

use super::letters::Word;
use gleaner_core::{Seek, Want};
use gleaner_units::{PartyId, TaskClassId};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Who wants, and for which tasks.
type Who = (PartyId, TaskClassId);

/// What a worker does in a second: in order, for keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) struct Power(u64);

impl Power {
    /// Below that of every worker.
    pub(super) const NONE: Self = Self(0);

    /// Positive numbers are in the order of their bits.
    pub(super) fn new(ops_per_s: f64) -> Self {
        Self(ops_per_s.max(0.0).to_bits())
    }
}

/// What a peer wants, and how far that is.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Wanting {
    /// Who has waited longest comes first.
    since: u64,
    /// As it said.
    missing: u32,
    /// As it said: loans that reached it.
    received: u64,
    /// As it said: which.
    seek: Seek,
    /// The power that a worker has to exceed; nothing where the first will do.
    above: Option<Power>,
    /// Who is next to be asked, where the first will do.
    next: PartyId,
    /// Who lent nothing to whoever seeks the most powerful, since it said what it wants.
    passed: BTreeSet<PartyId>,
    /// Who was asked and did not answer yet.
    asking: Option<PartyId>,
    /// Whether it was told that there is nothing.
    told: bool,
}

impl Wanting {
    /// Everybody is asked again.
    fn anew(&mut self) {
        (self.next, self.told) = (PartyId::FIRST, false);
        self.passed.clear();
    }

    fn is_served_by(&self, offered: Power) -> bool {
        self.above.is_none_or(|above| offered > above)
    }
}

/// All it knows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Discovery {
    /// The power of the best worker that each offers.
    offers: BTreeMap<PartyId, Power>,
    /// The same, most powerful first.
    by_power: BTreeSet<(Reverse<Power>, PartyId)>,
    wants: BTreeMap<Who, Wanting>,
    /// The same by who has waited longest.
    by_since: BTreeMap<u64, Who>,
    /// What was lent to each, as the lenders said.
    lent: BTreeMap<PartyId, u64>,
    /// The questions that each peer was sent and did not answer yet.
    asked: BTreeSet<(PartyId, Who)>,
    count: u64,
}

/// What it sends, and to whom.
pub(super) type Post<'a> = &'a mut dyn FnMut(PartyId, Word);

impl Discovery {
    pub(super) fn wants(
        &mut self,
        (by, class): Who,
        (missing, received): (u32, u64),
        (seek, above): (Seek, Option<Power>),
        post: Post<'_>,
    ) {
        let who = (by, class);
        if missing == 0 {
            self.forget(who);
            return;
        }
        let count = &mut self.count;
        let by_since = &mut self.by_since;
        let lent = &mut self.lent;
        let wanting = self.wants.entry(who).or_insert_with(|| {
            *count += 1;
            by_since.insert(*count, who);
            lent.insert(by, received);
            Wanting {
                since: *count,
                missing: 0,
                received: 0,
                seek,
                above,
                next: PartyId::FIRST,
                passed: BTreeSet::new(),
                asking: None,
                told: false,
            }
        });
        // Whoever seeks the most powerful waits for an answer each time.
        if missing > wanting.missing || seek != Seek::First {
            wanting.anew();
        }
        (wanting.missing, wanting.received) = (missing, received);
        (wanting.seek, wanting.above) = (seek, above);
        self.ask(who, post);
    }

    pub(super) fn offers(&mut self, from: PartyId, best: Option<Power>, post: Post<'_>) {
        self.forget_offer(from);
        let Some(best) = best else { return };
        self.offers.insert(from, best);
        self.by_power.insert((Reverse(best), from));
        let fits = |who: &&Who| {
            let wanting = &self.wants[*who];
            who.0 != from && wanting.asking.is_none() && wanting.is_served_by(best)
        };
        let waiting: Vec<Who> = self.by_since.values().filter(fits).copied().collect();
        let mut list = Vec::new();
        for who in waiting {
            if let Some(want) = self.want(who) {
                self.set_asking(who, from);
                list.push(want);
            }
        }
        if !list.is_empty() {
            post(from, Word::Wanted(list));
        }
    }

    fn forget_offer(&mut self, from: PartyId) {
        if let Some(power) = self.offers.remove(&from) {
            self.by_power.remove(&(Reverse(power), from));
        }
    }

    /// A peer answers what it was asked. Whoever says that it lent without being asked says nothing.
    pub(super) fn served(&mut self, from: PartyId, served: &[(PartyId, TaskClassId, u32)], post: Post<'_>) {
        for &(to, class, workers) in served {
            let who = (to, class);
            if !self.asked.remove(&(from, who)) {
                continue;
            }
            *self.lent.entry(to).or_default() += u64::from(workers);
            let Some(wanting) = self.wants.get_mut(&who).filter(|wanting| wanting.asking == Some(from))
            else {
                continue;
            };
            wanting.asking = None;
            if wanting.above.is_some() {
                wanting.passed.insert(from);
                if workers > 0 {
                    // What it offered is lent; what it has beside that it says.
                    wanting.passed.clear();
                    self.forget_offer(from);
                }
            }
            self.ask(who, post);
        }
    }

    /// A peer says that it is here: what did not reach it since it wrote last is not counted on, and whom it waits for in vain
    /// is passed over.
    pub(super) fn here(&mut self, peer: PartyId, post: Post<'_>) {
        let wanted: Vec<Who> = self.wants_of(peer).collect();
        for who in wanted {
            let wanting = self.wants.get_mut(&who).expect("it wants");
            self.lent.insert(peer, wanting.received);
            wanting.anew();
            if let Some(whom) = wanting.asking.take() {
                self.asked.remove(&(whom, who));
            }
            self.ask(who, post);
        }
    }

    fn wants_of(&self, peer: PartyId) -> impl Iterator<Item = Who> + '_ {
        self.wants
            .range((peer, TaskClassId::FIRST)..)
            .map(|(who, _)| *who)
            .take_while(move |who| who.0 == peer)
    }

    /// A peer was not heard of for too long.
    pub(super) fn forget_peer(&mut self, peer: PartyId, post: Post<'_>) {
        self.forget_offer(peer);
        let wanted: Vec<Who> = self.wants_of(peer).collect();
        for who in wanted {
            self.forget(who);
        }
        self.lent.remove(&peer);
        let asked = self.asked.range((peer, (PartyId::FIRST, TaskClassId::FIRST))..);
        let asked: Vec<_> = asked.take_while(|(whom, _)| *whom == peer).map(|(_, who)| *who).collect();
        let none: Vec<_> = asked.into_iter().map(|(to, class)| (to, class, 0)).collect();
        self.served(peer, &none, post);
    }

    fn forget(&mut self, who: Who) {
        if let Some(wanting) = self.wants.remove(&who) {
            self.by_since.remove(&wanting.since);
        }
    }

    /// What is missing beyond what was lent and is on its way; one at a time of the most powerful.
    fn want(&self, who: Who) -> Option<Want> {
        let wanting = self.wants.get(&who)?;
        let lent = self.lent.get(&who.0).copied().unwrap_or(0);
        let on_the_way = u32::try_from(lent.saturating_sub(wanting.received)).unwrap_or(u32::MAX);
        let missing = wanting.missing.saturating_sub(on_the_way);
        let workers = if wanting.above.is_some() { missing.min(1) } else { missing };
        (workers > 0).then_some(Want { by: who.0, class: who.1, workers, seek: wanting.seek })
    }

    fn set_asking(&mut self, who: Who, whom: PartyId) {
        let wanting = self.wants.get_mut(&who).expect("who wants something");
        wanting.asking = Some(whom);
        self.asked.insert((whom, who));
    }

    /// Whose turn it is. Costs O(log peers), and O(peers that were asked) for whoever seeks the most powerful.
    fn next_for(&self, who: Who, wanting: &Wanting) -> Option<PartyId> {
        if wanting.above.is_none() {
            return self.offers.range(wanting.next..).map(|(peer, _)| *peer).find(|peer| *peer != who.0);
        }
        let enough = self.by_power.iter().take_while(|(Reverse(power), _)| wanting.is_served_by(*power));
        let mut peers = enough.map(|(_, peer)| *peer);
        peers.find(|peer| *peer != who.0 && !wanting.passed.contains(peer))
    }

    /// Asks the next peer that offers.
    fn ask(&mut self, who: Who, post: Post<'_>) {
        let Some(wanting) = self.wants.get(&who).filter(|wanting| wanting.asking.is_none()) else { return };
        let Some(want) = self.want(who) else { return };
        if let Some(whom) = self.next_for(who, wanting) {
            self.wants.get_mut(&who).expect("it wants").next = PartyId::new(whom.index() + 1);
            self.set_asking(who, whom);
            post(whom, Word::Wanted(vec![want]));
        } else if !wanting.told {
            let seek = wanting.seek;
            self.wants.get_mut(&who).expect("it wants").told = true;
            post(who.0, Word::NothingLent { class: who.1, seek });
        }
    }
}
