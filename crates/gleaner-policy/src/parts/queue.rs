//! How tasks that wait in one line are given their cores: the part of policies for rigid jobs.

use super::{About, Choice, Input};

/// Who may start before the first in line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backfill {
    /// Nobody.
    Fcfs,
    /// Whoever does not delay the first.
    #[default]
    Easy,
    /// Whoever does not delay anybody before him.
    Conservative,
}

impl Choice for Backfill {
    fn all() -> Vec<Self> {
        vec![Backfill::Fcfs, Backfill::Easy, Backfill::Conservative]
    }

    fn about(&self) -> About {
        match self {
            Backfill::Fcfs => About {
                name: "fcfs",
                meaning: "Tasks start in the order in which they wait; while the first has no room, nobody starts.",
                reads: &[],
            },
            Backfill::Easy => About {
                name: "easy",
                meaning: "The first in line has the earliest moment at which it can start kept for it; a later task may \
                          start if it will have ended by then, or leaves what the first needs.",
                reads: &[Input::Lengths, Input::Speeds],
            },
            Backfill::Conservative => About {
                name: "conservative",
                meaning: "Each in line, in order, has the earliest moment kept for it that those before it leave; who \
                          ends early lets all of them be worked out anew.",
                reads: &[Input::Lengths, Input::Speeds],
            },
        }
    }
}

/// Which of the tasks that may start before the first in line goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fill {
    /// As they were submitted.
    #[default]
    Arrival,
    /// The shortest.
    Shortest,
    /// The one with the least of length times cores.
    SmallestArea,
}

impl Choice for Fill {
    fn all() -> Vec<Self> {
        vec![Fill::Arrival, Fill::Shortest, Fill::SmallestArea]
    }

    fn about(&self) -> About {
        match self {
            Fill::Arrival => About {
                name: "arrival",
                meaning: "Of those that may start before the first in line, the one that was submitted first does.",
                reads: &[],
            },
            Fill::Shortest => About {
                name: "shortest",
                meaning: "Of those that may start before the first in line, the shortest does.",
                reads: &[Input::Lengths],
            },
            Fill::SmallestArea => About {
                name: "smallest-area",
                meaning: "Of those that may start before the first in line, the one with the least length times cores \
                          does.",
                reads: &[Input::Lengths],
            },
        }
    }
}

/// What is believed of a task that runs longer than was believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Correction {
    /// It may end at any moment: until it does, what users declared decides.
    #[default]
    Firm,
    /// It ends when its user said.
    Estimate,
    /// It takes as long as those like it that took longer.
    Alike,
    /// It takes twice as long.
    Doubled,
    /// It takes a minute more; then 5, 15 and 30 minutes, 1, 2, 5, 10, 20, 50 and 100 hours.
    InTurn,
}

impl Choice for Correction {
    fn all() -> Vec<Self> {
        vec![
            Correction::Firm,
            Correction::Estimate,
            Correction::Alike,
            Correction::Doubled,
            Correction::InTurn,
        ]
    }

    fn about(&self) -> About {
        match self {
            Correction::Firm => About {
                name: "firm",
                meaning: "A task that runs longer than was believed may end at any moment. As long as the first in line \
                          waits for its cores, only what users declared says there who may overtake; where nothing was \
                          declared, or that is over too, nobody may.",
                reads: &[Input::Lengths],
            },
            Correction::Estimate => About {
                name: "estimate",
                meaning: "A task that runs longer than was believed is believed to take what its user declared; if that \
                          is over too, twice as long as before.",
                reads: &[Input::Lengths],
            },
            Correction::Alike => About {
                name: "alike",
                meaning: "A task that runs longer than was believed is believed to take the median of those from which that \
                          was learnt that took longer; where none did, what its user declared.",
                reads: &[Input::Runs],
            },
            Correction::Doubled => About {
                name: "doubled",
                meaning: "A task that runs longer than was believed is believed to take twice as long, and no longer \
                          than its user declared.",
                reads: &[Input::Lengths],
            },
            Correction::InTurn => About {
                name: "in-turn",
                meaning: "A task that runs longer than was believed is believed to take a minute more, then 5, 15 and 30 \
                          minutes, 1, 2, 5, 10, 20, 50 and 100 hours, and no longer than its user declared.",
                reads: &[Input::Lengths],
            },
        }
    }
}

/// The part of a policy for rigid jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Queueing {
    /// Who may start before the first in line.
    pub backfill: Backfill,
    /// Which of them goes first.
    pub fill: Fill,
    /// What is believed of what runs too long.
    pub correction: Correction,
}
