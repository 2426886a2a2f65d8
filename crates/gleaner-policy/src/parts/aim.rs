//! Scores by when a task would be done: machines are exclusive and lengths declared, so that an end can be told.

use super::{About, Choice, Input};
use std::borrow::Cow;

/// Which of the machines that the budget allows a task is given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Aim {
    /// The one that is done first, whatever the deadline.
    Earliest,
    /// The cheapest that meets the deadline, or else the one that is done first.
    Cheapest,
    /// Of the cheapest that meet the deadline the one that is done first; if none does, the one that is done first.
    CheapestThenEarliest,
    /// The one that is fastest for it, however busy: MET.
    Fastest,
    /// The one that is free first, however slow: OLB.
    FirstFree,
    /// Of so many per cent of the machines, those that are fastest for it, the one that is done first: KPB.
    EarliestOfFastest {
        /// Above 0 and at most 100; it is always one machine at least.
        percent: f64,
    },
}

/// Before the per cent in the name of what has one.
const KPB: &str = "kpb:";

impl Choice for Aim {
    fn all() -> Vec<Self> {
        vec![
            Aim::Earliest,
            Aim::Cheapest,
            Aim::CheapestThenEarliest,
            Aim::Fastest,
            Aim::FirstFree,
            Aim::EarliestOfFastest { percent: 20.0 },
        ]
    }

    fn about(&self) -> About {
        match self {
            Aim::Earliest => About {
                name: "earliest",
                meaning: "The machine that would be done with the task first.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            Aim::Cheapest => About {
                name: "cheapest",
                meaning: "The cheapest machine that would be done by the deadline, or else the one that would be done \
                          first.",
                reads: &[Input::Speeds, Input::Lengths, Input::Prices, Input::Deadline],
            },
            Aim::CheapestThenEarliest => About {
                name: "cheapest-then-earliest",
                meaning: "Of the cheapest machines that would be done by the deadline the one that would be done first; \
                          if none would, the one that would be done first.",
                reads: &[Input::Speeds, Input::Lengths, Input::Prices, Input::Deadline],
            },
            Aim::Fastest => About {
                name: "fastest",
                meaning: "The machine that is fastest for the task, however much is planned for it.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            Aim::FirstFree => About {
                name: "first-free",
                meaning: "The machine that is free first, however slow.",
                reads: &[Input::Lengths],
            },
            Aim::EarliestOfFastest { .. } => About {
                name: "kpb",
                meaning: "Of the ⌊P·machines/100⌋ machines, at least one, that are fastest for the task the one that \
                          would be done first; P is the number in the name, above 0 and up to 100.",
                reads: &[Input::Speeds, Input::Lengths],
            },
        }
    }

    fn name(&self) -> Cow<'static, str> {
        match self {
            Aim::EarliestOfFastest { percent } => format!("{KPB}{percent}").into(),
            Aim::Earliest | Aim::Cheapest | Aim::CheapestThenEarliest | Aim::Fastest | Aim::FirstFree => {
                self.about().name.into()
            }
        }
    }

    fn named(name: &str) -> Option<Self> {
        if let Some(percent) = name.strip_prefix(KPB) {
            let percent: f64 = percent.parse().ok()?;
            return (percent > 0.0 && percent <= 100.0).then_some(Aim::EarliestOfFastest { percent });
        }
        Self::all().into_iter().find(|aim| aim.name() == name)
    }
}
