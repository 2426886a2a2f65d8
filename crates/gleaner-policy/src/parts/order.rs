//! In which order waiting tasks are given their places.

use super::{About, Choice, Input};

/// Which of the waiting tasks is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As they were submitted.
    Submission,
    /// First the task that can be done earliest.
    MinMin,
    /// First the task whose earliest end is the latest.
    MaxMin,
    /// First the task that would lose most if it did not get the machine that is best for it.
    Sufferage,
    /// The same in passes, as Maheswaran et al. have it: in each, every machine that is best for some task gets the one of
    /// those that would lose most, by what was free when the pass began.
    SufferagePasses,
}

impl Choice for Order {
    fn all() -> Vec<Self> {
        vec![Order::Submission, Order::MinMin, Order::MaxMin, Order::Sufferage, Order::SufferagePasses]
    }

    fn about(&self) -> About {
        match self {
            Order::Submission => About {
                name: "submission",
                meaning: "The task that was submitted first is next.",
                reads: &[],
            },
            Order::MinMin => About {
                name: "min-min",
                meaning: "The task that can be done earliest is next.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            Order::MaxMin => About {
                name: "max-min",
                meaning: "The task whose earliest end is the latest is next; among peers, of those that were handed in at one \
                          moment.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            Order::Sufferage => About {
                name: "sufferage",
                meaning: "The task that would lose most without the machine that is best for it is next.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            Order::SufferagePasses => About {
                name: "sufferage-passes",
                meaning: "In each pass, every machine that is best for some task gets the one of those that would lose \
                          most without it, by what was free when the pass began (Maheswaran et al.).",
                reads: &[Input::Speeds, Input::Lengths],
            },
        }
    }
}

impl Order {
    /// In a few words, for one line about a policy.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Order::Submission => "in order of submission",
            Order::MinMin => "the shortest first",
            Order::MaxMin => "the longest first",
            Order::Sufferage => "first what would lose most",
            Order::SufferagePasses => "in passes, what would lose most",
        }
    }

    /// As papers write it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Order::Submission => "in order of submission",
            Order::MinMin => "Min-Min",
            Order::MaxMin => "Max-Min",
            Order::Sufferage => "Sufferage",
            Order::SufferagePasses => "Sufferage in passes",
        }
    }

    /// Whether it asks what a task would lose, for which it has to know the best two machines.
    pub(crate) fn is_by_loss(self) -> bool {
        match self {
            Order::Sufferage | Order::SufferagePasses => true,
            Order::Submission | Order::MinMin | Order::MaxMin => false,
        }
    }
}
