//! Who is set aside where each task may cost no more than its share of what is left.
//!
//! Whoever is set aside leaves more for each of the others. So **one goes at a time, the dearest at its lowest price, of equals the last**,
//! until all that are left have a place. If all went together that are too dear for an even share, nobody might be left for
//! whom the larger share would do, in this batch and in all that follow.
//!
//! These rules ask for nothing but what a task costs: if the dearest has a place, all have.

use super::candidates::Candidate;
use super::kinds_left;
use crate::batch::Batch;

/// Costs O(kinds) for each that goes.
pub(super) fn set_dearest_aside(batch: &mut Batch<'_>) {
    while let Some((kind, task)) = dearest_without_place(batch) {
        batch.leave_out(kind, task);
    }
}

/// The dearest of all that have no place: of each kind that is the longest, if any, and bids are in order of price.
fn dearest_without_place(batch: &Batch<'_>) -> Option<Candidate> {
    let without_place = kinds_left(batch).filter_map(|(kind, tasks)| {
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
