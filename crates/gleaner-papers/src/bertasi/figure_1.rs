//! Figure 1: how much N and θ matter. One entry of the samples for each choice of allocator, relocator, N and θ.

use super::FIGURE_1_GAINS;
use super::scheme::{Parameters, Scheme};
use super::setups;
use crate::statistics::mean;
use crate::{Stopped, Trials, Watch};
use gleaner_policy::{Recipe, Score};

/// N on the x axis. The paper's own are not in its text.
pub const MOVES: [u32; 5] = [1, 2, 3, 5, 10];

/// What was run, by recipe; one case.
pub type Samples = Trials<Recipe>;

/// All choices of N and θ for two parts; MIN-NUM knows no θ.
pub fn sweep(allocator: Score, relocator: Score) -> impl Iterator<Item = Recipe> {
    let gains = if relocator == Score::MinNum { &FIGURE_1_GAINS[..1] } else { &FIGURE_1_GAINS[..] };
    gains.iter().flat_map(move |gain| curve(allocator, relocator, *gain))
}

/// All choices of N for two parts and one θ, in the order of [`MOVES`].
pub fn curve(allocator: Score, relocator: Score, gain_min: f64) -> impl Iterator<Item = Recipe> {
    let scheme = Scheme { allocator, relocator: Some(relocator) };
    let parameters = move |moves_max| Parameters { moves_max, gain_min, ..Parameters::default() };
    MOVES.into_iter().map(move |moves_max| scheme.recipe(parameters(moves_max)))
}

/// Every allocator with every relocator, but for pairs of two readings of SOCIAL.
pub fn pairs() -> impl Iterator<Item = (Score, Score)> {
    let all = Score::ALL.into_iter().flat_map(|allocator| Score::ALL.map(|relocator| (allocator, relocator)));
    let is_social = |score| matches!(score, Score::Social | Score::SocialWhole | Score::SocialAsPrinted);
    all.filter(move |&(one, other)| one == other || !is_social(one) || !is_social(other))
}

fn recipes() -> Vec<(Recipe, Recipe)> {
    pairs()
        .flat_map(|(allocator, relocator)| sweep(allocator, relocator))
        .map(|recipe| (recipe, recipe))
        .collect()
}

/// How many simulations a seed takes.
pub fn simulations() -> u64 {
    recipes().len() as u64
}

/// Simulates.
pub fn conduct(seeds: u64, watch: Watch<'_>) -> Result<Samples, Stopped> {
    Trials::conduct(1, seeds, &recipes(), |_, seed| setups::figure_1(seed), watch)
}

/// The mean makespan over N and θ with one seed.
pub fn level_s(samples: &Samples, allocator: Score, relocator: Score, seed: usize) -> f64 {
    mean(sweep(allocator, relocator).map(|recipe| samples.makespan_s(recipe, 0, seed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_readings_of_social_are_mixed() {
        let readings = [Score::Social, Score::SocialWhole, Score::SocialAsPrinted];
        let of_social = pairs().filter(|(one, other)| readings.contains(one) && readings.contains(other));
        assert_eq!(of_social.collect::<Vec<_>>(), readings.map(|reading| (reading, reading)));
    }
}
