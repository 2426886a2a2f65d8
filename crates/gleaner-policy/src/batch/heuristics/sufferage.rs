//! Sufferage: the task that would lose most if it did not get the machine that is best for it.

use super::losses::{Piece, pieces, renew};
use super::{Candidate, lowest};
use crate::batch::Batch;
use gleaner_core::tie_threshold;

pub(super) fn next(batch: &mut Batch<'_>) -> Option<Candidate> {
    renew(batch);
    let threshold = tie_threshold(pieces(batch).map(Piece::largest_loss).max_by(f64::total_cmp)?);
    lowest(pieces(batch).filter_map(|piece| piece.lowest_above(batch, threshold)))
}
