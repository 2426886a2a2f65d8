//! Which of the machines that were scored is taken.

use super::{About, Choice};

/// How the scores are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choose {
    /// The best of all.
    #[default]
    Best,
}

impl Choice for Choose {
    fn all() -> Vec<Self> {
        vec![Choose::Best]
    }

    fn about(&self) -> About {
        match self {
            Choose::Best => About {
                name: "best",
                meaning: "The machine with the best score is taken, of equals the lowest.",
                reads: &[],
            },
        }
    }
}
