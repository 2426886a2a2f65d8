//! Figures 3 and 4: every scheme on the 24 orders of arrival, with and without owners; and variations on a few of
//! them.

use super::jobs::PERMUTATIONS;
use super::scheme::{Parameters, Scheme};
use super::setups::MachineOrder;
use super::{figure_1, setups};
use crate::{Stopped, Trials, Watch};
use gleaner_policy::{Recipe, Relocate, Score, When};
use gleaner_sim::Setup;
use gleaner_units::Span;

/// What was run, by scheme; a case is a permutation, counted from 0.
pub type Samples = Trials<Scheme>;

/// The paper's six, in the order of its captions.
pub const SIX: [Scheme; 6] = [
    Scheme::relocating(Score::Greedy),
    Scheme::relocating(Score::Social),
    Scheme::relocating(Score::MinNum),
    Scheme::alone(Score::Greedy),
    Scheme::alone(Score::Social),
    Scheme::alone(Score::MinNum),
];

/// SOCIAL to the letter, with and without its relocator; and its relocator by the whole sum, whose allocator is SOCIAL's.
pub const BESIDE: [Scheme; 3] = [
    Scheme::relocating(Score::SocialAsPrinted),
    Scheme::alone(Score::SocialAsPrinted),
    Scheme::relocating(Score::SocialWhole),
];

/// Which figure's owners.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owners {
    /// Figure 3: none.
    Away,
    /// Figure 4: four of them.
    OfFigure4,
}

impl Owners {
    fn setup(self, permutation: usize, seed: u64) -> Setup {
        match self {
            Owners::Away => setups::figure_3(permutation, seed),
            Owners::OfFigure4 => setups::figure_4(permutation, seed),
        }
    }
}

/// What is asked of figures 3 and 4.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// How many permutations, from the first on.
    pub permutations: usize,
    /// How many seeds each.
    pub seeds: u64,
    /// N, θ and MIN-NUM's guard.
    pub parameters: Parameters,
}

impl Plan {
    /// The paper's, but for the number of seeds.
    pub fn with_seeds(seeds: u64) -> Self {
        Self { permutations: PERMUTATIONS.len(), seeds, parameters: Parameters::default() }
    }

    /// How many simulations a figure takes.
    pub fn simulations(&self) -> u64 {
        self.seeds * (self.permutations * (SIX.len() + BESIDE.len())) as u64
    }

    /// Simulates a figure.
    pub fn conduct(&self, owners: Owners, watch: Watch<'_>) -> Result<Samples, Stopped> {
        let schemes = SIX.into_iter().chain(BESIDE);
        let rules: Vec<_> = schemes.map(|scheme| (scheme, scheme.recipe(self.parameters))).collect();
        Trials::conduct(self.permutations, self.seeds, &rules, |case, seed| owners.setup(case, seed), watch)
    }
}

/// The first permutation of each of the paper's blocks, which share their last type.
pub const VARIED: [usize; 4] = [0, 6, 12, 18];

/// The periods that are compared with events, in seconds.
pub const PERIODS_S: [u64; 3] = [5, 25, 100];

/// What was run on [`VARIED`], by recipe.
#[derive(Clone, PartialEq, Debug)]
pub struct Variations {
    /// Without owners.
    pub away: Trials<Recipe>,
    /// With figure 4's.
    pub with_owners: Trials<Recipe>,
    /// Without owners, the machines in each of [`ORDERS`]; by order, then by permutation.
    pub ties: Trials<Scheme>,
}

/// The orders of machines in which ties were broken: ties go to the machine that comes first.
pub const ORDERS: [MachineOrder; 3] =
    [MachineOrder::SlowestFirst, MachineOrder::FastestFirst, MachineOrder::Shuffled];

/// GREEDY and SOCIAL as printed, whose scores tie on many machines.
pub const TYING: [Scheme; 4] = [
    Scheme::alone(Score::Greedy),
    Scheme::alone(Score::SocialAsPrinted),
    Scheme::relocating(Score::Greedy),
    Scheme::relocating(Score::SocialAsPrinted),
];

/// MIN-NUM with a guard of `difference_min`.
pub fn guarded(difference_min: u32) -> Recipe {
    Scheme::relocating(Score::MinNum).recipe(Parameters { difference_min, ..Parameters::default() })
}

/// A scheme that relocates every `period_s`, at most so many tasks.
pub fn periodic(score: Score, period_s: u64, moves_max: u32) -> Recipe {
    let recipe = Scheme::relocating(score).recipe(Parameters { moves_max, ..Parameters::default() });
    let when = When::Every(Span::from_nanos(period_s * 1_000_000_000));
    Recipe { relocate: recipe.relocate.map(|rule| Relocate { when, ..rule }), ..recipe }
}

/// Any allocator with any relocator, and with none.
pub fn matrix() -> impl Iterator<Item = Scheme> {
    let moving =
        figure_1::pairs().map(|(allocator, relocator)| Scheme { allocator, relocator: Some(relocator) });
    Score::ALL.map(Scheme::alone).into_iter().chain(moving)
}

/// The periodic rules: which score, every how many seconds, at most how many moves each time. A period has fewer
/// occasions than there are events, so GREEDY is also tried with a move for each machine.
pub fn periods() -> impl Iterator<Item = (Score, u64, u32)> {
    let thrice = [Score::Greedy, Score::Social, Score::MinNum].map(|score| (score, 3));
    let tries = thrice.into_iter().chain([(Score::Greedy, 70)]);
    tries.flat_map(|(score, moves_max)| PERIODS_S.map(|period_s| (score, period_s, moves_max)))
}

fn pairs_of(recipes: impl Iterator<Item = Recipe>) -> Vec<(Recipe, Recipe)> {
    recipes.map(|recipe| (recipe, recipe)).collect()
}

fn away() -> Vec<(Recipe, Recipe)> {
    let matrix = matrix().map(|scheme| scheme.recipe(Parameters::default()));
    let periods = periods().map(|(score, period_s, moves_max)| periodic(score, period_s, moves_max));
    // The matrix has MIN-NUM with the usual guard.
    pairs_of(matrix.chain([guarded(1)]).chain(periods))
}

fn with_owners() -> Vec<(Recipe, Recipe)> {
    let others = [Score::Greedy, Score::Social].map(Scheme::relocating);
    pairs_of(others.map(|scheme| scheme.recipe(Parameters::default())).into_iter().chain([1, 2].map(guarded)))
}

impl Variations {
    /// How many simulations a seed takes.
    pub fn simulations() -> u64 {
        (VARIED.len() * (away().len() + with_owners().len() + ORDERS.len() * TYING.len())) as u64
    }

    /// Simulates.
    pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Self, Stopped> {
        let setup = |owners: Owners| move |case: usize, seed| owners.setup(VARIED[case], seed);
        let ordered = |case: usize, seed| {
            let (order, permutation) = (ORDERS[case / VARIED.len()], VARIED[case % VARIED.len()]);
            setups::figure_3_in_order(permutation, seed, order)
        };
        let tying = TYING.map(|scheme| (scheme, scheme.recipe(Parameters::default())));
        Ok(Self {
            away: Trials::conduct(VARIED.len(), seeds, &away(), setup(Owners::Away), watch)?,
            with_owners: Trials::conduct(
                VARIED.len(),
                seeds,
                &with_owners(),
                setup(Owners::OfFigure4),
                watch,
            )?,
            ties: Trials::conduct(ORDERS.len() * VARIED.len(), seeds, &tying, ordered, watch)?,
        })
    }
}
