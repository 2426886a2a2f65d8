//! How long the waiting tasks of each user are together, as far as it was declared.

use gleaner_units::{OpsTotal, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// By user; 0 for whom nothing waits any more, nothing for whom nothing ever did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeMap<UserId, OpsTotal>", into = "BTreeMap<UserId, OpsTotal>")]
pub(super) struct WaitingOps(Vec<Option<OpsTotal>>);

impl WaitingOps {
    pub(super) fn add(&mut self, user: UserId, ops: OpsTotal) {
        if self.0.len() <= user.index() {
            self.0.resize(user.index() + 1, None);
        }
        *self.0[user.index()].get_or_insert_default() += ops;
    }

    pub(super) fn take(&mut self, user: UserId, ops: OpsTotal) {
        if let Some(Some(sum)) = self.0.get_mut(user.index()) {
            *sum -= ops;
        }
    }

    pub(super) fn of(&self, user: UserId) -> OpsTotal {
        self.0.get(user.index()).copied().flatten().unwrap_or_default()
    }

    /// Of all users together. Costs O(users).
    pub(super) fn sum(&self) -> OpsTotal {
        self.0.iter().copied().flatten().sum()
    }

    /// Those of whom anything ever waited, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (UserId, OpsTotal)> + '_ {
        let by_user = self.0.iter().enumerate();
        by_user.filter_map(|(user, ops)| ops.map(|ops| (UserId::new(user), ops)))
    }
}

impl From<BTreeMap<UserId, OpsTotal>> for WaitingOps {
    fn from(by_user: BTreeMap<UserId, OpsTotal>) -> Self {
        let mut all = Self::default();
        for (user, ops) in by_user {
            all.add(user, ops);
        }
        all
    }
}

impl From<WaitingOps> for BTreeMap<UserId, OpsTotal> {
    fn from(all: WaitingOps) -> Self {
        all.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_units::Ops;

    /// Saved runs and snapshots have it as a map.
    #[test]
    fn it_is_stored_as_a_map() {
        let ops = |amount| OpsTotal::from(Ops::new(amount).expect("above 0"));
        let mut all = WaitingOps::default();
        for (user, amount) in [(3, 2.5), (1, 7.0), (3, 1.0)] {
            all.add(UserId::new(user), ops(amount));
        }
        all.take(UserId::new(1), ops(7.0));
        all.take(UserId::new(2), ops(1.0));
        let map = BTreeMap::from([(UserId::new(1), OpsTotal::ZERO), (UserId::new(3), ops(3.5))]);
        let text = serde_json::to_string(&all).expect("a map of numbers");
        assert_eq!(text, serde_json::to_string(&map).expect("a map of numbers"));
        let read: WaitingOps = serde_json::from_str(&text).expect("as it was written");
        assert!(read.iter().eq(map) && read.sum() == all.sum());
        assert_eq!((read.of(UserId::new(0)), read.of(UserId::new(3))), (OpsTotal::ZERO, ops(3.5)));
    }
}
