//! Sufferage: the task that would lose most if it did not get the machine that is best for it.

use super::candidates::Candidate;
use super::kept::{pieces, renew};
use crate::batch::Batch;
use crate::batch::bid::Bid;
use crate::batch::pieces::Piece;
use gleaner_core::tie_threshold;

/// The task, and the one bid by which it is done first, where that is known.
pub(super) fn next(batch: &mut Batch<'_>) -> Option<(Candidate, Option<Bid>)> {
    renew(batch);
    let batch = &*batch;
    let threshold = tie_threshold(pieces(batch).map(Piece::largest_loss).max_by(f64::total_cmp)?);
    let tied = pieces(batch).filter_map(|piece| Some((piece, piece.lowest_above(batch, threshold)?)));
    let (piece, next) = tied.min_by_key(|(_, (_, task))| task.id)?;
    Some((next, piece.only_best(batch, next.1)))
}
