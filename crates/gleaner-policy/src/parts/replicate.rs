//! How many runs of a task there are at a time.

use super::{About, Choice};
use std::borrow::Cow;

/// How often a task runs at a time, at least once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replicate {
    /// So many times: see [`runs`](Self::runs).
    Runs(u32),
    /// Among peers: once more on an idle machine that is likely to be done sooner.
    Idle,
}

impl Replicate {
    /// One run at a time.
    pub const ONE: Self = Self::Runs(1);
    /// The most that may be wished.
    pub const MAX: u32 = 16;

    /// So many runs at a time, from 1 to [`MAX`](Self::MAX).
    pub fn runs(count: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&count).then_some(Self::Runs(count))
    }

    /// How many every task has from the outset.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Runs(count) => count,
            Self::Idle => 1,
        }
    }
}

impl Choice for Replicate {
    fn all() -> Vec<Self> {
        vec![Self::ONE, Self::Runs(2), Self::Idle]
    }

    fn about(&self) -> About {
        match self {
            Self::Runs(1) => About { name: "1", meaning: "A task has one run at a time.", reads: &[] },
            Self::Runs(_) => About {
                name: "n",
                meaning: "So many runs of a task go on at a time, on different machines; the first to come to its end counts, \
                          the others are stopped, and what they did is waste. A copy takes no room that a task which waits \
                          could have.",
                reads: &[],
            },
            Self::Idle => About {
                name: "idle",
                meaning: "Among peers: while no task waits and nobody wants the machine, a running one gets a second run on an \
                          idle machine of the peer's own, if that is likely to save half the time that it takes, by how long \
                          tasks like it took so far; the first result counts.",
                reads: &[],
            },
        }
    }

    fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Runs(count) => count.to_string().into(),
            Self::Idle => self.about().name.into(),
        }
    }
}
