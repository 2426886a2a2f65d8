//! What is believed of machines between two reports.

use super::{About, Choice};

/// What stands for a machine's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belief {
    /// What was last told.
    AsPublished,
    /// The same, with what the scheduler itself did since.
    OwnDispatches {
        /// How many brokers send tasks to the same machines: each is taken to send as much as this one.
        brokers: u32,
    },
}

impl Default for Belief {
    fn default() -> Self {
        Belief::OwnDispatches { brokers: 1 }
    }
}

impl Choice for Belief {
    fn all() -> Vec<Self> {
        vec![Belief::AsPublished, Belief::default()]
    }

    fn about(&self) -> About {
        match self {
            Belief::AsPublished => About {
                name: "as-published",
                meaning: "A site is as it last said, whatever was sent there since.",
                reads: &[],
            },
            Belief::OwnDispatches { .. } => About {
                name: "own-dispatches",
                meaning: "A machine is as it was last reported, with what was sent there since that it cannot know of yet; \
                          times the number of brokers, where several send tasks to the same sites.",
                reads: &[],
            },
        }
    }
}
