//! Who may do what: users and join tokens, known by the hashes of their tokens only.

use gleaner_units::{MachineId, Time};
use gleaner_wire::api::{Quota, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct User {
    /// Unique.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When their token is of no use any more, if ever.
    pub expires: Option<Time>,
}

impl User {
    /// Whether their token is still good.
    pub fn is_let_in(&self, now: Time) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

/// Users by the hash of their token, and the join tokens that were issued.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct People {
    by_token: BTreeMap<String, User>,
    /// When each that was not used yet ends.
    join_tokens: BTreeMap<String, Time>,
    /// Which agent joined with each that was used.
    joined: BTreeMap<String, MachineId>,
    quotas: Quotas,
}

/// How much each user may have.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Quotas {
    everyone: Quota,
    of: BTreeMap<String, Quota>,
}

impl People {
    pub(super) fn add(&mut self, user: User, token: String) {
        self.remove(&user.name);
        self.by_token.insert(token, user);
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.by_token.retain(|_, user| user.name != name);
    }

    pub(super) fn issue(&mut self, token: String, expires: Time) {
        self.join_tokens.insert(token, expires);
    }

    pub(super) fn use_up(&mut self, token: String, agent: MachineId) {
        self.join_tokens.remove(&token);
        self.joined.insert(token, agent);
    }

    /// Whose token it is, or was. The hash is compared, so its time says nothing of the token.
    pub fn user(&self, token_hash: &str) -> Option<&User> {
        self.by_token.get(token_hash)
    }

    pub(super) fn set_quota(&mut self, user: Option<&str>, quota: Quota) {
        match user {
            Some(user) => drop(self.quotas.of.insert(user.to_owned(), quota)),
            None => self.quotas.everyone = quota,
        }
    }

    /// How much a user may have.
    pub fn quota(&self, user: &str) -> Quota {
        self.quotas.of.get(user).copied().unwrap_or(self.quotas.everyone)
    }

    /// How much everyone may have who has no quota of their own.
    pub fn usual_quota(&self) -> Quota {
        self.quotas.everyone
    }

    /// Whoever has a quota of their own.
    pub fn with_own_quota(&self) -> impl Iterator<Item = &String> {
        self.quotas.of.keys()
    }

    /// All users.
    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.by_token.values()
    }

    /// When each join token ends that is still good.
    pub fn join_tokens(&self, now: Time) -> impl Iterator<Item = Time> {
        self.join_tokens.values().copied().filter(move |&expires| now < expires)
    }

    /// Whether nobody can sign in yet.
    pub fn is_empty(&self) -> bool {
        self.by_token.is_empty()
    }

    /// Whether someone may still join with that token.
    pub fn may_join(&self, token_hash: &str, now: Time) -> bool {
        self.join_tokens.get(token_hash).is_some_and(|&expires| now < expires)
    }

    /// Who joined with that token.
    pub fn find_joined(&self, token_hash: &str) -> Option<MachineId> {
        self.joined.get(token_hash).copied()
    }
}
