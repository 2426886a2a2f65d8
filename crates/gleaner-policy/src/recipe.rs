//! The choice of parts that makes a policy.

use crate::{AnyPolicy, Batcher, Matchmaker, PRESETS, Preset, Score, Spending};
use gleaner_core::exceeds;
use gleaner_units::{Span, Time};
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// When running tasks are moved, or waiting ones planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum When {
    /// Whenever something happens that may call for it.
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

/// Each task is placed by itself, as soon as there is a machine for it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Matching {
    /// Where a new task goes.
    pub place: Score,
    /// Whether and how it may move later.
    pub relocate: Option<Relocate>,
    /// How the budget is spent, where the grid has one.
    pub spending: Spending,
}

impl Matching {
    /// Placed by a score, and not moved; as if there were no budget.
    pub const fn by(place: Score) -> Self {
        Self { place, relocate: None, spending: Spending::Free }
    }

    /// Makes the policy.
    pub fn build(self) -> Matchmaker {
        Matchmaker::new(self)
    }
}

/// In which order the tasks of a batch are given their places.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

impl Order {
    /// Whether it asks what a task would lose, for which it has to know the best two machines.
    pub(crate) fn is_by_loss(self) -> bool {
        match self {
            Order::Sufferage | Order::SufferagePasses => true,
            Order::Submission | Order::MinMin | Order::MaxMin => false,
        }
    }
}

/// Which of the machines that the budget allows a task is given.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Aim {
    /// The one that is done first, whatever the deadline.
    Earliest,
    /// The cheapest that meets the deadline, or else the one that is done first.
    Cheapest,
    /// Of the cheapest that meet the deadline the one that is done first; if none does, the one that is done first.
    CheapestThenEarliest,
    /// The one that is fastest for it, however busy: MET.
    Fastest,
    /// The one that is free first, however slow: OLB.
    FirstFree,
    /// Of so many per cent of the machines, those that are fastest for it, the one that is done first: KPB.
    EarliestOfFastest {
        /// Above 0 and at most 100; it is always one machine at least.
        percent: f64,
    },
}

/// What tasks are planned for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Level {
    /// Machines, each with its own ready time.
    Machines,
    /// Classes of equal machines with one ready time, equation (6) of the second paper: the next task in rank goes to
    /// whichever machine of the class is free first.
    Classes,
}

/// Which of the tasks that were planned are planned anew by the next batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Replan {
    /// All that have not begun, as the second paper has it.
    #[default]
    Unbegun,
    /// Those whose machine was lost: other plans stand, however far ahead, as long as what they are for takes tasks. If
    /// some machine that something is planned for does not as a batch begins, all that has not begun is planned anew.
    Lost,
}

/// All tasks that wait are planned together, every so often or as soon as any come.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Batching {
    /// At each multiple of R, or as tasks come: plans stand then.
    pub when: When,
    /// Which task is next.
    pub order: Order,
    /// Where it goes. The three heuristics mean the earliest.
    pub aim: Aim,
    /// How the budget is spent, where the grid has one.
    pub spending: Spending,
    /// Machines or classes.
    pub level: Level,
    /// So many tasks of each batch, those that were submitted first, come before all others, so that none starves.
    pub aging: u32,
    /// By when everything should be done, for the aims that read it.
    pub deadline: Option<Time>,
    /// Which plans do not stand.
    #[serde(default)]
    pub replan: Replan,
}

/// A policy, as a choice of parts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Recipe {
    /// Each task by itself.
    Match(Matching),
    /// All together, every so often.
    Batch(Batching),
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
        let preset = Preset::named(name);
        let known = || PRESETS.iter().map(|preset| preset.name).collect();
        preset.map(|preset| preset.recipe).ok_or_else(|| UnknownName {
            what: "policy",
            name: name.to_owned(),
            known: known(),
        })
    }

    /// Makes the policy.
    pub fn build(self) -> AnyPolicy {
        match self {
            Recipe::Match(recipe) => AnyPolicy::Matchmaker(recipe.build()),
            Recipe::Batch(recipe) => AnyPolicy::Batcher(Batcher::new(recipe)),
        }
    }

    /// How it spends the budget.
    pub fn spending(&self) -> Spending {
        match self {
            Recipe::Match(recipe) => recipe.spending,
            Recipe::Batch(recipe) => recipe.spending,
        }
    }

    /// What moves running tasks, if anything does.
    pub fn relocate(&self) -> Option<&Relocate> {
        match self {
            Recipe::Match(recipe) => recipe.relocate.as_ref(),
            Recipe::Batch(_) => None,
        }
    }
}

impl From<Matching> for Recipe {
    fn from(recipe: Matching) -> Self {
        Recipe::Match(recipe)
    }
}

impl From<Batching> for Recipe {
    fn from(recipe: Batching) -> Self {
        Recipe::Batch(recipe)
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

impl fmt::Display for Matching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.relocate {
            None => write!(f, "{}, no relocation", self.place.name())?,
            Some(relocate) => write!(f, "{}, relocation by {relocate}", self.place.name())?,
        }
        match self.spending {
            Spending::Free => Ok(()),
            spending => write!(f, ", {spending}"),
        }
    }
}

impl fmt::Display for Batching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { when, order, aim, spending, level, aging, deadline, replan } = self;
        let order = match order {
            Order::Submission => "in order of submission",
            Order::MinMin => "min-min",
            Order::MaxMin => "max-min",
            Order::Sufferage => "sufferage",
            Order::SufferagePasses => "sufferage in passes",
        };
        let aim = match aim {
            Aim::Earliest => "the earliest end",
            Aim::Cheapest => "the lowest cost",
            Aim::CheapestThenEarliest => "the lowest cost, then the earliest end",
            Aim::Fastest => "the shortest time",
            Aim::FirstFree => "the earliest start",
            Aim::EarliestOfFastest { percent } => {
                &format!("the earliest end among the fastest {percent} % of the machines")
            }
        };
        let when = match when {
            When::AtEvents => "as tasks come".to_owned(),
            When::Every(period) => format!("batches every {} s", period.seconds()),
        };
        let level = match level {
            Level::Machines => "machines",
            Level::Classes => "classes of machines",
        };
        write!(f, "{when}, {order}, for {aim}, on {level}, {spending}")?;
        if *aging > 0 {
            write!(f, ", the {aging} oldest first")?;
        }
        if let Some(deadline) = deadline {
            write!(f, ", by {} s", deadline.seconds())?;
        }
        match replan {
            Replan::Unbegun => Ok(()),
            Replan::Lost => f.write_str(", plans stand"),
        }
    }
}

/// Two recipes read alike only if they are.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recipe::Match(recipe) => recipe.fmt(f),
            Recipe::Batch(recipe) => recipe.fmt(f),
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
