//! What answers are, and how many machines have to give the same.

use serde::{Deserialize, Serialize};

/// What a task came to, as one run has it: the number of all answers to the task that are the same. Whoever reports ends
/// compares them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Answer(pub u32);

impl Answer {
    /// From this number on answers are compared as they are, also where a user's program compares others: those of a task that failed.
    pub const EXACT: u32 = 1 << 31;

    /// Whether it is never handed to a user's program.
    pub fn is_exact(self) -> bool {
        self.0 >= Self::EXACT
    }
}

/// Whoever owns machines: all of them together have one vote.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Owner(pub u32);

/// What a user's program says of two answers to a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Likeness {
    /// They are the same.
    Alike,
    /// They are not.
    Different,
    /// It could not compare them.
    Failed,
}

/// What a run that ended said of its task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// What the task came to.
    Answer(Answer),
    /// How the two answers are that it was to compare.
    Likeness(Likeness),
}

/// How many machines have to agree, for all tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checking {
    /// How many have to give the same answer; at least 2.
    pub quorum: u32,
    /// How many are asked at most, until a task is given up; at least as many.
    pub most: u32,
    /// Whether machines come to be asked alone.
    pub trust: Option<Trusting>,
}

/// When a machine is asked alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Trusting {
    /// After so many answers in a row that were agreed on; at least 1.
    pub after: u32,
    /// One in so many of its tasks is checked all the same, and more while it is new: one in as many as it has in a row.
    pub check_every: u32,
}

impl Trusting {
    /// How likely a task is checked on a trusted machine.
    pub(crate) fn chance(self, row: u32) -> f64 {
        1.0 / f64::from(row.min(self.check_every).max(1))
    }
}
