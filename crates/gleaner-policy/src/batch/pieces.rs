//! Tasks that would lose something if they did not get the machine that is best for them: those for which the same two bids are
//! best lie together.

use super::lines::{BestTwo, loss};
use crate::backlog::Waiting;

/// Tasks of a kind, of neighbouring sizes, for which the same bids are the best two.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) kind: usize,
    pub(super) first: Waiting,
    pub(super) last: Waiting,
    pub(super) best: BestTwo,
    /// Of the first and of the last.
    pub(super) losses: [f64; 2],
    /// Whether it has to be made anew.
    pub(super) is_stale: bool,
}

impl Piece {
    pub(super) fn new(kind: usize, (first, last): (Waiting, Waiting), best: BestTwo) -> Self {
        let losses = [first, last].map(|task| loss(best, task.length.amount()));
        Self { kind, first, last, best, losses, is_stale: false }
    }

    pub(super) fn largest_loss(&self) -> f64 {
        self.losses[0].max(self.losses[1])
    }
}

/// The pieces of all tasks left of a kind, in order of size; some are stale.
#[derive(Default)]
pub(super) struct Pieces(pub(super) Vec<Piece>);

impl Pieces {
    /// A pool makes other offers.
    pub(super) fn hear(&mut self, pool: usize) {
        for piece in &mut self.0 {
            piece.is_stale |= piece.best.iter().flatten().any(|line| line.pool == pool);
        }
    }

    /// A task is no longer one of those left.
    pub(super) fn take(&mut self, task: Waiting) {
        let number = self.0.partition_point(|piece| piece.last.size() < task.size());
        if let Some(piece) = self.0.get_mut(number) {
            piece.is_stale = true;
        }
    }
}
