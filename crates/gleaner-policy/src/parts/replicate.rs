//! How many runs of a task there are at a time.

use super::{About, Choice};

/// How often a task runs at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replicate {
    /// Once.
    #[default]
    One,
    /// Once more on an idle machine that is likely to be done sooner.
    Idle,
}

impl Choice for Replicate {
    fn all() -> Vec<Self> {
        vec![Replicate::One, Replicate::Idle]
    }

    fn about(&self) -> About {
        match self {
            Replicate::One => About { name: "one", meaning: "A task has one run at a time.", reads: &[] },
            Replicate::Idle => About {
                name: "idle",
                meaning: "While no task waits, a running one gets a second run on a peer's own idle machine, if that is likely to \
                          be done sooner, by how long tasks took so far; the first result counts.",
                reads: &[],
            },
        }
    }
}
