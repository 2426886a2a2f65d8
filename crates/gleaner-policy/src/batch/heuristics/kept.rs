//! The pieces of all tasks left, kept from choice to choice.
//!
//! **Within a batch no machine is ready earlier than before.** So where nothing limits which bids a task may take, a piece
//! stays as it is until a task of it is taken, or a pool of its best two makes other offers. Only such pieces are made anew;
//! where something does limit that, all are.

use super::candidates::kinds_left;
use super::losses::{add_pieces, add_straight, ends, takes_all};
use crate::backlog::Waiting;
use crate::batch::Batch;
use crate::batch::lines::{Line, best_two, loss, rounding};
use crate::batch::pieces::Piece;

/// The pieces of all tasks left of the priority that is placed now, if they are up to date.
pub(super) fn pieces<'a>(batch: &'a Batch<'_>) -> impl Iterator<Item = &'a Piece> {
    kinds_left(batch).flat_map(|(_, tasks)| &tasks.pieces.0)
}

/// Brings these up to date.
pub(super) fn renew(batch: &mut Batch<'_>) {
    for kind in 0..batch.kinds.len() {
        if batch.kinds[kind].priority != batch.priority {
            continue;
        }
        let mut pieces = std::mem::take(&mut batch.kinds[kind].pieces.0);
        let tasks = &batch.kinds[kind];
        if takes_all(batch, tasks) && tasks.asides().is_empty() && !pieces.is_empty() {
            renew_stale(batch, kind, &mut pieces);
        } else {
            pieces.clear();
            add_pieces(batch, (kind, tasks), &mut pieces);
        }
        debug_assert!(are_right(batch, kind, &pieces), "the pieces hold what each task would lose");
        batch.kinds[kind].pieces.0 = pieces;
    }
}

/// Puts others in the place of the pieces that are stale.
fn renew_stale(batch: &Batch<'_>, kind: usize, pieces: &mut Vec<Piece>) {
    let (tasks, mut anew, mut from) = (&batch.kinds[kind], Vec::new(), 0);
    while let Some(stale) = pieces[from..].iter().position(|piece| piece.is_stale) {
        let first = from + stale;
        let count = pieces[first..].iter().take_while(|piece| piece.is_stale).count();
        let until = first + count;
        if let Some(ends) = ends(tasks, (pieces[first].first.size(), pieces[until - 1].last.size())) {
            add_straight((kind, tasks), ends, tasks.bids.iter(), &mut anew);
        }
        from = first + anew.len();
        pieces.splice(first..until, anew.drain(..));
    }
}

/// Whether each task left is in a piece, and what those at the ends of pieces would lose is what all bids say. Costs
/// O(pieces × bids).
fn are_right(batch: &Batch<'_>, kind: usize, pieces: &[Piece]) -> bool {
    let tasks = &batch.kinds[kind];
    let mut next = tasks.span().map(|(shortest, _)| shortest);
    let is_right = |task: Waiting, lost: f64| {
        let length = task.length.amount();
        let allowed = tasks.bids.iter().filter(|bid| batch.allows(tasks, length, bid));
        let best = best_two(allowed.map(Line::of), length);
        (loss(best, length) - lost).abs() <= rounding(best, length)
    };
    let are_right = pieces.iter().all(|piece| {
        let follows = next == Some(piece.first);
        next = tasks.at_or_after(piece.last.size().next());
        follows && is_right(piece.first, piece.losses[0]) && is_right(piece.last, piece.losses[1])
    });
    are_right && next.is_none()
}
