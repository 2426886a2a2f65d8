//! Whether and how running tasks are moved.

use super::score::Score;
use super::when::When;
use gleaner_core::exceeds;
use std::fmt;

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
}

impl Relocate {
    /// The paper's N = 3 and θ = 10 %, at events.
    pub fn by(score: Score) -> Self {
        Self { score, moves_max: 3, gain_min: 0.10, difference_min: 2, when: When::AtEvents }
    }

    /// Whether a gain is worth a move, its cost aside.
    #[inline]
    pub(crate) fn is_enough(&self, gain: f64) -> bool {
        if self.score.counts_tasks() {
            gain >= f64::from(self.difference_min)
        } else {
            exceeds(gain, self.gain_min)
        }
    }

    /// A bound that no worthwhile gain can meet is as good as none.
    #[inline]
    pub(crate) fn floor(&self, bound: f64) -> f64 {
        if self.is_enough(bound) { bound } else { f64::NEG_INFINITY }
    }
}

/// `greedy at events, at most 3 moves, for a gain above 0.1`.
impl fmt::Display for Relocate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}, at most {} moves, for ", self.score.name(), self.when, self.moves_max)?;
        if self.score.counts_tasks() {
            write!(f, "a difference of {} tasks or more", self.difference_min)
        } else {
            write!(f, "a gain above {}", self.gain_min)
        }
    }
}
