//! How many runs of a task there are at a time.

use super::{About, Choice};
use std::borrow::Cow;

/// How often a task runs at a time, at least once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replicate(u32);

impl Replicate {
    /// One run at a time.
    pub const ONE: Self = Self(1);
    /// The most that may be wished.
    pub const MAX: u32 = 16;

    /// So many runs at a time, from 1 to [`MAX`](Self::MAX).
    pub fn runs(count: u32) -> Option<Self> {
        (1..=Self::MAX).contains(&count).then_some(Self(count))
    }

    /// How many.
    pub fn count(self) -> u32 {
        self.0
    }
}

impl Choice for Replicate {
    fn all() -> Vec<Self> {
        vec![Self::ONE, Self(2)]
    }

    fn about(&self) -> About {
        match self.0 {
            1 => About { name: "1", meaning: "A task has one run at a time.", reads: &[] },
            _ => About {
                name: "n",
                meaning: "So many runs of a task go on at a time, on different machines; the first to come to its end counts, \
                          the others are stopped, and what they did is waste. A copy takes no room that a task which waits \
                          could have.",
                reads: &[],
            },
        }
    }

    fn name(&self) -> Cow<'static, str> {
        self.0.to_string().into()
    }
}
