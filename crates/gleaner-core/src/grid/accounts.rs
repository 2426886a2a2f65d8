//! The accounts of a budget: one for all, or one for each user.
//!
//! **Each account by itself keeps what [`Account`] promises**: whoever pays for a task, nobody else's tasks can spend it.
//! A user who has spent nothing yet has a whole recharge, and no account of their own is kept for that.

use super::Scope;
use super::account::{Account, Budget};
use gleaner_units::{Credits, TaskId, Time, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A budget and what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accounts {
    /// Nothing was ever spent of it: whose account is not among `used` has one like this.
    unused: Account,
    /// By payer; with a shared budget all pay from the first.
    used: BTreeMap<UserId, Account>,
}

impl Accounts {
    pub(super) fn new(budget: Budget) -> Self {
        Self { unused: Account::new(budget), used: BTreeMap::new() }
    }

    /// How much may be spent from each.
    pub fn budget(&self) -> Budget {
        self.unused.budget()
    }

    /// The account that pays for a user's tasks.
    #[inline]
    pub fn of(&self, payer: UserId) -> &Account {
        self.used.get(&self.key(payer)).unwrap_or(&self.unused)
    }

    /// Those that anything was ever spent or planned from, by payer.
    pub fn used(&self) -> impl Iterator<Item = (UserId, &Account)> {
        self.used.iter().map(|(&payer, account)| (payer, account))
    }

    /// What is spent from all of them in the period that `now` is in.
    pub fn spent(&self, now: Time) -> Credits {
        self.used.values().map(|account| account.spent(now)).sum()
    }

    /// What may still be spent in that period from the one there is, or by so many users together: all from whose accounts
    /// anything was ever spent or planned, and others.
    pub fn left(&self, now: Time, users: usize) -> Credits {
        match self.budget().scope {
            Scope::Shared => self.of(UserId::default()).left(now),
            Scope::PerUser => {
                let unused = std::iter::repeat_n(&self.unused, users.saturating_sub(self.used.len()));
                self.used.values().chain(unused).map(|account| account.left(now)).sum()
            }
        }
    }

    /// What was spent ever from all of them, less all that was given back.
    pub fn paid(&self) -> Credits {
        self.used.values().map(Account::paid).sum()
    }

    /// Whether each has its whole recharge in the period that `now` is in.
    pub fn is_untouched(&self, now: Time) -> bool {
        self.used.values().all(|account| account.left(now) == self.budget().recharge)
    }

    /// Other accounts of other people begin anew; the same ones go on.
    pub(super) fn set_budget(&mut self, now: Time, budget: Budget) {
        if budget.scope != self.budget().scope {
            *self = Self::new(budget);
            return;
        }
        self.unused = Account::new(budget);
        self.used.values_mut().for_each(|account| account.set_budget(now, budget));
    }

    /// The account that pays for a user's tasks, to be written.
    pub(super) fn of_mut(&mut self, payer: UserId) -> &mut Account {
        let Self { unused, used } = self;
        used.entry(key(unused.budget(), payer)).or_insert_with(|| unused.clone())
    }

    /// Under which name a user's account is kept; with a shared budget the same for all.
    #[inline]
    pub fn key(&self, payer: UserId) -> UserId {
        key(self.budget(), payer)
    }

    /// Whether the sums of each are those of its bills, and each bill is one that `pays` from there.
    pub(super) fn is_whole(&self, pays: impl Fn(UserId, TaskId) -> bool) -> bool {
        self.used.iter().all(|(&payer, account)| {
            account.is_whole()
                && account.budget() == self.budget()
                && account.billed().all(|task| pays(payer, task))
        })
    }
}

fn key(budget: Budget, payer: UserId) -> UserId {
    match budget.scope {
        Scope::Shared => UserId::default(),
        Scope::PerUser => payer,
    }
}
