//! In which order waiting tasks are given their places.

use super::{About, Choice, Input};

/// Which of the waiting tasks is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TaskOrder {
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

impl Choice for TaskOrder {
    fn all() -> Vec<Self> {
        vec![
            TaskOrder::Submission,
            TaskOrder::MinMin,
            TaskOrder::MaxMin,
            TaskOrder::Sufferage,
            TaskOrder::SufferagePasses,
        ]
    }

    fn about(&self) -> About {
        match self {
            TaskOrder::Submission => About {
                name: "submission",
                meaning: "The task that was submitted first is next.",
                reads: &[],
            },
            TaskOrder::MinMin => About {
                name: "min-min",
                meaning: "The task that can be done earliest is next.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            TaskOrder::MaxMin => About {
                name: "max-min",
                meaning: "The task whose earliest end is the latest is next; among peers, of those that were handed in at one \
                          moment.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            TaskOrder::Sufferage => About {
                name: "sufferage",
                meaning: "The task that would lose most without the machine that is best for it is next; one that only one machine may take loses nothing.",
                reads: &[Input::Speeds, Input::Lengths],
            },
            TaskOrder::SufferagePasses => About {
                name: "sufferage-passes",
                meaning: "In each pass, every machine that is best for some task gets the one of those that would lose \
                          most without it, by what was free when the pass began (Maheswaran et al.).",
                reads: &[Input::Speeds, Input::Lengths],
            },
        }
    }
}

impl TaskOrder {
    /// In a few words, for one line about a policy.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            TaskOrder::Submission => "in order of submission",
            TaskOrder::MinMin => "the shortest first",
            TaskOrder::MaxMin => "the longest first",
            TaskOrder::Sufferage => "first what would lose most",
            TaskOrder::SufferagePasses => "in passes, what would lose most",
        }
    }

    /// As papers write it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            TaskOrder::Submission => "in order of submission",
            TaskOrder::MinMin => "Min-Min",
            TaskOrder::MaxMin => "Max-Min",
            TaskOrder::Sufferage => "Sufferage",
            TaskOrder::SufferagePasses => "Sufferage in passes",
        }
    }

    /// Whether it asks what a task would lose, for which it has to know the best two machines.
    pub(crate) fn is_by_loss(self) -> bool {
        match self {
            TaskOrder::Sufferage | TaskOrder::SufferagePasses => true,
            TaskOrder::Submission | TaskOrder::MinMin | TaskOrder::MaxMin => false,
        }
    }
}
