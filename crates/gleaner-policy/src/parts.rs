//! The parts that a policy is made of, one room for each.
//!
//! | part | room | choices so far |
//! |---|---|---|
//! | when | [`when`] | as tasks come · every so often; at once, or not on machines that are too slow |
//! | order | [`order`] | submission · Min-Min · Max-Min · Sufferage, also in passes |
//! | where | the grid itself | requirements, domains and room hold whatever the policy is; a budget adds its condition |
//! | score | [`score`], [`aim`], [`rank`] | the first paper's four, by how things are · a machine's power, reliability and energy · six by when a task would be done · the rank of a site |
//! | queue | [`queue`] | FCFS · EASY · conservative; as submitted · shortest · smallest area first; corrections |
//! | sites | [`sites`] | which sites first · what jobs behind may do · splitting · copies · readings of MRS |
//! | choose | [`choose`] | the best · of equals the latest, or any · the first · one drawn by its score · the better of two |
//! | belief | [`belief`] | as published · with what was sent since |
//! | lengths | [`lengths`] | declared · the last two · learnt · true |
//! | availability | [`staying`] | machines are taken to stay · how often they were lost |
//! | ahead | [`ahead`] | a machine gets a task when it has room · the next one before that, where tasks are short |
//! | budget | [`budget`] | none · B · BT · BTT · a moving price · shares, for machines or for classes |
//! | relocate | [`relocate`] | none · by a score |
//! | favours, queue, recall | [`favours`] | among peers: who is lent to, where tasks wait, what is taken back |
//! | replicate | [`replicate`] | one run · several, of which the first to end counts · as many as agree on the answer |
//!
//! **A choice is one variant, in its room, with its name, what it means and what it reads** ([`Choice`]). The compiler then
//! names the formulas and bounds that it lacks; nothing outside this crate asks which variant it has.

pub mod ahead;
pub mod aim;
pub mod belief;
pub mod budget;
pub mod choose;
pub mod favours;
pub mod lengths;
pub mod order;
pub mod queue;
pub mod rank;
pub mod relocate;
pub mod replicate;
pub mod score;
pub mod sites;
pub mod staying;
pub mod when;

use std::borrow::Cow;
use std::fmt::Debug;

/// What a policy goes by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Input {
    /// How many tasks each machine has.
    Counts,
    /// How fast each machine does a task's operations.
    Speeds,
    /// What owners use of their machines.
    OwnerLoads,
    /// How long tasks are, as their users declared it.
    Lengths,
    /// What machines cost.
    Prices,
    /// By when everything should be done.
    Deadline,
    /// What sites say of themselves.
    Published,
    /// Where files are, and how fast they move.
    Files,
    /// How long each user's tasks ran before.
    Runs,
    /// How often machines were lost.
    Stays,
    /// What peers did for each other.
    Favours,
    /// What room machines have.
    Room,
    /// What came of runs on each machine.
    Ends,
    /// What machines take at work.
    Watts,
}

impl Input {
    /// In plain words.
    pub fn name(self) -> &'static str {
        match self {
            Input::Counts => "the number of tasks on each machine",
            Input::Speeds => "machines' speeds",
            Input::OwnerLoads => "owners' loads",
            Input::Lengths => "declared lengths",
            Input::Prices => "prices",
            Input::Deadline => "the deadline",
            Input::Published => "what sites publish",
            Input::Files => "where files are and how fast they move",
            Input::Runs => "what ran before",
            Input::Stays => "how long machines stayed",
            Input::Favours => "what peers did for each other",
            Input::Room => "what machines have free",
            Input::Ends => "how many runs came to their end on each machine",
            Input::Watts => "machines' watts",
        }
    }
}

/// What a choice says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// As it is written.
    pub name: &'static str,
    /// In a sentence or two.
    pub meaning: &'static str,
    /// What it goes by.
    pub reads: &'static [Input],
}

/// What may be chosen for a part.
pub trait Choice: Copy + PartialEq + Debug + 'static {
    /// The choices, in the order in which help lists them.
    fn all() -> Vec<Self>;

    /// Its name, what it means and what it reads.
    fn about(&self) -> About;

    /// As it is written, with its number if it has one.
    fn name(&self) -> Cow<'static, str> {
        self.about().name.into()
    }

    /// The choice of that name.
    fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|choice| choice.name() == name)
    }
}
