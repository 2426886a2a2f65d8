//! Where the lengths of tasks come from, for the parts that read them.

use super::{About, Choice, Input};

/// Whose word on a length is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lengths {
    /// The user's.
    #[default]
    Declared,
    /// That of the user's last two tasks.
    LastTwo,
    /// That of the user's tasks that ran before and are like it.
    Learnt,
    /// The simulator's, who knows.
    True,
}

impl Lengths {
    /// Whether it goes by what ran before.
    pub fn is_learnt(self) -> bool {
        match self {
            Lengths::LastTwo | Lengths::Learnt => true,
            Lengths::Declared | Lengths::True => false,
        }
    }
}

impl Choice for Lengths {
    fn all() -> Vec<Self> {
        vec![Lengths::Declared, Lengths::LastTwo, Lengths::Learnt, Lengths::True]
    }

    fn about(&self) -> About {
        match self {
            Lengths::Declared => About {
                name: "declared",
                meaning: "A task is as long as its user declared. A batch does not plan one without a declared length; a \
                          queue believes that it takes its time limit, and without one that it never ends; social \
                          weighs all tasks alike, and with any other choice by what is believed to remain of them.",
                reads: &[],
            },
            Lengths::LastTwo => About {
                name: "last-two",
                meaning: "A task is as long as the mean of its user's last two that ended before it was submitted, and no \
                          longer than was declared; before there were two, as was declared.",
                reads: &[Input::Runs],
            },
            Lengths::Learnt => About {
                name: "learnt",
                meaning: "A task is as long as the median of its user's latest that ended before it was submitted: of up \
                          to 20 with the same label, or else, where there are not two of these, with the same declared \
                          length or time limit, or else of any; and no longer than was declared. Without them, as was \
                          declared; and without that a batch counts it as one of a second on the fastest machine, so that it runs \
                          early. A time limit counts as a declared length.",
                reads: &[Input::Runs],
            },
            Lengths::True => About {
                name: "true",
                meaning: "A task is as long as it will be. Only the simulator knows.",
                reads: &[],
            },
        }
    }
}
