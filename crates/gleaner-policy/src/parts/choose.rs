//! Which of the machines that were scored is taken.

use super::{About, Choice};

/// How the scores are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choose {
    /// The best of all.
    #[default]
    Best,
    /// The same, of equals the latest.
    BestLatest,
    /// The first that will do.
    First,
}

impl Choice for Choose {
    fn all() -> Vec<Self> {
        vec![Choose::Best, Choose::BestLatest, Choose::First]
    }

    fn about(&self) -> About {
        match self {
            Choose::Best => About {
                name: "best",
                meaning: "The machine with the best score is taken, of equals the lowest.",
                reads: &[],
            },
            Choose::BestLatest => About {
                name: "best-latest",
                meaning: "The machine with the best score is taken, of equals the one that joined last: as ≥ in line 16 of \
                          Algorithm 1 of Da Silva and Nesmachnow has it.",
                reads: &[],
            },
            Choose::First => About {
                name: "first",
                meaning: "The first machine that can take the task is taken, whatever its score.",
                reads: &[],
            },
        }
    }
}
