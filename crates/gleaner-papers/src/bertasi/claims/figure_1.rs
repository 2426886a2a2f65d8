//! N and θ hardly matter.

use super::{ALL_READINGS, NO_SOCIAL, id, percent_of_all, reading};
use crate::bertasi::figure_1::{Samples, level_s, sweep};
use crate::bertasi::scheme;
use crate::statistics::{range, share};
use crate::{Claim, Criterion};
use gleaner_policy::Score;

/// All claims of figure 1.
pub fn claims(samples: &Samples) -> Vec<Claim> {
    let mut claims = vec![
        fluctuation(samples, Score::Greedy),
        fluctuation(samples, Score::Social),
        fluctuation(samples, Score::SocialWhole),
        fluctuation(samples, Score::SocialAsPrinted),
        fluctuation(samples, Score::MinNum),
    ];
    for social in ALL_READINGS {
        claims.push(equivalent(samples, social));
        claims.push(min_num_close(samples, social));
        claims.push(any_pair_constant(samples, social));
        claims.push(relocators_best(samples, social));
    }
    claims
}

/// (Largest − smallest)/smallest makespan over N and θ with one seed.
fn spread(samples: &Samples, allocator: Score, relocator: Score, seed: usize) -> f64 {
    let (low, high) = range(sweep(allocator, relocator).map(|recipe| samples.makespan_s(recipe, 0, seed)));
    high / low - 1.0
}

fn fluctuation(samples: &Samples, score: Score) -> Claim {
    let (name, reading) = match score {
        Score::Greedy => ("greedy", NO_SOCIAL),
        Score::Social => ("social", reading(score)),
        Score::SocialWhole => ("social-whole", reading(score)),
        Score::SocialAsPrinted => ("social-as-printed", reading(score)),
        Score::MinNum => ("minnum", "a difference of at least 2 tasks"),
        Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => unreachable!("another paper's score"),
    };
    Claim {
        id: format!("figure-1/fluctuation-{name}"),
        claim: "all the relocators exhibit small fluctuations (about 1%) when N or θ changes",
        paper: "about 1 %",
        quantity: format!(
            "{}: largest less smallest makespan over all N and θ, relative to the smallest",
            scheme::name(score)
        ),
        besides: None,
        measured: samples.over_seeds(|seed| spread(samples, score, score, seed)).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 1.5, partly: 3.0 },
        condition: None,
        reading,
    }
}

fn equivalent(samples: &Samples, social: Score) -> Claim {
    let excess = |seed| {
        level_s(samples, social, social, seed) / level_s(samples, Score::Greedy, Score::Greedy, seed) - 1.0
    };
    Claim {
        id: id("figure-1/greedy-social-equivalent", social),
        claim: "the GREEDY and SOCIAL relocators are almost equivalent",
        paper: "almost equivalent",
        quantity: "how much longer SOCIAL takes than GREEDY, on average over N and θ".to_owned(),
        besides: None,
        measured: samples.over_seeds(excess).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 0.0, holds: 1.0, partly: 3.0 },
        condition: None,
        reading: reading(social),
    }
}

fn min_num_close(samples: &Samples, social: Score) -> Claim {
    let excess = |seed| {
        let level = |score| level_s(samples, score, score, seed);
        level(Score::MinNum) / f64::midpoint(level(Score::Greedy), level(social)) - 1.0
    };
    Claim {
        id: id("figure-1/minnum-close", social),
        claim: "the difference between our relocators and the MIN-NUM one is small in the analyzed data set",
        paper: "small",
        quantity: "how much longer MIN-NUM takes than GREEDY and SOCIAL on average".to_owned(),
        besides: None,
        measured: samples.over_seeds(excess).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 0.0, holds: 5.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}

fn any_pair_constant(samples: &Samples, social: Score) -> Claim {
    let scores = [Score::Greedy, social, Score::MinNum];
    let worst = |seed| {
        let pairs =
            scores.iter().flat_map(|allocator| scores.iter().map(move |relocator| (allocator, relocator)));
        range(pairs.map(|(allocator, relocator)| spread(samples, *allocator, *relocator, seed))).1
    };
    Claim {
        id: id("figure-1/any-allocator-constant", social),
        claim: "with any allocator/relocator combination, in all cases the makespan remains almost constant \
                changing N and θ",
        paper: "almost constant",
        quantity: "largest less smallest makespan over N and θ, of the combination where it is largest"
            .to_owned(),
        besides: None,
        measured: samples.over_seeds(worst).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 1.5, partly: 3.0 },
        condition: None,
        reading: reading(social),
    }
}

fn relocators_best(samples: &Samples, social: Score) -> Claim {
    let better = |seed| {
        let allocators = [Score::Greedy, social, Score::MinNum].into_iter();
        share(allocators.flat_map(|allocator| {
            let level = move |relocator| level_s(samples, allocator, relocator, seed);
            [Score::Greedy, social].map(|relocator| level(relocator) < level(Score::MinNum))
        }))
    };
    Claim {
        id: id("figure-1/relocators-best", social),
        claim: "the GREEDY and SOCIAL relocators provide the best makespans independently of the used allocator",
        paper: "with any allocator",
        quantity:
            "pairs of allocator and GREEDY or SOCIAL relocator that end before the MIN-NUM relocator does"
                .to_owned(),
        besides: None,
        measured: percent_of_all(samples.over_seeds(better)),
        unit: "% of 6 pairs",
        criterion: Criterion::AtLeast { holds: 95.0, partly: 50.0 },
        condition: None,
        reading: reading(social),
    }
}
