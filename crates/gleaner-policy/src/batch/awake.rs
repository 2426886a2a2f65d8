//! Which offers have to be looked at: the others may be given none of the tasks left, and that is so until a known point.
//!
//! With a backlog for many periods, most machines are too dear for all that waits, and each task would be held against each of
//! them.

use crate::spending::{Conditions, Waking};

/// The offers to look at, by their number among all, and when the others have to be looked at again.
#[derive(Clone, Debug)]
pub(super) struct Awake {
    /// In order.
    numbers: Vec<usize>,
    others: Waking,
    /// Offers have other numbers than before.
    is_stale: bool,
}

impl Awake {
    /// What is to be looked at is not known yet.
    pub(super) fn stale() -> Self {
        Self { numbers: Vec::new(), others: Waking::NEVER, is_stale: true }
    }

    /// Offers have other numbers than before: all are to be looked at.
    #[inline]
    pub(super) fn renumbered(&mut self) {
        self.is_stale = true;
    }

    /// In order.
    #[inline]
    pub(super) fn numbers(&self) -> &[usize] {
        debug_assert!(!self.is_stale, "it was looked at again");
        &self.numbers
    }

    /// One of them is another now.
    #[inline]
    pub(super) fn changed(&mut self, number: usize) {
        if let (false, Err(at)) = (self.is_stale, self.numbers.binary_search(&number)) {
            self.numbers.insert(at, number);
        }
    }

    /// One is looked at again only then.
    pub(super) fn sleeps(&mut self, number: usize, until: Waking) {
        if let Ok(at) = self.numbers.binary_search(&number) {
            self.numbers.remove(at);
            self.others = self.others.or(until);
        }
    }

    /// If the others have to be looked at again, all of so many are.
    #[inline]
    pub(super) fn rouse(&mut self, count: usize, conditions: Option<&Conditions>) {
        let wakes = || conditions.is_some_and(|conditions| conditions.wakes(self.others));
        if self.is_stale || (self.numbers.len() < count && wakes()) {
            self.numbers.clear();
            self.numbers.extend(0..count);
            self.others = Waking::NEVER;
            self.is_stale = false;
        }
    }
}
