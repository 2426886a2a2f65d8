//! The 24 orders of arrival, no owners; with what sections 2.2, 2.3 and 4 say of them.

use super::{NO_SOCIAL, READINGS, id, percent, percent_of_all, reading};
use crate::bertasi::permutations::{Samples, Variations};
use crate::bertasi::scheme::{Parameters, Scheme};
use crate::statistics::{Estimate, mean, range, share};
use crate::{Claim, Condition, Rule};
use gleaner_policy::Score;
use std::ops::Range;

/// The paper's gap between GREEDY and SOCIAL.
const GAP: f64 = 0.11;
/// IDs 1 to 6: C₃ comes last.
const FIRST: usize = 6;

/// All claims of figure 3, and of section 2.3 if the variations were run.
pub fn claims(samples: &Samples, variations: Option<&Variations>) -> Vec<Claim> {
    let mut claims = vec![near_optimum(samples, Score::Greedy)];
    for social in READINGS {
        claims.extend([
            social_better(samples, social),
            greedy_wins(samples, social),
            greedy_wins_gap(samples, social),
            social_wins(samples, social),
            gap_above_11(samples, social),
            first_permutations(samples, social),
            relocators_similar(samples, social),
            min_num_loss(samples, social),
            min_num_avoid(samples, social),
            near_optimum(samples, social),
        ]);
        claims.extend(variations.map(|variations| any_allocator(variations, social)));
    }
    claims
}

/// Whether SOCIAL alone ends before GREEDY alone.
fn social_ends_first(samples: &Samples, social: Score, case: usize, seed: usize) -> bool {
    samples.excess(Scheme::alone(social), Scheme::alone(Score::Greedy), case, seed) < 0.0
}

fn social_share(samples: &Samples, social: Score) -> Estimate {
    percent_of_all(samples.over_all(|case, seed| share([social_ends_first(samples, social, case, seed)])))
}

/// The excess of one scheme over another as the paper reckons: between makespans averaged over the runs.
fn excess_of_means(samples: &Samples, scheme: Scheme, other: Scheme, case: usize) -> f64 {
    let average = |scheme| mean((0..samples.seeds()).map(|seed| samples.makespan_s(scheme, case, seed)));
    average(scheme) / average(other) - 1.0
}

/// The share of permutations in which the averages of SOCIAL alone, relative to GREEDY alone, are so.
fn of_averages(samples: &Samples, social: Score, cases: Range<usize>, is_so: impl Fn(f64) -> bool) -> Option<String> {
    let (social, greedy) = (Scheme::alone(social), Scheme::alone(Score::Greedy));
    let won = share(cases.map(|case| is_so(excess_of_means(samples, social, greedy, case))));
    Some(format!("of the makespans averaged over the seeds, as in the paper: {:.1} %", 100.0 * won))
}

fn social_better(samples: &Samples, social: Score) -> Claim {
    let excess = |case, seed| samples.excess(Scheme::alone(social), Scheme::alone(Score::Greedy), case, seed);
    Claim {
        id: id("figure-3/social-better", social),
        claim: "without relocation, the makespan obtained with the SOCIAL allocator is in general better than the \
                one with the GREEDY one",
        paper: "better",
        quantity: "how much longer SOCIAL takes than GREEDY, on average over the permutations",
        besides: None,
        measured: percent(samples.over_all(excess)),
        unit: "%",
        rule: Rule::Negative,
        condition: Some(Condition {
            what: "SOCIAL wins more than half of the permutations",
            met: social_share(samples, social).mean > 50.0,
        }),
        reading: reading(social),
    }
}

fn greedy_wins(samples: &Samples, social: Score) -> Claim {
    let won = samples.over_all(|case, seed| share([!social_ends_first(samples, social, case, seed)]));
    Claim {
        id: id("figure-3/greedy-wins", social),
        claim: "without relocation, GREEDY wins over SOCIAL in 21% of the permutations",
        paper: "21 %",
        quantity: "permutations in which GREEDY ends first",
        besides: of_averages(samples, social, 0..samples.cases(), |excess| excess >= 0.0),
        measured: percent_of_all(won),
        unit: "% of permutations",
        rule: Rule::Near { value: 21.0, holds: 10.0, partly: 29.0 },
        condition: None,
        reading: reading(social),
    }
}

