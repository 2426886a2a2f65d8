//! Sufferage in passes: each machine that is best for some task gets the one of those that would lose most.
//!
//! When machines are ready, what is allowed and what tasks would lose is as it was when the pass began. **A pass is a
//! function of the grid at its beginning**: where the policy goes on from a grid in the middle of one, which takes a batch of
//! more plans than fit into one answer, a new pass begins.

use super::candidates::{Candidate, lowest};
use super::kept::{pieces, renew};
use crate::batch::Batch;
use crate::batch::pieces::Piece;
use crate::batch::target::Target;
use gleaner_core::tie_threshold;
use std::collections::BTreeMap;

/// The pieces of the tasks that want a machine, by machine.
type Suitors = BTreeMap<usize, (Target, Vec<Piece>)>;

/// Which tasks go where, in order of machines.
pub(in crate::batch) fn pass(batch: &mut Batch<'_>) -> Vec<(Candidate, Target)> {
    renew(batch);
    let batch = &*batch;
    let mut suitors = Suitors::new();
    for piece in pieces(batch) {
        add(batch, *piece, &mut suitors);
    }
    let chosen = suitors.into_values().filter_map(|(target, pieces)| {
        let most = pieces.iter().map(Piece::largest_loss).max_by(f64::total_cmp)?;
        let threshold = tie_threshold(most);
        Some((lowest(pieces.iter().filter_map(|piece| piece.lowest_above(batch, threshold)))?, target))
    });
    chosen.collect()
}

/// A piece's tasks all want the same machine, but for those at its ends for which another ties.
fn add(batch: &Batch<'_>, piece: Piece, suitors: &mut Suitors) {
    let targets = piece.ends().map(|next| batch.place(next, piece.only_best(batch, next.1)));
    if targets[0].place.rank() == targets[1].place.rank() {
        let (_, pieces) = suitors.entry(targets[0].place.rank()).or_insert((targets[0], Vec::new()));
        pieces.push(piece);
    } else {
        piece.apart(batch).into_iter().for_each(|part| add(batch, part, suitors));
    }
}
