//! The 24 orders of arrival, no owners; with what sections 2.2, 2.3 and 4 say of them.

use super::{NO_SOCIAL, READINGS, guard, id, percent_of_all, reading, ties};
use crate::bertasi::permutations::{Samples, Variations};
use crate::bertasi::scheme::{Parameters, Scheme, name};
use crate::statistics::{Estimate, mean, range, share};
use crate::{Claim, Condition, Criterion};
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
            first_permutations(samples, social),
            relocators_similar(samples, social, RELOCATORS_SIMILAR),
            min_num_loss(samples, social, MIN_NUM_LOSS),
            min_num_avoid(samples, social),
            near_optimum(samples, social),
        ]);
        claims.extend(gap_above_11(samples, social));
        claims.extend(variations.map(|variations| any_allocator(variations, social)));
    }
    let whole = Score::SocialWhole;
    claims.extend([
        relocators_similar(samples, whole, RELOCATORS_SIMILAR),
        min_num_loss(samples, whole, MIN_NUM_LOSS),
        near_optimum(samples, whole),
    ]);
    claims.extend(
        [Score::Greedy, Score::Social, Score::SocialWhole, Score::SocialAsPrinted]
            .into_iter()
            .flat_map(|score| [fair(samples, score), balanced(samples, score)]),
    );
    claims.extend(variations.map(|variations| any_allocator(variations, whole)));
    claims.extend(variations.map(guard::figure_3));
    claims.extend(variations.into_iter().flat_map(ties::claims));
    claims
}

/// What the paper says of a figure.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// What the claim is called.
    pub(super) name: &'static str,
    /// The words.
    pub(super) claim: &'static str,
    /// What they come to.
    pub(super) paper: &'static str,
}

const RELOCATORS_SIMILAR: Said = Said {
    name: "figure-3/relocators-similar",
    claim: "the GREEDY and SOCIAL relocators exhibit similar performances",
    paper: "similar",
};
const MIN_NUM_LOSS: Said = Said {
    name: "figure-3/minnum-loss",
    claim: "the MIN-NUM relocater experiences an average 10% performance loss",
    paper: "10 %",
};

/// Of the makespans of SOCIAL and GREEDY, in this order: above 0 where something is so. Linear, so that its mean over the seeds is
/// that of the averages.
type Difference = fn(f64, f64) -> f64;

fn social_ends_first(social: f64, greedy: f64) -> f64 {
    greedy - social
}

fn greedy_ends_first(social: f64, greedy: f64) -> f64 {
    social - greedy
}

fn greedy_takes_over_11_more(social: f64, greedy: f64) -> f64 {
    greedy - (1.0 + GAP) * social
}

/// The share of permutations in which something is so of SOCIAL alone and GREEDY alone: as the paper reckons, of makespans
/// averaged over the runs. **The interval reaches from the permutations in which it surely is so to those in which it may be**, by
/// the interval over seeds of each.
fn won(samples: &Samples, social: Score, cases: Range<usize>, difference: Difference) -> Estimate {
    let of_case = |case| samples.over_seeds(|seed| difference_of(samples, social, (case, seed), difference));
    percent_of_all(Estimate::share_above_0(cases.map(of_case)))
}

fn difference_of(
    samples: &Samples,
    social: Score,
    (case, seed): (usize, usize),
    difference: Difference,
) -> f64 {
    let takes = |score| samples.makespan_s(Scheme::alone(score), case, seed);
    difference(takes(social), takes(Score::Greedy))
}

/// The same run by run, in words.
fn run_by_run(samples: &Samples, social: Score, cases: Range<usize>, difference: Difference) -> String {
    let Estimate { mean, low, high } = percent_of_all(samples.over_seeds(|seed| {
        let cases = cases.clone();
        share(cases.map(|case| difference_of(samples, social, (case, seed), difference) > 0.0))
    }));
    format!("run by run: {mean:.1} %, {low:.1} to {high:.1}")
}

fn social_better(samples: &Samples, social: Score) -> Claim {
    let excess = |case, seed| samples.excess(Scheme::alone(social), Scheme::alone(Score::Greedy), case, seed);
    Claim {
        id: id("figure-3/social-better", social),
        claim: "without relocation, the makespan obtained with the SOCIAL allocator is in general better than the \
                one with the GREEDY one",
        paper: "better",
        quantity: "how much longer SOCIAL takes than GREEDY, on average over the permutations".to_owned(),
        besides: None,
        measured: samples.over_all(excess).percent(),
        unit: "%",
        criterion: Criterion::Negative,
        condition: Some(Condition {
            what: "SOCIAL wins more than half of the permutations",
            met: won(samples, social, 0..samples.cases(), social_ends_first).mean > 50.0,
        }),
        reading: reading(social),
    }
}