fn greedy_wins_gap(samples: &Samples, social: Score) -> Claim {
    let excess = |case, seed| samples.excess(Scheme::alone(social), Scheme::alone(Score::Greedy), case, seed);
    let widest = |seed| range((0..samples.cases()).map(|case| excess(case, seed))).1.max(0.0);
    let (alone, greedy) = (Scheme::alone(social), Scheme::alone(Score::Greedy));
    let of_means = |case| excess_of_means(samples, alone, greedy, case);
    let widest_of_means = range((0..samples.cases()).map(of_means)).1.max(0.0);
    Claim {
        id: id("figure-3/greedy-wins-gap", social),
        claim: "where GREEDY wins over SOCIAL, it does with at most a 11% gap",
        paper: "at most 11 %",
        quantity: "how much longer SOCIAL takes than GREEDY in the permutation where GREEDY wins by most",
        besides: Some(format!(
            "of the makespans averaged over the seeds, as in the paper: {:.1} %",
            100.0 * widest_of_means
        )),
        measured: percent(samples.over_seeds(widest)),
        unit: "%",
        rule: Rule::AtMost { holds: 11.0, partly: 22.0 },
        condition: None,
        reading: reading(social),
    }
}

fn social_wins(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-3/social-wins", social),
        claim: "without relocation, SOCIAL outperforms GREEDY on 79% of these instances",
        paper: "79 %",
        quantity: "permutations in which SOCIAL ends first",
        besides: of_averages(samples, social, 0..samples.cases(), |excess| excess < 0.0),
        measured: social_share(samples, social),
        unit: "% of permutations",
        rule: Rule::Near { value: 79.0, holds: 10.0, partly: 29.0 },
        condition: None,
        reading: reading(social),
    }
}

fn gap_above_11(samples: &Samples, social: Score) -> Claim {
    let wide = |case, seed| {
        let excess = samples.excess(Scheme::alone(Score::Greedy), Scheme::alone(social), case, seed);
        share([excess > GAP])
    };
    Claim {
        id: id("figure-3/gap-above-11", social),
        claim: "the gap is more than 11% in 37% of the instances",
        paper: "37 %",
        quantity: "permutations in which GREEDY takes over 11 % longer than SOCIAL",
        besides: of_averages(samples, social, 0..samples.cases(), |excess| 1.0 / (1.0 + excess) - 1.0 > GAP),
        measured: percent_of_all(samples.over_all(wide)),
        unit: "% of permutations",
        rule: Rule::Near { value: 37.0, holds: 10.0, partly: 20.0 },
        condition: None,
        reading: reading(social),
    }
}

fn first_permutations(samples: &Samples, social: Score) -> Claim {
    let wins = |cases: Range<usize>| {
        let of = |seed| share(cases.clone().map(|case| social_ends_first(samples, social, case, seed)));
        percent_of_all(samples.over_seeds(of))
    };
    let first = FIRST.min(samples.cases());
    let (early, late) = (wins(0..first), wins(first..samples.cases()));
    Claim {
        id: id("figure-3/first-permutations", social),
        claim: "SOCIAL beats GREEDY in particular in the first permutations, that is, when jobs with composition \
                vector C3 are the last jobs submitted",
        paper: "in particular",
        quantity: "permutations 1 to 6 in which SOCIAL alone ends before GREEDY alone",
        besides: of_averages(samples, social, 0..first, |excess| excess < 0.0),
        measured: early,
        unit: "% of 6 permutations",
        rule: Rule::AtLeast { holds: 83.0, partly: 50.0 },
        condition: Some(Condition {
            what: "the share is smaller in the others",
            met: early.mean > late.mean,
        }),
        reading: reading(social),
    }
}

