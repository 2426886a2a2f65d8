//! When the policy acts: when tasks are placed or planned, and when running ones are moved.

use super::{About, Choice, Input};
use gleaner_units::Span;
use std::fmt;

/// When something is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Whenever something happens that may call for it.
    AtEvents,
    /// At each multiple of a period.
    Every(Span),
}

/// R, as the second paper tuned it: two minutes.
pub(crate) const PERIOD: When = When::Every(Span::from_nanos(120_000_000_000));

impl When {
    /// How often, where it is every so often.
    pub fn period(self) -> Option<Span> {
        match self {
            When::AtEvents => None,
            When::Every(period) => Some(period),
        }
    }
}

impl Choice for When {
    fn all() -> Vec<Self> {
        vec![When::AtEvents, PERIOD]
    }

    fn about(&self) -> About {
        match self {
            When::AtEvents => About {
                name: "at events",
                meaning: "A task is given its place as soon as it comes, or else as soon as a machine can take it.",
                reads: &[],
            },
            When::Every(_) => About {
                name: "every period",
                meaning: "Tasks wait for the end of the period in which they came, and are planned together then. \
                          period_s is its length; where a budget is heeded, it is the budget's.",
                reads: &[],
            },
        }
    }
}

/// As the end of a sentence: `every 120 s`.
impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            When::AtEvents => f.write_str("at events"),
            When::Every(period) => write!(f, "every {} s", period.seconds()),
        }
    }
}

/// Which of the tasks that were planned the next batch plans anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Replan {
    /// All that have not begun, as the second paper has it.
    #[default]
    Unbegun,
    /// All, as soon as one's machine takes no tasks any more, cannot run it, or can never be paid.
    Lost,
}

impl Choice for Replan {
    fn all() -> Vec<Self> {
        vec![Replan::Unbegun, Replan::Lost]
    }

    fn about(&self) -> About {
        match self {
            Replan::Unbegun => About {
                name: "unbegun",
                meaning: "Each batch plans all tasks anew that have not begun.",
                reads: &[],
            },
            Replan::Lost => About {
                name: "lost",
                meaning: "A plan stays while its machine takes tasks and can run this one, and a period's credits can pay for it. If \
                          that is not so of some plan, all tasks that have not begun are planned anew.",
                reads: &[],
            },
        }
    }
}

/// Whether a task goes to a machine however slow that is: among peers, where it starts at once, and in batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Holding {
    /// At once.
    #[default]
    Never,
    /// Not where waiting is better.
    WhenSlower,
}

impl Choice for Holding {
    fn all() -> Vec<Self> {
        vec![Holding::Never, Holding::WhenSlower]
    }

    fn about(&self) -> About {
        match self {
            Holding::Never => About {
                name: "never",
                meaning: "A task goes to any machine, however slow that is.",
                reads: &[],
            },
            Holding::WhenSlower => About {
                name: "when-slower",
                meaning: "A task does not go to a machine if faster ones would have done all that there is to do before this one \
                          had done the task. In batches that is by declared lengths, from the next batch on, and faster \
                          machines count that a recharge pays for; among peers by how long tasks like it took so far, on \
                          machines of the site's own.",
                reads: &[Input::Speeds],
            },
        }
    }
}
