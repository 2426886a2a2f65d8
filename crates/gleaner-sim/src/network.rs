//! Transfers of data over links that they share.
//!
//! A transfer takes a route, a set of links, at one rate; the rates are max-min fair: no transfer can have more without
//! taking from one that has as little or less. What changes, changes the rates of the transfers that share a link with it,
//! directly or through others, and of no others.
//!
//! # Invariants
//! - **No link carries more than it can**, and every transfer has a link that is full (progressive filling ends so).
//! - **A transfer that nothing disturbs ends at the exact moment** at which its bytes are through; what is left is brought
//!   up to date only when its rate changes.
//!
//! # Costs
//! A start or an end costs, in its component, O(transfers × links of their routes × log transfers) and O(full links × links of the
//! component), and a byte for each link of the network; O(log transfers) for the next end.

use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Something that carries so many bytes a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LinkId(u32);

/// One movement of data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TransferId(u64);

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Transfer {
    route: Vec<LinkId>,
    bytes_left: f64,
    /// Bytes a second.
    rate: f64,
    /// When `bytes_left` was so.
    since: Time,
    ends: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Link {
    bytes_per_s: f64,
    carries: BTreeSet<TransferId>,
}

/// A link while rates are worked out.
struct Filling {
    /// What nobody has yet.
    free: f64,
    /// How many have no rate yet.
    count: usize,
    /// Places of all that it carries, in order.
    transfers: Vec<usize>,
}

/// How transfers that meet on a link divide it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Division {
    /// Max-min fairly.
    #[default]
    Fair,
    /// Each has the whole of it, as if it were alone there.
    Unshared,
}

/// Links, and what is on its way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Network {
    division: Division,
    links: Vec<Link>,
    transfers: BTreeMap<TransferId, Transfer>,
    ends: BTreeSet<(Time, TransferId)>,
    started: u64,
}

impl Network {
    /// No links.
    pub fn new(division: Division) -> Self {
        Self { division, ..Self::default() }
    }

    /// Adds a link.
    ///
    /// # Panics
    /// If it carries nothing.
    pub fn add_link(&mut self, bytes_per_s: f64) -> LinkId {
        assert!(bytes_per_s > 0.0, "a link that carries {bytes_per_s} bytes a second");
        let id = LinkId(u32::try_from(self.links.len()).expect("fewer than 2^32 links"));
        self.links.push(Link { bytes_per_s, carries: BTreeSet::new() });
        id
    }

    /// What a transfer alone on this route has, in bytes a second; infinitely much without a link.
    pub fn capacity(&self, route: &[LinkId]) -> f64 {
        route.iter().map(|link| self.links[link.0 as usize].bytes_per_s).fold(f64::INFINITY, f64::min)
    }

    /// What one more transfer on this route would have if each of its links were divided evenly: a look, for estimates.
    pub fn share(&self, route: &[LinkId]) -> f64 {
        let share = |link: &LinkId| {
            let Link { bytes_per_s, carries } = &self.links[link.0 as usize];
            bytes_per_s / (carries.len() + 1) as f64
        };
        match self.division {
            Division::Fair => route.iter().map(share).fold(f64::INFINITY, f64::min),
            Division::Unshared => self.capacity(route),
        }
    }

    /// How many transfers are on their way.
    pub fn len(&self) -> usize {
        self.transfers.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty()
    }

    /// Starts to send so many bytes. Without a link, or without bytes, they are there at once.
    pub fn start(&mut self, now: Time, route: &[LinkId], bytes: f64) -> TransferId {
        let id = TransferId(self.started);
        self.started += 1;
        let mut route = route.to_vec();
        route.sort_unstable();
        route.dedup();
        for link in &route {
            self.links[link.0 as usize].carries.insert(id);
        }
        let transfer = Transfer { route, bytes_left: bytes, rate: 0.0, since: now, ends: Time::NEVER };
        self.transfers.insert(id, transfer);
        self.ends.insert((Time::NEVER, id));
        let rates = self.rates(&self.around(id));
        self.set_rates(now, &rates);
        id
    }

    /// The next transfer to end, if nothing changes before.
    pub fn next(&self) -> Option<(Time, TransferId)> {
        self.ends.first().copied()
    }

    /// A transfer has come to its end.
    ///
    /// # Panics
    /// If it is not the next one, at that time.
    pub fn end(&mut self, now: Time, id: TransferId) {
        assert_eq!(self.next(), Some((now, id)), "not the next transfer to end");
        self.remove(now, id);
    }

    /// Breaks a transfer off; what it has not brought yet is returned.
    ///
    /// # Panics
    /// If there is no such transfer.
    pub fn cancel(&mut self, now: Time, id: TransferId) -> f64 {
        self.remove(now, id)
    }

    fn remove(&mut self, now: Time, id: TransferId) -> f64 {
        let mut others = self.around(id);
        others.retain(|(other, _)| *other != id);
        let rates = self.rates(&others);
        let transfer = self.transfers.remove(&id).expect("a transfer that is on its way");
        self.ends.remove(&(transfer.ends, id));
        for link in &transfer.route {
            self.links[link.0 as usize].carries.remove(&id);
        }
        self.set_rates(now, &rates);
        transfer.left_at(now)
    }

