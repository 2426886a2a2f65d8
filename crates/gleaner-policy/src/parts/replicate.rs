//! How many runs of a task there are at a time, and how many of them have to come to the same.

use super::{About, Choice};
use gleaner_core::{Checking, Trusting};
use std::borrow::Cow;

/// How often a task runs at a time, at least once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replicate {
    /// So many times: see [`runs`](Self::runs).
    Runs(u32),
    /// Among peers: once more on an idle machine that is likely to be done sooner.
    Idle,
    /// As often as it takes until so many machines gave the same answer: see [`agreeing`](Self::agreeing).
    Quorum(Checking),
}

impl Replicate {
    /// One run at a time.
    pub const ONE: Self = Self::Runs(1);
    /// The most that may be wished.
    pub const MAX: u32 = 16;
    /// The most that have to give the same answer.
    pub const QUORUM_MAX: u32 = 7;
    /// One in so many tasks of a trusted machine is checked at least, unless it is said otherwise.
    pub const CHECK_EVERY: u32 = 20;

    /// So many runs at a time, from 1 to [`MAX`](Self::MAX).
    pub fn runs(count: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&count).then_some(Self::Runs(count))
    }

    /// So many machines have to agree, from 2 to [`QUORUM_MAX`](Self::QUORUM_MAX), of at most so many that are asked, to [`MAX`](Self::MAX).
    pub fn agreeing(quorum: u32, most: u32, trust: Option<Trusting>) -> Option<Self> {
        let is_sound = (2..=most.min(Self::QUORUM_MAX)).contains(&quorum) && most <= Self::MAX;
        is_sound.then_some(Self::Quorum(Checking { quorum, most, trust }))
    }

    /// How many are asked at most, unless it is said otherwise: two liars who agree do not decide.
    pub fn most_for(quorum: u32) -> u32 {
        quorum.saturating_mul(2).saturating_add(1).min(Self::MAX)
    }

    /// How many every task has from the outset, whatever they come to.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Runs(count) => count,
            Self::Idle | Self::Quorum(_) => 1,
        }
    }
}

impl Choice for Replicate {
    fn all() -> Vec<Self> {
        let quorum = Checking { quorum: 2, most: Self::most_for(2), trust: None };
        vec![Self::ONE, Self::Runs(2), Self::Quorum(quorum), Self::Idle]
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
            Self::Quorum(_) => About {
                name: "{ quorum = 2 }",
                meaning: "A task is done when so many machines gave the same answer; at most so many are asked (most, twice as \
                          many and one unless said). A copy that is needed for that goes before tasks that wait. With \
                          trust_after, a machine with so many answers in a row that were agreed on is asked alone, but for \
                          one task in check_every at least (20 unless said), and for more while it is new; one that was \
                          outvoted starts from nothing.",
                reads: &[],
            },
        }
    }

    fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Runs(count) => count.to_string().into(),
            Self::Idle => self.about().name.into(),
            Self::Quorum(Checking { quorum, most, trust: None }) => {
                format!("{{ quorum = {quorum}, most = {most} }}").into()
            }
            Self::Quorum(Checking { quorum, most, trust: Some(Trusting { after, check_every }) }) => format!(
                "{{ quorum = {quorum}, most = {most}, trust_after = {after}, check_every = {check_every} }}"
            )
            .into(),
        }
    }
}