fn relocators_similar(samples: &Samples, social: Score) -> Claim {
    let (social_moving, greedy) = (Scheme::relocating(social), Scheme::relocating(Score::Greedy));
    Claim {
        id: id("figure-3/relocators-similar", social),
        claim: "the GREEDY and SOCIAL relocators exhibit similar performances",
        paper: "similar",
        quantity: "how much longer SOCIAL takes than GREEDY, both with relocation",
        besides: None,
        measured: percent(samples.over_all(|case, seed| samples.excess(social_moving, greedy, case, seed))),
        unit: "%",
        rule: Rule::Near { value: 0.0, holds: 3.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}

/// How much longer MIN-NUM takes than the mean of GREEDY and SOCIAL, all with relocation.
pub(super) fn min_num_excess(samples: &Samples, social: Score) -> Estimate {
    let excess = |case, seed| {
        let takes = |score| samples.makespan_s(Scheme::relocating(score), case, seed);
        takes(Score::MinNum) / f64::midpoint(takes(Score::Greedy), takes(social)) - 1.0
    };
    percent(samples.over_all(excess))
}

fn min_num_loss(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-3/minnum-loss", social),
        claim: "the MIN-NUM relocater experiences an average 10% performance loss",
        paper: "10 %",
        quantity: "how much longer MIN-NUM takes than GREEDY and SOCIAL on average, with relocation",
        besides: None,
        measured: min_num_excess(samples, social),
        unit: "%",
        rule: Rule::Near { value: 10.0, holds: 3.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}

/// How much longer MIN-NUM alone takes than the slower of GREEDY alone and SOCIAL alone.
pub(super) fn min_num_alone_excess(samples: &Samples, social: Score) -> Estimate {
    let excess = |case, seed| {
        let takes = |score| samples.makespan_s(Scheme::alone(score), case, seed);
        takes(Score::MinNum) / takes(Score::Greedy).max(takes(social)) - 1.0
    };
    percent(samples.over_all(excess))
}

fn min_num_avoid(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-3/minnum-avoid", social),
        claim: "when relocation is not used, the MIN-NUM should be avoided",
        paper: "the worst of the three",
        quantity: "how much longer MIN-NUM takes than the slower of GREEDY and SOCIAL, without relocation",
        besides: None,
        measured: min_num_alone_excess(samples, social),
        unit: "%",
        rule: Rule::Positive,
        condition: None,
        reading: reading(social),
    }
}

fn near_optimum(samples: &Samples, score: Score) -> Claim {
    let (name, reading) = match score {
        Score::Greedy => ("conclusion/near-optimum-greedy".to_owned(), NO_SOCIAL),
        _ => (id("conclusion/near-optimum-social", score), reading(score)),
    };
    Claim {
        id: name,
        claim: "our approach effectively exploits the computational resources at hand, keeping the completion time \
                of the jobs low",
        paper: "low",
        quantity: "how far the makespan with relocation is above the lower bound, on figure 3",
        besides: None,
        measured: percent(samples.over_all(|case, seed| samples.gap(Scheme::relocating(score), case, seed))),
        unit: "%",
        rule: Rule::AtMost { holds: 20.0, partly: 100.0 },
        condition: None,
        reading,
    }
}

fn any_allocator(variations: &Variations, social: Score) -> Claim {
    let trials = &variations.away;
    let schemes = [Score::Greedy, social, Score::MinNum].into_iter().flat_map(|allocator| {
        [Score::Greedy, social].map(|relocator| Scheme { allocator, relocator: Some(relocator) })
    });
    let recipes: Vec<_> = schemes.map(|scheme| scheme.recipe(Parameters::default())).collect();
    let level = |recipe, seed| mean((0..trials.cases()).map(|case| trials.makespan_s(recipe, case, seed)));
    let spread = |seed| {
        let (low, high) = range(recipes.iter().map(|recipe| level(*recipe, seed)));
        high / low - 1.0
    };
    Claim {
        id: id("section-2.3/any-allocator", social),
        claim: "the GREEDY and the SOCIAL relocaters attain the same performances, independently of the adopted \
                allocation procedure",
        paper: "the same",
        quantity: "slowest of GREEDY and SOCIAL relocators under any allocator above the fastest, permutations 1, 7, \
                   13 and 19",
        besides: None,
        measured: percent(trials.over_seeds(spread)),
        unit: "%",
        rule: Rule::AtMost { holds: 3.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}
