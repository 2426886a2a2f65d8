//! How many runs of a task there are at a time.

use super::{About, Choice};

/// How often a task runs at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replicate {
    /// Once.
    #[default]
    One,
}

impl Choice for Replicate {
    fn all() -> Vec<Self> {
        vec![Replicate::One]
    }

    fn about(&self) -> About {
        match self {
            Replicate::One => About { name: "one", meaning: "A task has one run at a time.", reads: &[] },
        }
    }
}
