//! Sufferage: the task that would lose most if it did not get the machine that is best for it.

use super::losses::{Piece, add_pieces};
use super::{Candidate, kinds_left, lowest};
use crate::batch::Batch;
use gleaner_core::tie_threshold;

pub(super) fn next(batch: &Batch<'_>) -> Option<Candidate> {
    let mut pieces = Vec::new();
    kinds_left(batch).for_each(|kind| add_pieces(batch, kind, &mut pieces));
    let threshold = tie_threshold(pieces.iter().map(Piece::largest_loss).max_by(f64::total_cmp)?);
    lowest(pieces.iter().filter_map(|piece| piece.lowest_above(batch, threshold)))
}
