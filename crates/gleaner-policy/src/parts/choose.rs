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
    /// The best of all, of equals any.
    BestByLot,
    /// The first that will do.
    First,
    /// One drawn, the sooner the better its score.
    Proportional {
        /// The power of 1/|score| that its share is in proportion to.
        power: u32,
    },
    /// The better of two that are drawn.
    TwoChoices,
}

/// The largest power that a share may be in proportion to.
pub const POWER_MAX: u32 = 16;

impl Choose {
    /// Whether what judges sites can choose so, by what they say of themselves.
    pub(crate) fn is_for_sites(self) -> bool {
        self != Choose::BestLatest
    }

    /// Whether chance has a say in it.
    pub fn draws(self) -> bool {
        match self {
            Choose::Best | Choose::BestLatest | Choose::First => false,
            Choose::BestByLot | Choose::Proportional { .. } | Choose::TwoChoices => true,
        }
    }
}

impl Choice for Choose {
    fn all() -> Vec<Self> {
        vec![
            Choose::Best,
            Choose::BestLatest,
            Choose::BestByLot,
            Choose::First,
            Choose::Proportional { power: 1 },
            Choose::TwoChoices,
        ]
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
            Choose::BestByLot => About {
                name: "best-by-lot",
                meaning: "The machine with the best score is taken, of equals any with the same chance.",
                reads: &[],
            },
            Choose::First => About {
                name: "first",
                meaning: "The first machine that can take the task is taken, whatever its score.",
                reads: &[],
            },
            Choose::Proportional { .. } => About {
                name: "proportional",
                meaning: "A machine is drawn with a chance in proportion to its score, or to 1/|score| where that is a cost, \
                           or to a power of it. What costs nothing shares the chance evenly, as do sites whose rank is 0 or more.",
                reads: &[],
            },
            Choose::TwoChoices => About {
                name: "two-choices",
                meaning: "Two machines are drawn with the same chance; the one with the better score is taken.",
                reads: &[],
            },
        }
    }
}
