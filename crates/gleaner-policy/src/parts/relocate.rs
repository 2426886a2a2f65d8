//! Whether and how running tasks are moved.

use super::score::Score;
use super::when::When;
use super::{About, Choice};
use gleaner_core::{Grid, least_above};
use gleaner_units::{RunId, Time};
use std::fmt;

/// Which of the tasks moves that would gain alike, as those of one class on one machine do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mover {
    /// Submitted first.
    #[default]
    First,
    /// Submitted last.
    Last,
    /// Furthest, by what is known of speeds and loads.
    MostDone,
    /// Least far.
    LeastDone,
}

impl Mover {
    /// The lowest moves, and among equals the task that was submitted first.
    pub(crate) fn turn(self, grid: &Grid, now: Time, run: RunId) -> f64 {
        match self {
            Mover::First => 0.0,
            Mover::Last => -(run.task.index() as f64),
            Mover::MostDone => -grid.ops_done(now, run),
            Mover::LeastDone => grid.ops_done(now, run),
        }
    }
}

impl Choice for Mover {
    fn all() -> Vec<Self> {
        vec![Mover::First, Mover::Last, Mover::MostDone, Mover::LeastDone]
    }

    fn about(&self) -> About {
        let (name, meaning) = match self {
            Mover::First => {
                ("first", "Of tasks that would gain alike the one that was submitted first moves.")
            }
            Mover::Last => ("last", "Of tasks that would gain alike the one that was submitted last moves."),
            Mover::MostDone => (
                "most-done",
                "Of tasks that would gain alike the one moves that has done most operations, as far as that follows from \
                 speeds and owners' loads: where a few tasks are very long, it has most to do still.",
            ),
            Mover::LeastDone => (
                "least-done",
                "Of tasks that would gain alike the one moves that has done fewest operations, as far as that is known.",
            ),
        };
        About { name, meaning, reads: &[] }
    }
}

/// How running tasks are moved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relocate {
    /// What a move is judged by.
    pub score: Score,
    /// N: the most moves at one occasion.
    pub moves_max: u32,
    /// θ: what a gain must exceed.
    pub gain_min: f64,
    /// MIN-NUM alone: how many tasks more the source must have.
    pub difference_min: u32,
    /// When.
    pub when: When,
    /// Which of those that would gain alike.
    pub mover: Mover,
}

impl Relocate {
    /// The paper's N = 3 and θ = 10 %, at events.
    pub fn by(score: Score) -> Self {
        Self {
            score,
            moves_max: 3,
            gain_min: 0.10,
            difference_min: 2,
            when: When::AtEvents,
            mover: Mover::First,
        }
    }

    /// The least gain that is worth a move, its cost aside.
    #[inline]
    pub(crate) fn least_gain(&self) -> f64 {
        if self.score.counts_tasks() { f64::from(self.difference_min) } else { least_above(self.gain_min) }
    }

    /// Whether a gain is worth a move, its cost aside.
    #[inline]
    pub(crate) fn is_enough(&self, gain: f64) -> bool {
        gain >= self.least_gain()
    }
}

/// `greedy at events, at most 3 moves, for a gain above 0.1`.
impl fmt::Display for Relocate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, at most {} moves, for ", self.score.name(), self.when, self.moves_max)?;
        if self.score.counts_tasks() {
            write!(f, "a difference of {} tasks or more", self.difference_min)?;
        } else {
            write!(f, "a gain above {}", self.gain_min)?;
        }
        match self.mover {
            Mover::First => Ok(()),
            mover => write!(f, ", of tasks alike {}", mover.name()),
        }
    }
}
