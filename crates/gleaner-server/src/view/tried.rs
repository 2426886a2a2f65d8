//! Where a try of a task failed, among what rules machines out: the ledger keeps tasks away from there by a clause that no user wrote.

use crate::ledger::keeps_away;
use gleaner_core::explain::RuledOut;
use gleaner_core::{Condition, Explanation, Remedy};

/// A condition by its meaning.
pub(super) fn condition(of: Condition) -> Condition {
    match of {
        Condition::TaskRequires(clause) if keeps_away(&clause) => Condition::HasNotFailedIt,
        other => other,
    }
}

/// All of an explanation, likewise. Each machine has a clause of its own there, and all of them mean the same.
pub(super) fn explanation(of: Explanation) -> Explanation {
    let mut ruled_out: Vec<RuledOut> = Vec::new();
    for ruled in of.ruled_out {
        let ruled = RuledOut { condition: condition(ruled.condition), ..ruled };
        match ruled_out.iter_mut().find(|other| other.condition == ruled.condition) {
            Some(same) => {
                same.machines += ruled.machines;
                same.alone += ruled.alone;
                same.first += ruled.first;
            }
            None => ruled_out.push(ruled),
        }
    }
    let mut remedies: Vec<Remedy> = Vec::new();
    for remedy in of.remedies {
        let remedy = Remedy { conditions: remedy.conditions.into_iter().map(condition).collect(), ..remedy };
        match remedies.iter_mut().find(|other| other.conditions == remedy.conditions) {
            Some(same) => same.machines += remedy.machines,
            None => remedies.push(remedy),
        }
    }
    ruled_out.sort_by_key(|ruled| std::cmp::Reverse(ruled.machines));
    remedies.sort_by_key(|remedy| std::cmp::Reverse(remedy.machines));
    Explanation { ruled_out, remedies, ..of }
}
