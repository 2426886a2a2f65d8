//! How many cores each user's runs may take at a time. Tasks of a user who has all of theirs wait, and nobody behind them does.

use super::{Grid, Part};
use crate::{Cause, Refusal};
use gleaner_units::{TaskClassId, TaskId, UserId};
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
    pub(super) fn set(&mut self, user: Option<UserId>, cores: u32) {
        match user {
            Some(user) => drop(self.own.insert(user, cores)),
            None => self.usual = cores,
        }
    }

    fn of(&self, user: UserId) -> u32 {
        self.own.get(&user).copied().unwrap_or(self.usual)
    }

    #[inline]
    fn taken(&self, user: UserId) -> u64 {
        self.taken.get(user.index()).copied().unwrap_or(0)
    }

    fn holds(&self, user: UserId, cores: u32) -> bool {
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

impl Grid {
    /// How many cores the runs of a class's user take, and how many they may.
    pub fn cores_of_user(&self, class: TaskClassId) -> (u64, u32) {
        let user = self.classes.task_class(class).payer;
        (self.caps.taken(user), self.caps.of(user))
    }

    /// How many cores a user's runs take.
    pub fn cores_taken(&self, user: UserId) -> u64 {
        self.caps.taken(user)
    }

    /// Whether a task of the class has to wait until other runs of its user end.
    #[inline]
    pub fn is_capped(&self, class: TaskClassId) -> bool {
        let class = self.classes.task_class(class);
        !self.caps.holds(class.payer, class.needs.cores)
    }

    pub(super) fn check_cap(&self, task: TaskId) -> Result<(), Refusal> {
        let class = self.task(task).class;
        if self.is_capped(class) {
            let (taken, most) = self.cores_of_user(class);
            return Err(Refusal::CoresOfUser { task, taken, most });
        }
        Ok(())
    }

    pub(super) fn cores_capped(&mut self, user: Option<UserId>, cores: u32) {
        self.caps.set(user, cores);
        if self.has_waiting() {
            self.ask(Cause::RuleChanged);
        }
    }

    /// Cores of a user are free again. If that is what tasks of theirs waited for, they may start anywhere, not only where
    /// these cores are. Costs O(classes that wait) where the user has a bound that was met.
    pub(super) fn free_cores(&mut self, class: TaskClassId, part: Part) {
        let user = self.classes.task_class(class).payer;
        let waited = self.caps.of(user) != u32::MAX
            && self
                .waiting
                .first_of_each()
                .any(|(class, _)| self.classes.task_class(class).payer == user && self.is_capped(class));
        self.caps.free(user, part.cores);
        if waited {
            self.ask(Cause::RuleChanged);
        }
    }
}
