//! Tasks that are left, and which of them a bid may take.

use crate::backlog::{Size, Waiting};
use crate::batch::Batch;
use crate::batch::bid::Bid;
use crate::batch::kinds::Kind;

/// From the first size to the last.
pub(super) type Sizes = (Size, Size);

/// A task that is left, with its kind.
pub(super) type Candidate = (usize, Waiting);

/// Those with a task left, of the priority that is placed now.
pub(super) fn kinds_left<'a>(batch: &'a Batch<'_>) -> impl Iterator<Item = (usize, &'a Kind<'a>)> {
    let numbered = batch.kinds.iter().enumerate();
    numbered.filter(|(_, tasks)| tasks.priority == batch.priority && tasks.span().is_some())
}

pub(super) fn lowest(candidates: impl Iterator<Item = Candidate>) -> Option<Candidate> {
    candidates.min_by_key(|(_, task)| task.id)
}

/// The sizes that a bid may take.
pub(super) fn stretch(batch: &Batch<'_>, tasks: &Kind<'_>, bid: &Bid) -> Option<Sizes> {
    let (shortest, longest) = tasks.lengths()?;
    if shortest > bid.longest {
        return None;
    }
    let longest = longest.min(bid.longest);
    let Some(conditions) = batch.conditions(tasks) else {
        return Some((Size::of(shortest), Size::of(longest)));
    };
    let first = conditions.first_allowed((shortest, longest), bid.terms)?;
    Some((Size::of(first), Size::of(conditions.last_allowed(first, longest, bid.terms))))
}
