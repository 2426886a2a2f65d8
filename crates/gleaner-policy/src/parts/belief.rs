//! What is believed of machines between two reports.

use super::{About, Choice};

/// What stands for a machine's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Belief {
    /// What was last told, with what the scheduler itself did since.
    #[default]
    WithSent,
}

impl Choice for Belief {
    fn all() -> Vec<Self> {
        vec![Belief::WithSent]
    }

    fn about(&self) -> About {
        match self {
            Belief::WithSent => About {
                name: "with-sent",
                meaning: "A machine is as it was last reported, with what was sent there since.",
                reads: &[],
            },
        }
    }
}
