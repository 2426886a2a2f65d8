//! What planning for classes saves.

use super::words::{NO_CONDITION, slug};
use crate::elleuch::case::Month;
use crate::elleuch::setups;
use crate::statistics::Estimate;
use crate::{Claim, Criterion};

/// How many days are looked at.
const DAYS: u32 = 5;

pub(super) fn claim(month: Month) -> Claim {
    let by_day: Vec<(f64, f64)> = (0..DAYS).map(|day| setups::workers_and_classes(month, day)).collect();
    let times: Vec<f64> = by_day.iter().map(|(workers, classes)| workers / classes).collect();
    Claim {
        id: format!("section-4.2/lbtt-looks-at-fewer-{}", slug(month)),
        claim: "the scheduling algorithm computes schedules of tasks onto a limited number N of worker-sets without \
                considering all the workers",
        paper: "N instead of |G|",
        quantity: "how many times as many workers as classes of them there are, for each assignment"
            .to_owned(),
        besides: None,
        measured: Estimate::of(&times),
        unit: "times",
        criterion: Criterion::AtLeast { holds: 2.0, partly: 1.1 },
        condition: None,
        reading: NO_CONDITION,
    }
}
