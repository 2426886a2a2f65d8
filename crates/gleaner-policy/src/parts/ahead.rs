//! Whether a machine gets the next task while all its room is taken.

use super::{About, Choice, Input};

/// What a machine has of work that has not begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ahead {
    /// Nothing.
    #[default]
    Never,
    /// One task behind each that runs, where tasks of its class are short.
    WhereShort,
}

impl Choice for Ahead {
    fn all() -> Vec<Self> {
        vec![Ahead::Never, Ahead::WhereShort]
    }

    fn about(&self) -> About {
        match self {
            Ahead::Never => {
                About { name: "never", meaning: "A machine gets a task when it has room for it.", reads: &[] }
            }
            Ahead::WhereShort => About {
                name: "where-short",
                meaning: "While tasks of a class take at most a second and more of them wait, a machine gets one behind each that \
                          began within the last second, and begins it when that is over. It is taken back where another machine has \
                          room, where a task that comes before it waits for that room, or where the run before it takes two seconds.",
                reads: &[Input::Runs],
            },
        }
    }
}
