//! Why GREEDY alone loses where C₃ comes last.

use super::NO_SOCIAL;
use crate::bertasi::late::Samples;
use crate::statistics::{Estimate, mean};
use crate::{Claim, Condition, Criterion};

/// What GREEDY does with the tasks that come last.
pub fn claim(samples: &Samples) -> Claim {
    let [greedy, social] = [&samples.greedy, &samples.social].map(|shares| mean(shares.iter().copied()));
    Claim {
        id: "figure-3/late-c3-on-s0".to_owned(),
        claim: "the new jobs (of type C3, submitted last) are allocated by the GREEDY allocator to machines with speed vector \
                S0, since these machines have a smaller number of assigned jobs",
        paper: "to S0",
        quantity:
            "how many times an even share of the late C3 tasks GREEDY alone gives to S0, permutations 1 to 6"
                .to_owned(),
        besides: Some(format!("SOCIAL alone {social:.2} times")),
        measured: Estimate::of(&samples.greedy),
        unit: "times",
        criterion: Criterion::AtLeast { holds: 1.5, partly: 1.0 },
        condition: Some(Condition { what: "SOCIAL gives S0 fewer of them", met: social < greedy }),
        reading: NO_SOCIAL,
    }
}
