//! The choice of parts that makes a policy.

use crate::{Matchmaker, PRESETS, Score};
use gleaner_core::exceeds;
use gleaner_units::Span;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// When the relocator acts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum When {
    /// Whenever a task ends or an owner's load changes.
    AtEvents,
    /// At each multiple of a period.
    Every(Span),
}

/// How running tasks are moved.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
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
        match self.score {
            Score::MinNum => gain >= f64::from(self.difference_min),
            Score::Greedy | Score::Social | Score::SocialAsPrinted => exceeds(gain, self.gain_min),
        }
    }

    /// A bound that no worthwhile gain can meet is as good as none.
    #[inline]
    pub(crate) fn floor(&self, bound: f64) -> f64 {
        if self.is_enough(bound) { bound } else { f64::NEG_INFINITY }
    }
}

/// A policy, as a choice of parts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Recipe {
    /// Where a new task goes.
    pub place: Score,
    /// Whether and how it may move later.
    pub relocate: Option<Relocate>,
}

/// A name that nothing bears.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("no {what} is called \"{name}\"; there are {}", known.join(", "))]
pub struct UnknownName {
    /// What kind of thing was looked for.
    pub what: &'static str,
    /// As it was given.
    pub name: String,
    /// The names there are.
    pub known: Vec<&'static str>,
}

impl Recipe {
    /// The recipe of that name, without relocation.
    pub fn preset(name: &str) -> Result<Self, UnknownName> {
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        let known = || PRESETS.iter().map(|preset| preset.name).collect();
        preset.map(|preset| preset.recipe).ok_or_else(|| UnknownName {
            what: "policy",
            name: name.to_owned(),
            known: known(),
        })
    }

    /// Makes the policy.
    pub fn build(self) -> Matchmaker {
        Matchmaker::new(self)
    }
}

impl fmt::Display for Relocate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.when {
            When::AtEvents => write!(f, "{} at events", self.score.name())?,
            When::Every(period) => write!(f, "{} every {} s", self.score.name(), period.seconds())?,
        }
        write!(f, ", at most {} moves, for ", self.moves_max)?;
        match self.score {
            Score::MinNum => write!(f, "a difference of {} tasks or more", self.difference_min),
            Score::Greedy | Score::Social | Score::SocialAsPrinted => {
                write!(f, "a gain above {}", self.gain_min)
            }
        }
    }
}

/// Two recipes read alike only if they are.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.relocate {
            None => write!(f, "{}, no relocation", self.place.name()),
            Some(relocate) => write!(f, "{}, relocation by {relocate}", self.place.name()),
        }
    }
}

impl Score {
    /// The score of that name.
    pub fn named(name: &str) -> Result<Self, UnknownName> {
        let known = || Score::ALL.iter().map(|score| score.name()).collect();
        let score = Score::ALL.into_iter().find(|score| score.name() == name);
        score.ok_or_else(|| UnknownName { what: "score", name: name.to_owned(), known: known() })
    }
}