fn greedy_wins(samples: &Samples, social: Score) -> Claim {
    let cases = 0..samples.cases();
    Claim {
        id: id("figure-3/greedy-wins", social),
        claim: "without relocation, GREEDY wins over SOCIAL in 21% of the permutations",
        paper: "21 %",
        quantity: "permutations in which GREEDY ends first, by makespans averaged over the seeds".to_owned(),
        besides: Some(run_by_run(samples, social, cases.clone(), greedy_ends_first)),
        measured: won(samples, social, cases, greedy_ends_first),
        unit: "% of permutations",
        criterion: Criterion::Near { value: 21.0, holds: 10.0, partly: 29.0 },
        condition: None,
        reading: reading(social),
    }
}

fn greedy_wins_gap(samples: &Samples, social: Score) -> Claim {
    let (alone, greedy) = (Scheme::alone(social), Scheme::alone(Score::Greedy));
    let of_averages = samples.largest_of_averages(|takes| takes(alone) / takes(greedy) - 1.0);
    let of_runs = samples.over_seeds(|seed| {
        range((0..samples.cases()).map(|case| samples.excess(alone, greedy, case, seed))).1.max(0.0)
    });
    Claim {
        id: id("figure-3/greedy-wins-gap", social),
        claim: "where GREEDY wins over SOCIAL, it does with at most a 11% gap",
        paper: "at most 11 %",
        quantity:
            "how much longer SOCIAL takes than GREEDY in the permutation where GREEDY wins by most, by \
                   makespans averaged over the seeds"
                .to_owned(),
        besides: Some(format!("run by run: {:.1} %", 100.0 * of_runs.mean)),
        // Where GREEDY wins nowhere, there is no gap.
        measured: Estimate::largest([of_averages, Estimate::known(0.0)]).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 11.0, partly: 22.0 },
        condition: None,
        reading: reading(social),
    }
}

fn social_wins(samples: &Samples, social: Score) -> Claim {
    let cases = 0..samples.cases();
    Claim {
        id: id("figure-3/social-wins", social),
        claim: "without relocation, SOCIAL outperforms GREEDY on 79% of these instances",
        paper: "79 %",
        quantity: "permutations in which SOCIAL ends first, by makespans averaged over the seeds".to_owned(),
        besides: Some(run_by_run(samples, social, cases.clone(), social_ends_first)),
        measured: won(samples, social, cases, social_ends_first),
        unit: "% of permutations",
        criterion: Criterion::Near { value: 79.0, holds: 10.0, partly: 29.0 },
        condition: None,
        reading: reading(social),
    }
}

/// Of all permutations, and of those alone that SOCIAL wins: the paper's sentence goes on from these.
fn gap_above_11(samples: &Samples, social: Score) -> [Claim; 2] {
    let cases = 0..samples.cases();
    let above = won(samples, social, cases.clone(), greedy_takes_over_11_more);
    let all = Claim {
        id: id("figure-3/gap-above-11", social),
        claim: "the gap is more than 11% in 37% of the instances",
        paper: "37 %",
        quantity:
            "permutations in which GREEDY takes over 11 % longer than SOCIAL, by makespans averaged over the \
                   seeds"
                .to_owned(),
        besides: Some(run_by_run(samples, social, cases.clone(), greedy_takes_over_11_more)),
        measured: above,
        unit: "% of permutations",
        criterion: Criterion::Near { value: 37.0, holds: 10.0, partly: 20.0 },
        condition: None,
        reading: reading(social),
    };
    let of_won = Claim {
        id: id("figure-3/gap-above-11-of-won", social),
        quantity: "the same of the permutations alone in which SOCIAL ends first".to_owned(),
        besides: None,
        measured: part_of(above, won(samples, social, cases, social_ends_first)).percent(),
        unit: "% of permutations won",
        ..all.clone()
    };
    [all, of_won]
}

/// A share of a share, as wide as both leave it; none of none.
fn part_of(part: Estimate, whole: Estimate) -> Estimate {
    let over = |part: f64, whole: f64| if part > 0.0 { (part / whole).min(1.0) } else { 0.0 };
    Estimate {
        mean: over(part.mean, whole.mean),
        low: over(part.low, whole.high),
        high: over(part.high, whole.low),
    }
}

fn first_permutations(samples: &Samples, social: Score) -> Claim {
    let first = FIRST.min(samples.cases());
    let measured = won(samples, social, 0..first, social_ends_first);
    let others = won(samples, social, first..samples.cases(), social_ends_first);
    Claim {
        id: id("figure-3/first-permutations", social),
        claim: "SOCIAL beats GREEDY in particular in the first permutations, that is, when jobs with composition \
                vector C3 are the last jobs submitted",
        paper: "in particular",
        quantity:
            "permutations 1 to 6 in which SOCIAL alone ends before GREEDY alone, by makespans averaged over \
                   the seeds"
                .to_owned(),
        besides: Some(run_by_run(samples, social, 0..first, social_ends_first)),
        measured,
        unit: "% of 6 permutations",
        criterion: Criterion::AtLeast { holds: 83.0, partly: 50.0 },
        condition: Some(Condition {
            what: "the share is smaller in the others",
            met: measured.mean > others.mean,
        }),
        reading: reading(social),
    }
}

