//! Who may do what: users and join tokens, known by the hashes of their tokens only.

use gleaner_units::{MachineId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A user.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct User {
    /// Unique.
    pub name: String,
    /// Whether they may act on what is not their own, and on machines, users and the policy.
    pub admin: bool,
}

/// Users by the hash of their token, and the join tokens that were issued.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct People {
    by_token: BTreeMap<String, User>,
    /// When each that was not used yet ends.
    join_tokens: BTreeMap<String, Time>,
    /// Which agent joined with each that was used.
    joined: BTreeMap<String, MachineId>,
}

impl People {
    pub(super) fn add(&mut self, user: User, token: String) {
        self.by_token.retain(|_, other| other.name != user.name);
        self.by_token.insert(token, user);
    }

    pub(super) fn issue(&mut self, token: String, expires: Time) {
        self.join_tokens.insert(token, expires);
    }

    pub(super) fn use_up(&mut self, token: String, agent: MachineId) {
        self.join_tokens.remove(&token);
        self.joined.insert(token, agent);
    }

    /// Whose token it is. The hash is compared, so its time says nothing of the token.
    pub fn user(&self, token_hash: &str) -> Option<&User> {
        self.by_token.get(token_hash)
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
