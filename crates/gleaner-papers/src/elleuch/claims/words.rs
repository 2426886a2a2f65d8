//! What claims are called, and what was read how.

use crate::elleuch::case::{Heuristic, Month, Variant};

pub(super) const NO_CONDITION: &str =
    "94 and 101 machines, ten times as fast as printed; condition (5) has no part in it";

/// How the conditions were read.
pub(super) fn reading(reading: Variant) -> &'static str {
    match reading {
        Variant::WithinPeriod => {
            "94 and 101 machines; condition (5) as printed; BT on the cheapest machines and those ready within the period"
        }
        Variant::AsDerived => "94 and 101 machines; condition (5) as derived; line 9 to the letter",
        Variant::CheapestAsOthers => {
            "94 and 101 machines; condition (5) as printed; BT's condition (4) for the cheapest machines too"
        }
        Variant::CheapestIfReady => {
            "94 and 101 machines; condition (5) as printed; the cheapest machines only if ready within the period"
        }
        _ => "94 and 101 machines; condition (5) as printed; line 9 to the letter",
    }
}

/// What each reading but the letter adds to a claim's name, and how a table calls it.
pub(in crate::elleuch) const SUFFIXES: [(&str, &str); 4] = [
    ("-as-derived", "(5) as derived"),
    ("-cheapest-if-ready", "The cheapest if ready"),
    ("-cheapest-as-others", "BT with (4) for the cheapest too"),
    ("-within-period", "BT within the period"),
];

/// With the reading at the end, if it is not the letter.
pub(super) fn id(name: String, reading: Variant) -> String {
    match reading {
        Variant::AsDerived => name + "-as-derived",
        Variant::CheapestIfReady => name + "-cheapest-if-ready",
        Variant::CheapestAsOthers => name + "-cheapest-as-others",
        Variant::WithinPeriod => name + "-within-period",
        _ => name,
    }
}

/// `september` or `june`.
pub(super) fn slug(month: Month) -> String {
    month.name().to_lowercase()
}

pub(super) fn heuristic_slug(heuristic: Heuristic) -> &'static str {
    match heuristic {
        Heuristic::MinMin => "min-min",
        Heuristic::MaxMin => "max-min",
        Heuristic::Sufferage => "sufferage",
    }
}