pub(super) fn relocators_similar(samples: &Samples, social: Score, said: Said) -> Claim {
    let (social_moving, greedy) = (Scheme::relocating(social), Scheme::relocating(Score::Greedy));
    Claim {
        id: id(said.name, social),
        claim: said.claim,
        paper: said.paper,
        quantity: "how much longer SOCIAL takes than GREEDY, both with relocation".to_owned(),
        besides: None,
        measured: samples.over_all(|case, seed| samples.excess(social_moving, greedy, case, seed)).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 0.0, holds: 3.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}

/// How much longer MIN-NUM takes than the mean of GREEDY and SOCIAL, all with relocation.
fn min_num_excess(samples: &Samples, social: Score) -> Estimate {
    let excess = |case, seed| {
        let takes = |score| samples.makespan_s(Scheme::relocating(score), case, seed);
        takes(Score::MinNum) / f64::midpoint(takes(Score::Greedy), takes(social)) - 1.0
    };
    samples.over_all(excess).percent()
}

pub(super) fn min_num_loss(samples: &Samples, social: Score, said: Said) -> Claim {
    Claim {
        id: id(said.name, social),
        claim: said.claim,
        paper: said.paper,
        quantity: "how much longer MIN-NUM takes than GREEDY and SOCIAL on average, with relocation"
            .to_owned(),
        besides: None,
        measured: min_num_excess(samples, social),
        unit: "%",
        criterion: Criterion::Near { value: 10.0, holds: 3.0, partly: 10.0 },
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
    samples.over_all(excess).percent()
}

fn min_num_avoid(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-3/minnum-avoid", social),
        claim: "when relocation is not used, the MIN-NUM should be avoided",
        paper: "the worst of the three",
        quantity: "how much longer MIN-NUM takes than the slower of GREEDY and SOCIAL, without relocation"
            .to_owned(),
        besides: None,
        measured: min_num_alone_excess(samples, social),
        unit: "%",
        criterion: Criterion::Positive,
        condition: None,
        reading: reading(social),
    }
}

fn near_optimum(samples: &Samples, score: Score) -> Claim {
    let (id, reading) = match score {
        Score::Greedy => ("conclusion/near-optimum-greedy".to_owned(), NO_SOCIAL),
        _ => (id("conclusion/near-optimum-social", score), reading(score)),
    };
    Claim {
        id,
        claim: "our approach effectively exploits the computational resources at hand, keeping the completion time \
                of the jobs low",
        paper: "low",
        quantity: format!(
            "{}: how far the makespan with relocation is above the lower bound, on figure 3",
            name(score)
        ),
        besides: None,
        measured: samples.over_all(|case, seed| samples.gap(Scheme::relocating(score), case, seed)).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 20.0, partly: 100.0 },
        condition: None,
        reading,
    }
}

/// Its name for a score whose own the statement does not say.
fn of_scheme(name: &str, score: Score) -> (String, &'static str) {
    match score {
        Score::Greedy => (format!("{name}-greedy"), NO_SOCIAL),
        _ => (id(&format!("{name}-social"), score), reading(score)),
    }
}

fn fair(samples: &Samples, score: Score) -> Claim {
    let (id, reading) = of_scheme("conclusion/fair", score);
    let scheme = Scheme::relocating(score);
    Claim {
        id,
        claim: "our strategy results in a proper, fair, and balanced allocation of the jobs: fair",
        paper: "fair",
        quantity: format!(
            "{}: Jain's index of the jobs' slowdowns with relocation, on figure 3",
            name(score)
        ),
        besides: None,
        measured: samples.over_all(|case, seed| samples.run(scheme, case, seed).fairness).percent(),
        unit: "% of 100",
        criterion: Criterion::AtLeast { holds: 80.0, partly: 50.0 },
        condition: None,
        reading,
    }
}

fn balanced(samples: &Samples, score: Score) -> Claim {
    let (id, reading) = of_scheme("conclusion/balanced", score);
    let scheme = Scheme::relocating(score);
    Claim {
        id,
        claim: "our strategy results in a proper, fair, and balanced allocation of the jobs: balanced",
        paper: "balanced",
        quantity: format!(
            "{}: part of the machines' time until the makespan in which they have something to run, with relocation, on \
             figure 3",
            name(score)
        ),
        besides: None,
        measured: samples.over_all(|case, seed| samples.run(scheme, case, seed).busy).percent(),
        unit: "%",
        criterion: Criterion::AtLeast { holds: 80.0, partly: 50.0 },
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
                   13 and 19".to_owned(),
        besides: None,
        measured: trials.over_seeds(spread).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 3.0, partly: 10.0 },
        condition: None,
        reading: reading(social),
    }
}
