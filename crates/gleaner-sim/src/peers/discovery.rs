//! The discovery service: which peers there are, which of them has a worker to lend, and who wants some.
//!
//! It asks one offering peer after another, in the order in which they registered, and tells who asked if there is none. **It
//! decides nothing**: to whom a worker goes is the lender's to say. What it knows of one that falls silent it forgets.

use super::letters::Word;
use gleaner_core::Want;
use gleaner_units::{PartyId, TaskClassId};
use std::collections::{BTreeMap, BTreeSet};

/// Who wants, and for which tasks.
type Who = (PartyId, TaskClassId);

/// What a peer wants, and how far that is.
#[derive(Clone, Debug)]
struct Wanting {
    /// Who has waited longest comes first.
    since: u64,
    /// As it said.
    missing: u32,
    /// As it said: loans that reached it.
    received: u64,
    /// Who is next to be asked.
    next: PartyId,
    /// Who was asked and did not answer yet.
    asking: Option<PartyId>,
    /// Whether it was told that there is nothing.
    told: bool,
}

/// All it knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovery {
    offers: BTreeSet<PartyId>,
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
    pub(super) fn wants(&mut self, (by, class): Who, (missing, received): (u32, u64), post: Post<'_>) {
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
                next: PartyId::FIRST,
                asking: None,
                told: false,
            }
        });
        if missing > wanting.missing {
            (wanting.next, wanting.told) = (PartyId::FIRST, false);
        }
        (wanting.missing, wanting.received) = (missing, received);
        self.ask(who, post);
    }

    pub(super) fn offers(&mut self, from: PartyId, any: bool, post: Post<'_>) {
        if !any {
            self.offers.remove(&from);
            return;
        }
        self.offers.insert(from);
        let unasked = |who: &&Who| who.0 != from && self.wants[*who].asking.is_none();
        let waiting: Vec<Who> = self.by_since.values().filter(unasked).copied().collect();
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

    /// A peer answers what it was asked. Whoever says that it lent without being asked says nothing.
    pub(super) fn served(&mut self, from: PartyId, served: &[(PartyId, TaskClassId, u32)], post: Post<'_>) {
        for &(to, class, workers) in served {
            let who = (to, class);
            if !self.asked.remove(&(from, who)) {
                continue;
            }
            *self.lent.entry(to).or_default() += u64::from(workers);
            if let Some(wanting) = self.wants.get_mut(&who).filter(|wanting| wanting.asking == Some(from)) {
                wanting.asking = None;
                self.ask(who, post);
            }
        }
    }

    /// A peer says that it is here: what did not reach it since it wrote last is not counted on, and whom it waits for in vain
    /// is passed over.
    pub(super) fn here(&mut self, peer: PartyId, post: Post<'_>) {
        let wanted: Vec<Who> = self.wants_of(peer).collect();
        for who in wanted {
            let wanting = self.wants.get_mut(&who).expect("it wants");
            self.lent.insert(peer, wanting.received);
            (wanting.told, wanting.next) = (false, PartyId::FIRST);
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
        self.offers.remove(&peer);
        let wanted: Vec<Who> = self.wants_of(peer).collect();
        wanted.into_iter().for_each(|who| self.forget(who));
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

    /// What is missing beyond what was lent and is on its way.
    fn want(&self, who: Who) -> Option<Want> {
        let wanting = self.wants.get(&who)?;
        let lent = self.lent.get(&who.0).copied().unwrap_or(0);
        let on_the_way = u32::try_from(lent.saturating_sub(wanting.received)).unwrap_or(u32::MAX);
        let workers = wanting.missing.saturating_sub(on_the_way);
        (workers > 0).then_some(Want { by: who.0, class: who.1, workers })
    }

    fn set_asking(&mut self, who: Who, whom: PartyId) {
        let wanting = self.wants.get_mut(&who).expect("who wants something");
        wanting.asking = Some(whom);
        self.asked.insert((whom, who));
    }

    /// Asks the next peer that offers. Costs O(log peers).
    fn ask(&mut self, who: Who, post: Post<'_>) {
        let Some(wanting) = self.wants.get(&who).filter(|wanting| wanting.asking.is_none()) else { return };
        let Some(want) = self.want(who) else { return };
        let next = self.offers.range(wanting.next..).find(|peer| **peer != who.0).copied();
        if let Some(whom) = next {
            self.wants.get_mut(&who).expect("it wants").next = PartyId::new(whom.index() + 1);
            self.set_asking(who, whom);
            post(whom, Word::Wanted(vec![want]));
        } else if !wanting.told {
            self.wants.get_mut(&who).expect("it wants").told = true;
            post(who.0, Word::NothingLent);
        }
    }
}
