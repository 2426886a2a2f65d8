//! The same orders of arrival when four owners come back.

use super::figure_3::{Said, min_num_alone_excess, min_num_loss, relocators_similar};
use super::{READINGS, guard, id, reading};
use crate::bertasi::permutations::{Samples, Variations};
use crate::bertasi::scheme::Scheme;
use crate::statistics::{mean, range};
use crate::{Claim, Criterion};
use gleaner_policy::Score;

/// All claims of figure 4; `away` is figure 3.
pub fn claims(away: &Samples, samples: &Samples, variations: Option<&Variations>) -> Vec<Claim> {
    let of_readings = READINGS.into_iter().flat_map(|social| {
        [
            like_figure_3(away, samples, social),
            relocators_similar(samples, social, RELOCATORS_SIMILAR),
            min_num_loss(samples, social, MIN_NUM_LOSS),
            without_huge(samples, social),
            min_num_hugest(samples, social),
        ]
    });
    let whole = Score::SocialWhole;
    let of_whole = [
        like_figure_3(away, samples, whole),
        relocators_similar(samples, whole, RELOCATORS_SIMILAR),
        min_num_loss(samples, whole, MIN_NUM_LOSS),
    ];
    of_readings.chain(of_whole).chain(variations.map(guard::figure_4)).collect()
}

const SIMILAR: &str = "with relocation, performances are similar to those described above regarding Figure 3";
const RELOCATORS_SIMILAR: Said =
    Said { name: "figure-4/relocators-similar", claim: SIMILAR, paper: "GREEDY and SOCIAL similar" };
const MIN_NUM_LOSS: Said = Said { name: "figure-4/minnum-loss", claim: SIMILAR, paper: "MIN-NUM loses 10 %" };

fn level_s(samples: &Samples, scheme: Scheme, seed: usize) -> f64 {
    mean((0..samples.cases()).map(|case| samples.makespan_s(scheme, case, seed)))
}

fn like_figure_3(away: &Samples, samples: &Samples, social: Score) -> Claim {
    let worst = |seed| {
        let schemes = [Score::Greedy, social, Score::MinNum].map(Scheme::relocating);
        range(schemes.map(|scheme| level_s(samples, scheme, seed) / level_s(away, scheme, seed) - 1.0)).1
    };
    Claim {
        id: id("figure-4/like-figure-3", social),
        claim: SIMILAR,
        paper: "similar",
        quantity: "how much longer than on figure 3 the scheme with relocation takes that suffers most"
            .to_owned(),
        besides: None,
        measured: samples.over_seeds(worst).percent(),
        unit: "%",
        criterion: Criterion::AtMost { holds: 10.0, partly: 50.0 },
        condition: None,
        reading: reading(social),
    }
}

fn without_huge(samples: &Samples, social: Score) -> Claim {
    let least = |seed| {
        let scores = [Score::Greedy, social, Score::MinNum];
        let times = |score| {
            level_s(samples, Scheme::alone(score), seed) / level_s(samples, Scheme::relocating(score), seed)
        };
        range(scores.map(times)).0
    };
    Claim {
        id: id("figure-4/without-huge", social),
        claim: "disabling relocations yields huge makespans",
        paper: "huge",
        quantity: "makespan without relocation over that with it, of the scheme where this is smallest"
            .to_owned(),
        besides: None,
        measured: samples.over_seeds(least),
        unit: "times",
        criterion: Criterion::AtLeast { holds: 3.0, partly: 1.5 },
        condition: None,
        reading: reading(social),
    }
}

fn min_num_hugest(samples: &Samples, social: Score) -> Claim {
    Claim {
        id: id("figure-4/minnum-hugest", social),
        claim: "in particular under the MIN-NUM allocator since it does not take into account the owner load",
        paper: "the hugest",
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
