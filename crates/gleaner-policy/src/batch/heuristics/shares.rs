//! Who is set aside where each task may cost no more than its share of what is left.
//!
//! Whoever is set aside leaves more for each of the others. So **one goes at a time, the dearest at its lowest price, of equals the last**,
//! until all that are left have a place. If all went together that are too dear for an even share, nobody might be left for
//! whom the larger share would do, in this batch and in all that follow.
//!
//! Less urgent ones of the same account that have no place either go before any that is more urgent: else those would find the larger
//! share, each time that such a one waits.
//!
//! These rules ask for nothing but what a task costs: if the dearest has a place, all have.

use super::candidates::Candidate;
use crate::batch::Batch;
use crate::batch::kinds::Kind;
use std::collections::BTreeSet;

/// Costs O(kinds × priorities + √tasks) for each that goes.
pub(super) fn set_dearest_aside(batch: &mut Batch<'_>) {
    while let Some(dearest) = dearest_without_place(batch, |tasks| tasks.priority == batch.priority) {
        let (kind, task) = less_urgent_without_place(batch, dearest.0).unwrap_or(dearest);
        batch.leave_out(kind, task);
    }
}

/// The dearest of the least urgent that are paid from what pays for a kind, have no place, and have not had their turn.
fn less_urgent_without_place(batch: &Batch<'_>, kind: usize) -> Option<Candidate> {
    let payer = batch.kinds[kind].conditions;
    let is_less = |tasks: &&Kind<'_>| tasks.conditions == payer && tasks.priority < batch.priority;
    let priorities: BTreeSet<i32> = batch.kinds.iter().filter(is_less).map(|tasks| tasks.priority).collect();
    priorities.into_iter().find_map(|priority| {
        dearest_without_place(batch, |tasks| tasks.conditions == payer && tasks.priority == priority)
    })
}

/// The dearest of all that count and have no place: of each kind that is the longest, if any, and bids are in order of price.
fn dearest_without_place(batch: &Batch<'_>, counts: impl Fn(&Kind<'_>) -> bool) -> Option<Candidate> {
    let numbered = batch.kinds.iter().enumerate().filter(|&(_, tasks)| counts(tasks));
    let without_place = numbered.filter_map(|(kind, tasks)| {
        let (_, longest) = tasks.span()?;
        let (length, cheapest) = (longest.length.amount(), tasks.bids.first());
        let has_place = cheapest.is_some_and(|bid| batch.allows(tasks, length, bid));
        let cost = cheapest.map_or(f64::INFINITY, |bid| length * bid.terms.price);
        (!has_place).then_some((cost, (kind, longest)))
    });
    let dearest = without_place
        .max_by(|(one, (_, task)), (other, (_, than))| one.total_cmp(other).then(task.id.cmp(&than.id)));
    dearest.map(|(_, candidate)| candidate)
}
