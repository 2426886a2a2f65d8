//! What is wrong with one machine of a grid, while the others are as they should be.

use gleaner_units::TaskId;

/// What a machine makes of what it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Flaw {
    /// What it should.
    #[default]
    None,
    /// Nothing can be started there.
    StartsNothing,
    /// Whatever runs there ends badly after a moment.
    Fails,
    /// Whatever runs there writes something else than elsewhere.
    Lies,
}

/// What a program exits with where it ends badly. No program does so elsewhere.
pub(crate) const BROKEN: i32 = 9;

/// Of one task in so many the output is long: part of it is sent before the end, and not all of the rest fits into a fact.
const LONG_ONE_IN: usize = 4;
const LONG: usize = 5_000;
const SHORT: usize = 40;

impl Flaw {
    /// Whether what a program comes to there is not what it comes to elsewhere.
    pub(crate) fn is_wrong(self) -> bool {
        self != Self::None
    }

    /// What a task's program writes on a machine. Who lies agrees with nobody.
    pub(crate) fn text(self, task: TaskId, on: u32) -> Vec<u8> {
        let length = if task.index().is_multiple_of(LONG_ONE_IN) { LONG } else { SHORT };
        let word = match self {
            Self::None | Self::StartsNothing | Self::Fails => format!("task {} ", task.index()),
            Self::Lies => format!("task {} on {on} ", task.index()),
        };
        word.bytes().cycle().take(length).collect()
    }
}
