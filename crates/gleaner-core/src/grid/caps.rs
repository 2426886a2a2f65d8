//! How many cores each user's runs may take at a time. Tasks of a user who has all of theirs wait, and nobody behind them does.

use gleaner_units::UserId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The bounds, and what is taken.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Caps {
    /// Whoever has none of their own has this one.
    usual: u32,
    own: BTreeMap<UserId, u32>,
    /// By user: cores that their runs take, those that are to stop among them.
    taken: Vec<u64>,
}

impl Default for Caps {
    fn default() -> Self {
        Self { usual: u32::MAX, own: BTreeMap::new(), taken: Vec::new() }
    }
}

impl Caps {
    pub(super) fn set(&mut self, user: Option<UserId>, cores: Option<u32>) {
        match (user, cores) {
            (Some(user), Some(cores)) => drop(self.own.insert(user, cores)),
            (Some(user), None) => drop(self.own.remove(&user)),
            (None, cores) => self.usual = cores.unwrap_or(u32::MAX),
        }
    }

    /// Whether there is a bound for anybody.
    pub(super) fn any(&self) -> bool {
        self.usual < u32::MAX || !self.own.is_empty()
    }

    pub(super) fn of(&self, user: UserId) -> u32 {
        self.own.get(&user).copied().unwrap_or(self.usual)
    }

    #[inline]
    pub(super) fn taken(&self, user: UserId) -> u64 {
        self.taken.get(user.index()).copied().unwrap_or(0)
    }

    pub(super) fn holds(&self, user: UserId, cores: u32) -> bool {
        self.taken(user) + u64::from(cores) <= u64::from(self.of(user))
    }

    pub(super) fn take(&mut self, user: UserId, cores: u32) {
        if self.taken.len() <= user.index() {
            self.taken.resize(user.index() + 1, 0);
        }
        self.taken[user.index()] += u64::from(cores);
    }

    pub(super) fn free(&mut self, user: UserId, cores: u32) {
        self.taken[user.index()] -= u64::from(cores);
    }

    /// Whether so many are taken by each user.
    pub(super) fn is_taken(&self, expected: &BTreeMap<UserId, u64>) -> bool {
        let taken = self.taken.iter().enumerate().filter(|(_, cores)| **cores > 0);
        taken
            .map(|(user, &cores)| (UserId::new(user), cores))
            .eq(expected.iter().map(|(&user, &cores)| (user, cores)))
    }
}
