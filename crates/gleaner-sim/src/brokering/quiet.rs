//! Counts refreshes of the index since anything else happened. When only refreshes are left, the run ends as soon as the top of
//! the index knows everything and each broker has had its turn.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Quiet {
    /// How often all parts were refreshed.
    rounds: usize,
    /// Those of the round that is not over.
    refreshed: BTreeSet<usize>,
}

impl Quiet {
    /// One of so many parts took in what is below it.
    pub(super) fn refreshed(&mut self, part: usize, parts: usize) {
        self.refreshed.insert(part);
        if self.refreshed.len() == parts {
            self.rounds += 1;
            self.refreshed.clear();
        }
    }

    /// Whether all that is known has reached the top of so many levels: with each round it comes up one at least.
    pub(super) fn is_everything_known(&self, levels: usize) -> bool {
        self.rounds > levels + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_refreshed_often_says_nothing_of_the_others() {
        let mut quiet = Quiet::default();
        for _ in 0..100 {
            quiet.refreshed(0, 2);
        }
        assert!(!quiet.is_everything_known(2));
        for round in 0..4 {
            assert!(!quiet.is_everything_known(2), "{round}");
            quiet.refreshed(1, 2);
            quiet.refreshed(0, 2);
        }
        assert!(quiet.is_everything_known(2));
    }
}
