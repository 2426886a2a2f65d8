//! Where the lengths of tasks come from, for the parts that read them.

use super::{About, Choice};

/// Whose word on a length is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lengths {
    /// The user's.
    #[default]
    Declared,
}

impl Choice for Lengths {
    fn all() -> Vec<Self> {
        vec![Lengths::Declared]
    }

    fn about(&self) -> About {
        match self {
            Lengths::Declared => About {
                name: "declared",
                meaning: "A task is as long as its user declared; one without a declared length is not planned.",
                reads: &[],
            },
        }
    }
}
