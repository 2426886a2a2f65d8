//! How much of what SOCIAL as printed loses is ties: it is 0 on many machines, and then the first machine wins.

use crate::bertasi::permutations::{ORDERS, VARIED, Variations};
use crate::bertasi::scheme::Scheme;
use crate::bertasi::setups::MachineOrder;
use crate::statistics::mean;
use crate::{Claim, Criterion};
use gleaner_policy::Score;

/// The claims about SOCIAL as printed with other ties than to the slowest.
pub fn claims(variations: &Variations) -> impl Iterator<Item = Claim> + '_ {
    let others = [
        (
            MachineOrder::FastestFirst,
            "-ties-to-the-fastest",
            "SOCIAL as printed, ties to the fastest machine",
        ),
        (MachineOrder::Shuffled, "-ties-shuffled", "SOCIAL as printed, ties to the machines in any order"),
    ];
    others.into_iter().flat_map(move |(order, suffix, reading)| {
        let claim = |name: &str, claim, paper, schemes, quantity: &str, criterion| Claim {
            id: format!("{name}{suffix}"),
            claim,
            paper,
            quantity: format!("{quantity}, permutations 1, 7, 13 and 19"),
            besides: None,
            measured: variations.ties.over_seeds(|seed| excess(variations, order, schemes, seed)).percent(),
            unit: "%",
            criterion,
            condition: None,
            reading,
        };
        [
            claim(
                "figure-3/social-better",
                "without relocation, the makespan obtained with the SOCIAL allocator is in general better than the \
                 one with the GREEDY one",
                "better",
                [Scheme::alone(Score::SocialAsPrinted), Scheme::alone(Score::Greedy)],
                "how much longer SOCIAL takes than GREEDY",
                Criterion::Negative,
            ),
            claim(
                "figure-3/relocators-similar",
                "the GREEDY and SOCIAL relocators exhibit similar performances",
                "similar",
                [Scheme::relocating(Score::SocialAsPrinted), Scheme::relocating(Score::Greedy)],
                "how much longer SOCIAL takes than GREEDY, both with relocation",
                Criterion::Near { value: 0.0, holds: 3.0, partly: 10.0 },
            ),
        ]
    })
}

/// How much longer the first takes than the second, with the machines in an order.
pub(in crate::bertasi) fn excess(
    variations: &Variations,
    order: MachineOrder,
    [longer, shorter]: [Scheme; 2],
    seed: usize,
) -> f64 {
    let at = ORDERS.iter().position(|known| *known == order).expect("an order that was run");
    let cases = at * VARIED.len()..(at + 1) * VARIED.len();
    mean(cases.map(|case| variations.ties.excess(longer, shorter, case, seed)))
}
