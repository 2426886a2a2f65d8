//! Who is let in, and may do what, before and after a journal is put back to an older state.
//!
//! **A removal or a revocation that is lost is access that comes back**, so whoever restores has to see it.

use crate::ledger::{Agent, Ledger};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// So many names are given of each list.
const NAMES_MAX: usize = 100;

/// Names, the first ones only where there are many.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Names {
    /// How many there are.
    pub count: usize,
    /// The first of them.
    pub names: Vec<String>,
}

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut these = Self::default();
        for name in names {
            these.count += 1;
            if these.names.len() < NAMES_MAX {
                these.names.push(name);
            }
        }
        these
    }
}

/// What changes for users, tokens and machines if an older state takes the place of the present one.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Access {
    /// Users that were removed since: they and their tokens are known again.
    pub users_back: Names,
    /// Users that were added since: nobody knows them any more.
    pub users_gone: Names,
    /// Users whose token was replaced since: the token of then counts again, and the present one does not.
    pub tokens_replaced: Names,
    /// Users who may do something else since, each with the role that they have and the one that they get again.
    pub roles: Names,
    /// Users with another quota since, and `everyone` where what holds for all others is another.
    pub quotas: Names,
    /// Join tokens that were removed, used up or used since, and are good for more machines again.
    pub join_tokens_back: usize,
    /// Join tokens that were issued since: no machine can join with them any more.
    pub join_tokens_gone: usize,
    /// Machines that were revoked or forgotten since: they are let in again.
    pub machines_back: Names,
    /// Machines with another price or owner since, or that were closed or paused by order, or opened again.
    pub machine_orders: Names,
    /// Whether the policy, or its budget, is another since.
    pub policy: bool,
}

/// What changes for users, tokens and machines if `then` takes the place of `now`. A token that has expired is good in neither.
pub fn changed_access(now: &Ledger, then: &Ledger) -> Access {
    let (present, past) = (tokens(now), tokens(then));
    let in_both = present.iter().filter_map(|(&name, is)| Some((name, *is, *past.get(name)?)));
    let in_both: Vec<_> = in_both.collect();
    let [permits, old_permits] = [now, then].map(|ledger| {
        let permits = ledger.people().join_tokens(now.now());
        permits.map(|(token, permit)| (token.as_str(), permit.uses)).collect::<BTreeMap<_, _>>()
    });
    let let_in = keys(now);
    let is_back = |agent: &&Agent| !let_in.contains(agent.key.as_str());
    let orders = |agent: &Agent| {
        (agent.price.to_bits(), agent.owner.clone(), agent.closed_by_order, agent.paused_by.is_some())
    };
    let known: BTreeMap<&str, &Agent> = listed(now).map(|agent| (agent.key.as_str(), agent)).collect();
    let is_ordered_otherwise =
        |agent: &&Agent| known.get(agent.key.as_str()).is_some_and(|&known| orders(known) != orders(agent));
    Access {
        users_back: without(&past, &present),
        users_gone: without(&present, &past),
        tokens_replaced: {
            let replaced = in_both.iter().filter(|(_, is, was)| is.token != was.token);
            replaced.map(|&(name, ..)| name.to_owned()).collect()
        },
        roles: {
            let other = in_both.iter().filter(|(_, is, was)| is.role != was.role);
            other.map(|(name, is, was)| format!("{name} ({} now, {} then)", is.role, was.role)).collect()
        },
        quotas: quotas(now, then),
        join_tokens_back: more(&old_permits, &permits),
        join_tokens_gone: permits.keys().filter(|token| !old_permits.contains_key(*token)).count(),
        machines_back: listed(then).filter(is_back).map(|agent| agent.name.clone()).collect(),
        machine_orders: listed(then).filter(is_ordered_otherwise).map(|agent| agent.name.clone()).collect(),
        policy: now.policy() != then.policy(),
    }
}

#[derive(Clone, Copy)]
struct SignIn<'a> {
    /// The hash of a user's token.
    token: &'a str,
    role: &'static str,
}

/// How each user signs in, by name.
fn tokens(ledger: &Ledger) -> BTreeMap<&str, SignIn<'_>> {
    let tokens = ledger.people().tokens();
    tokens.map(|(token, user)| (user.name.as_str(), SignIn { token, role: user.role.name() })).collect()
}

fn without(these: &BTreeMap<&str, SignIn<'_>>, others: &BTreeMap<&str, SignIn<'_>>) -> Names {
    these.keys().filter(|name| !others.contains_key(*name)).map(|name| (*name).to_owned()).collect()
}

fn quotas(now: &Ledger, then: &Ledger) -> Names {
    let (is, was) = (now.people(), then.people());
    let named: BTreeSet<&String> = is.with_own_quota().chain(was.with_own_quota()).collect();
    let others = named.into_iter().filter(|user| is.quota(user) != was.quota(user)).cloned();
    let everyone = (is.usual_quota() != was.usual_quota()).then(|| "everyone".to_owned());
    everyone.into_iter().chain(others).collect()
}

/// How many of these tokens are good for more machines than they are among the others.
fn more(these: &BTreeMap<&str, u32>, others: &BTreeMap<&str, u32>) -> usize {
    these.iter().filter(|(token, uses)| others.get(*token).is_none_or(|left| left < *uses)).count()
}

/// Those that are let in.
fn listed(ledger: &Ledger) -> impl Iterator<Item = &Agent> {
    ledger.agents().iter().filter(|agent| !agent.revoked)
}

/// The keys with which agents are let in.
pub(super) fn keys(ledger: &Ledger) -> BTreeSet<&str> {
    listed(ledger).map(|agent| agent.key.as_str()).collect()
}
