//! Allocation schemes: an allocator, and the relocator that goes with it or none.

use super::{GAIN_MIN, MOVES_MAX};
use gleaner_policy::{Recipe, Relocate, Score};

/// Where new tasks go, and what moves them later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheme {
    /// The allocator.
    pub allocator: Score,
    /// The relocator.
    pub relocator: Option<Score>,
}

/// N and θ, and MIN-NUM's guard.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameters {
    /// N.
    pub moves_max: u32,
    /// θ.
    pub gain_min: f64,
    /// How many tasks more the source of a MIN-NUM move must have.
    pub difference_min: u32,
}

impl Default for Parameters {
    /// The paper's own from figure 2 on.
    fn default() -> Self {
        Self { moves_max: MOVES_MAX, gain_min: GAIN_MIN, difference_min: 2 }
    }
}

impl Scheme {
    /// An allocator without relocation.
    pub const fn alone(allocator: Score) -> Self {
        Self { allocator, relocator: None }
    }

    /// An allocator with the relocator of its name.
    pub const fn relocating(score: Score) -> Self {
        Self { allocator: score, relocator: Some(score) }
    }

    /// The parts it is made of.
    pub fn recipe(self, parameters: Parameters) -> Recipe {
        let Parameters { moves_max, gain_min, difference_min } = parameters;
        let relocate = |score| Relocate { moves_max, gain_min, difference_min, ..Relocate::by(score) };
        Recipe { relocate: self.relocator.map(relocate), ..Recipe::by(self.allocator) }
    }

    /// As the paper calls it.
    pub fn name(self) -> String {
        let allocator = name(self.allocator);
        match self.relocator {
            None => format!("{allocator}, no relocation"),
            Some(relocator) if relocator == self.allocator => allocator.to_owned(),
            Some(relocator) => format!("{allocator}, {} relocator", name(relocator)),
        }
    }
}

/// As the paper calls it; its SOCIAL in the reading by execution times has the plain name.
pub fn name(score: Score) -> &'static str {
    match score {
        Score::Greedy => "GREEDY",
        Score::Social => "SOCIAL",
        Score::SocialWhole => "SOCIAL of the whole",
        Score::SocialAsPrinted => "SOCIAL as printed",
        Score::MinNum => "MIN-NUM",
        Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => "POWER",
    }
}
