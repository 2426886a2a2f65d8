//! Whether it counts how long machines stay, for the parts that go by when a task would be done.

use super::{About, Choice, Input};

/// What is known of when machines leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Staying {
    /// Nothing counts: a machine is taken to stay.
    #[default]
    Ignored,
    /// How often machines of a class were lost so far.
    Learnt,
}

impl Choice for Staying {
    fn all() -> Vec<Self> {
        vec![Staying::Ignored, Staying::Learnt]
    }

    fn about(&self) -> About {
        match self {
            Staying::Ignored => About {
                name: "ignored",
                meaning: "A task is expected to end where it is put, as if no machine ever left.",
                reads: &[],
            },
            Staying::Learnt => About {
                name: "learnt",
                meaning: "An end after E seconds counts as one after E·(1 + μE), since a machine that leaves before has the task \
                          begin again: μ is how often machines of that class were lost, by the second that they were there, \
                          as if one more had stayed as long as machines do on average.",
                reads: &[Input::Stays],
            },
        }
    }
}

/// What an end counts as on a machine that is lost so often.
#[inline]
pub(crate) fn weighed(end_s: f64, losses_per_s: f64) -> f64 {
    end_s * (1.0 + losses_per_s * end_s)
}
