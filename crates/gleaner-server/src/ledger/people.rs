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
    /// Those that were not used up yet.
    join_tokens: BTreeMap<String, JoinPermit>,
    /// Which agents joined with each that was used.
    joined: BTreeMap<String, Vec<MachineId>>,
    quotas: Quotas,
}

/// What a join token is good for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JoinPermit {
    /// When it is of no use any more.
    pub expires: Time,
    /// How many may still join.
    pub uses: u32,
    /// Whose machines they are, where somebody said so.
    pub owner: Option<String>,
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

    /// Those that expired are forgotten: nobody has joined with one since, and nobody will.
    pub(super) fn issue(&mut self, at: Time, token: String, permit: JoinPermit) {
        self.join_tokens.retain(|_, permit| at < permit.expires);
        self.join_tokens.insert(token, permit);
    }

    pub(super) fn withdraw(&mut self, token: &str) {
        self.join_tokens.remove(token);
    }

    /// Whose the machine is.
    pub(super) fn joins(&mut self, token: String, agent: MachineId) -> Option<String> {
        let mut owner = None;
        if let Some(permit) = self.join_tokens.get_mut(&token) {
            owner.clone_from(&permit.owner);
            permit.uses -= 1;
            if permit.uses == 0 {
                self.withdraw(&token);
            }
        }
        self.joined.entry(token).or_default().push(agent);
        owner
    }

    /// Nothing is known any more of the joining of these.
    pub(super) fn leave_out(&mut self, is_gone: impl Fn(MachineId) -> bool) {
        self.joined.retain(|_, agents| {
            agents.retain(|&agent| !is_gone(agent));
            !agents.is_empty()
        });
    }

    /// Whose token it is, or was. The hash is compared, so its time says nothing of the token.
    pub fn user(&self, token_hash: &str) -> Option<&User> {
        self.by_token.get(token_hash)
    }

    /// None for a user takes their own back.
    pub(super) fn set_quota(&mut self, user: Option<&str>, quota: Option<Quota>) {
        match (user, quota) {
            (Some(user), Some(quota)) => drop(self.quotas.of.insert(user.to_owned(), quota)),
            (Some(user), None) => drop(self.quotas.of.remove(user)),
            (None, quota) => self.quotas.everyone = quota.unwrap_or_default(),
        }
    }

    /// How much a user may have.
    pub fn quota(&self, user: &str) -> Quota {
        self.quotas.of.get(user).copied().unwrap_or(self.quotas.everyone)
    }

    /// Whether a user has a quota of their own.
    pub(super) fn has_own_quota(&self, user: &str) -> bool {
        self.quotas.of.contains_key(user)
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

    /// The hash of each user's token, and whose it is.
    pub fn tokens(&self) -> impl Iterator<Item = (&String, &User)> {
        self.by_token.iter()
    }

    /// The hash of each join token that is still good, and what it is good for.
    pub fn join_tokens(&self, now: Time) -> impl Iterator<Item = (&String, &JoinPermit)> {
        let permits = self.join_tokens.iter();
        permits.filter(move |(_, permit)| now < permit.expires)
    }

    /// Whether nobody can sign in yet.
    pub fn is_empty(&self) -> bool {
        self.by_token.is_empty()
    }

    /// Whether someone may still join with that token.
    pub fn may_join(&self, token_hash: &str, now: Time) -> bool {
        self.join_tokens.get(token_hash).is_some_and(|permit| now < permit.expires)
    }

    /// Who joined with that token.
    pub fn joined(&self, token_hash: &str) -> &[MachineId] {
        self.joined.get(token_hash).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_that_expired_are_forgotten_when_another_is_recorded() {
        let (mut people, at) = (People::default(), |seconds: u64| Time::from_nanos(seconds * 1_000_000_000));
        for second in 0..100 {
            let permit = JoinPermit { expires: at(second + 10), uses: 1, owner: Some("ada".to_owned()) };
            people.issue(at(second), second.to_string(), permit);
            assert_eq!(people.join_tokens.len() as u64, (second + 1).min(10));
        }
        assert_eq!(
            people.joins("90".to_owned(), MachineId::new(0)),
            Some("ada".to_owned()),
            "it is still good"
        );
    }
}
