//! The MIN-NUM relocator without its guard: moves between machines that differ by one. On a few permutations.

use crate::bertasi::permutations::{Variations, guarded};
use crate::bertasi::scheme::{Parameters, Scheme};
use crate::{Claim, Criterion, Trials};
use gleaner_policy::{Recipe, Score};

/// Figure 3's loss.
pub fn figure_3(variations: &Variations) -> Claim {
    Claim {
        id: "figure-3/minnum-loss-difference-1".to_owned(),
        claim: "the MIN-NUM relocater experiences an average 10% performance loss",
        paper: "10 %",
        ..loss(&variations.away)
    }
}

/// Figure 4's loss.
pub fn figure_4(variations: &Variations) -> Claim {
    Claim {
        id: "figure-4/minnum-loss-difference-1".to_owned(),
        claim: "with relocation, performances are similar to those described above regarding Figure 3",
        paper: "MIN-NUM loses 10 %",
        ..loss(&variations.with_owners)
    }
}

fn loss(trials: &Trials<Recipe>) -> Claim {
    let excess = |case, seed| {
        let takes =
            |score| trials.makespan_s(Scheme::relocating(score).recipe(Parameters::default()), case, seed);
        let others = f64::midpoint(takes(Score::Greedy), takes(Score::Social));
        trials.makespan_s(guarded(1), case, seed) / others - 1.0
    };
    Claim {
        id: String::new(),
        claim: "",
        paper: "",
        quantity:
            "how much longer MIN-NUM, with a least difference of one task, takes than GREEDY and SOCIAL on \
                   average, with relocation, permutations 1, 7, 13 and 19"
                .to_owned(),
        besides: None,
        measured: trials.over_all(excess).percent(),
        unit: "%",
        criterion: Criterion::Near { value: 10.0, holds: 3.0, partly: 10.0 },
        condition: None,
        reading: "MIN-NUM moves at a difference of 1 task; SOCIAL by execution times",
    }
}