    /// The transfers whose rates depend on each other's, with this one among them, in order.
    fn around(&self, id: TransferId) -> Vec<(TransferId, &Transfer)> {
        let transfer = &self.transfers[&id];
        let mut found = vec![(id, transfer)];
        if self.division == Division::Unshared {
            return found;
        }
        let mut is_seen = vec![false; self.links.len()];
        let mut unseen = Vec::new();
        let mut see = |route: &[LinkId], unseen: &mut Vec<LinkId>| {
            unseen
                .extend(route.iter().filter(|link| !std::mem::replace(&mut is_seen[link.0 as usize], true)));
        };
        see(&transfer.route, &mut unseen);
        while let Some(link) = unseen.pop() {
            for other in &self.links[link.0 as usize].carries {
                let transfer = &self.transfers[other];
                found.push((*other, transfer));
                see(&transfer.route, &mut unseen);
            }
        }
        // Each was found once for each of its links.
        found.sort_unstable_by_key(|(id, _)| *id);
        found.dedup_by_key(|(id, _)| *id);
        found
    }

    /// What each of some transfers gets that share links with no others, by progressive filling; only those that had another rate.
    fn rates(&self, transfers: &[(TransferId, &Transfer)]) -> Vec<(TransferId, f64)> {
        let rates = match self.division {
            Division::Fair => self.fair_rates(transfers),
            Division::Unshared => {
                transfers.iter().map(|(_, transfer)| self.capacity(&transfer.route)).collect()
            }
        };
        let rates = transfers.iter().zip(rates);
        let changed = rates.filter(|((_, transfer), rate)| !transfer.goes_on_at(*rate));
        changed.map(|((id, _), rate)| (*id, rate)).collect()
    }

    fn fair_rates(&self, transfers: &[(TransferId, &Transfer)]) -> Vec<f64> {
        let numbers = links_of(transfers);
        let filling = |link: &LinkId| {
            let free = self.links[link.0 as usize].bytes_per_s;
            Filling { free, count: 0, transfers: Vec::new() }
        };
        let mut links: Vec<Filling> = numbers.iter().map(filling).collect();
        let place_of = |link: &LinkId| numbers.binary_search(link).expect("a link of one of these");
        let routes: Vec<Vec<usize>> =
            transfers.iter().map(|(_, transfer)| transfer.route.iter().map(place_of).collect()).collect();
        for (place, route) in routes.iter().enumerate() {
            for &link in route {
                links[link].count += 1;
                links[link].transfers.push(place);
            }
        }
        let mut rates = vec![None; transfers.len()];
        let mut open: Vec<usize> = (0..links.len()).collect();
        loop {
            open.retain(|link| links[*link].count > 0);
            // The link that leaves its transfers the least; the lowest of several.
            let shares = open.iter().map(|link| (links[*link].free / links[*link].count as f64, *link));
            let Some((rate, tightest)) = shares.min_by(|one, other| one.0.total_cmp(&other.0)) else {
                // What is left takes no link.
                return rates.into_iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect();
            };
            for place in std::mem::take(&mut links[tightest].transfers) {
                if rates[place].is_some() {
                    continue;
                }
                rates[place] = Some(rate);
                for &link in &routes[place] {
                    let link = &mut links[link];
                    link.free = (link.free - rate).max(0.0);
                    link.count -= 1;
                }
            }
        }
    }

    fn set_rates(&mut self, now: Time, rates: &[(TransferId, f64)]) {
        for (id, rate) in rates {
            self.set_rate(now, *id, *rate);
        }
    }

    fn set_rate(&mut self, now: Time, id: TransferId, rate: f64) {
        let transfer = self.transfers.get_mut(&id).expect("a transfer that is on its way");
        transfer.bytes_left = transfer.left_at(now);
        (transfer.rate, transfer.since) = (rate, now);
        let before = transfer.ends;
        transfer.ends = now.after_seconds(transfer.bytes_left / rate);
        self.ends.remove(&(before, id));
        self.ends.insert((transfer.ends, id));
    }

    /// Asserts that every index is what it would be if derived afresh, and every rate fair. Costs O(transfers × links).
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub fn check(&self) {
        for (index, link) in self.links.iter().enumerate() {
            let carries = self.transfers.iter().filter(|(_, transfer)| {
                transfer.route.contains(&LinkId(u32::try_from(index).expect("few links")))
            });
            assert_eq!(link.carries, carries.map(|(id, _)| *id).collect(), "link {index} carries others");
            let load: f64 = link.carries.iter().map(|id| self.transfers[id].rate).sum();
            let is_fair = self.division == Division::Unshared || load <= link.bytes_per_s * (1.0 + 1e-9);
            assert!(is_fair, "link {index} carries {load} of {}", link.bytes_per_s);
        }
        let ends = self.transfers.iter().map(|(id, transfer)| (transfer.ends, *id)).collect();
        assert_eq!(self.ends, ends, "the order of ends is another");
    }
}

/// The links that any of some transfers takes, in order: a network may have many more.
fn links_of(transfers: &[(TransferId, &Transfer)]) -> Vec<LinkId> {
    let links = transfers.iter().flat_map(|(_, transfer)| transfer.route.iter().copied());
    let mut links: Vec<LinkId> = links.collect();
    links.sort_unstable();
    links.dedup();
    links
}

impl Transfer {
    fn goes_on_at(&self, rate: f64) -> bool {
        self.rate == rate && self.ends != Time::NEVER
    }

    fn left_at(&self, now: Time) -> f64 {
        let sent =
            if self.rate.is_finite() { self.rate * now.since(self.since).seconds() } else { f64::INFINITY };
        let left = if self.rate == 0.0 { self.bytes_left } else { self.bytes_left - sent };
        left.max(0.0)
    }
}

#[cfg(test)]
mod tests;
