//! What several modules need: seeds, moments, an empty grid, and a rule that moves tasks.

use gleaner_core::{Grid, GridConfig, Migration};
use gleaner_policy::{Recipe, Relocate, Score};
use gleaner_units::{Span, Time};

/// What χ² with so many degrees of freedom exceeds once in a thousand.
pub(crate) const CHI_SQUARE: [f64; 3] = [0.0, 10.828, 13.816];

/// As many as are usual for a test, or as the environment says.
pub(crate) fn seeds(usual: u64) -> impl Iterator<Item = u64> {
    let count = std::env::var("GLEANER_SEEDS").map_or(usual, |text| text.parse().expect("a number of seeds"));
    1..=count
}

pub(crate) fn at(seconds: f64) -> Time {
    Time::from_seconds(seconds).expect("a moment")
}

pub(crate) fn seconds(seconds: f64) -> Span {
    Span::from_seconds(seconds).expect("a span")
}

/// Nothing is there yet; speeds are of one kind.
pub(crate) fn empty() -> Grid {
    Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() })
}

/// One score after the other, by which tasks are placed and moved.
pub(crate) fn moving(seed: u64) -> Recipe {
    let score = Score::ALL[seed as usize % Score::ALL.len()];
    Recipe { relocate: Some(Relocate::by(score)), ..Recipe::by(score) }
}
