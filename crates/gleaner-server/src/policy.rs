//! Policies as users write them, and the recipes that the scheduler builds.

use gleaner_policy::{Matching, Recipe, Relocate, Score, UnknownName, When};
use gleaner_units::Span;
use gleaner_wire::api::{PolicySpec, RelocateSpec};
use thiserror::Error;

/// What no policy can be built from.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum PolicyError {
    /// Nothing is called so.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// Tasks of a live grid are handed in without a length.
    #[error(
        "{0} plans by the declared lengths of tasks, and live tasks have none; try it in `gleaner simulate`"
    )]
    NeedsLengths(String),
    /// A number that has no meaning.
    #[error("relocate.{key} is {found}; expected {expected}")]
    OutOfRange {
        /// Which.
        key: &'static str,
        /// As it was given.
        found: f64,
        /// What it may be.
        expected: &'static str,
    },
}

/// N = 3 and θ = 10 % by GREEDY, at events: what a grid starts with.
pub fn default_relocation() -> RelocateSpec {
    let Relocate { score, moves_max, gain_min, difference_min, .. } = Relocate::by(Score::Greedy);
    RelocateSpec { score: score.name().to_owned(), moves_max, gain_min, difference_min, period_s: 0.0 }
}

/// The recipe that a policy stands for.
pub fn recipe(spec: &PolicySpec) -> Result<Matching, PolicyError> {
    let relocate = spec.relocate.as_ref().map(relocate).transpose()?;
    match Recipe::preset(&spec.preset)? {
        Recipe::Match(preset) => Ok(Matching { relocate, ..preset }),
        Recipe::Batch(_) => Err(PolicyError::NeedsLengths(spec.preset.clone())),
    }
}

fn relocate(spec: &RelocateSpec) -> Result<Relocate, PolicyError> {
    let RelocateSpec { moves_max, gain_min, difference_min, period_s, .. } = *spec;
    if !(gain_min.is_finite() && gain_min >= 0.0) {
        let expected = "a finite number, 0 or more";
        return Err(PolicyError::OutOfRange { key: "gain_min", found: gain_min, expected });
    }
    let when = match Span::from_seconds(period_s) {
        Some(Span::ZERO) => When::AtEvents,
        Some(period) => When::Every(period),
        None => {
            let expected = "a number of seconds, or 0 to move at events";
            return Err(PolicyError::OutOfRange { key: "period_s", found: period_s, expected });
        }
    };
    Ok(Relocate { score: Score::named(&spec.score)?, moves_max, gain_min, difference_min, when })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_built_is_refused_with_the_reason() {
        let good = PolicySpec { preset: "bertasi/social".into(), relocate: Some(default_relocation()) };
        assert!(recipe(&good).is_ok());
        let spec = |change: fn(&mut RelocateSpec)| {
            let mut relocate = default_relocation();
            change(&mut relocate);
            recipe(&PolicySpec { relocate: Some(relocate), ..good.clone() })
                .map_err(|error| error.to_string())
        };
        for (refused, named) in [
            (spec(|relocate| relocate.gain_min = f64::NAN), "relocate.gain_min is NaN"),
            (spec(|relocate| relocate.period_s = -1.0), "relocate.period_s is -1"),
            (spec(|relocate| relocate.score = "best".into()), "no score is called \"best\""),
            (recipe(&PolicySpec { preset: "x".into(), ..good.clone() }).map_err(|e| e.to_string()), "\"x\""),
            (
                recipe(&PolicySpec { preset: "elleuch/b-min-min".into(), ..good.clone() })
                    .map_err(|error| error.to_string()),
                "live tasks have none",
            ),
        ] {
            let message = refused.expect_err(named);
            assert!(message.contains(named), "{message}");
        }
    }
}
