//! What tasks would lose if they did not get the machine that is best for them.
//!
//! When a task would be done is, by its length, a line for each bid; so what it would lose, which is the difference of
//! the two lowest lines, is made of straight pieces. **The largest loss is that of the first or the last task of a
//! piece**, and where a piece is flat, all its tasks lose the same. Pieces are kept from choice to choice ([`kept`](super::kept)).
//!
//! Cost: O(bids) for each stretch of lengths in which the same bids are allowed, and for each piece O(those that may be among
//! the best two of longer tasks).

use super::candidates::{Candidate, Sizes, lowest, stretch};
use crate::backlog::{Size, Waiting};
use crate::batch::Batch;
use crate::batch::bid::Bid;
use crate::batch::kinds::Kind;
use crate::batch::lines::{Line, best_two, crossing, loss, may_be_best};
use crate::batch::pieces::Piece;
use crate::parts::when::Holding;
use std::iter::successors;

/// Whether each task left may take all bids.
pub(super) fn takes_all(batch: &Batch<'_>, tasks: &Kind<'_>) -> bool {
    batch.conditions(tasks).is_none() && batch.recipe.hold == Holding::Never
}

/// The kind's tasks, cut wherever a bid begins or ceases to be allowed, or two of the best change places.
pub(super) fn add_pieces(batch: &Batch<'_>, (kind, tasks): (usize, &Kind<'_>), pieces: &mut Vec<Piece>) {
    let Some((shortest, longest)) = tasks.span() else { return };
    let all = (shortest.size(), longest.size());
    let bids = batch.within_means(tasks, (shortest.length.amount(), longest.length.amount()));
    let (mut whole, mut partial): (Vec<&Bid>, Vec<(Sizes, &Bid)>) = (Vec::new(), Vec::new());
    if takes_all(batch, tasks) {
        whole.extend(bids);
    } else {
        for bid in bids {
            match stretch(batch, tasks, bid) {
                Some(sizes) if sizes == all => whole.push(bid),
                Some(sizes) => partial.push((sizes, bid)),
                None => {}
            }
        }
    }
    let stretches = partial.iter().map(|(sizes, _)| *sizes).chain(tasks.asides().iter().copied());
    let begins: Vec<Size> = stretches.flat_map(|(first, last)| [first, last.next()]).collect();
    for sizes in cut(all, begins) {
        let Some((first, last)) = ends(tasks, sizes) else { continue };
        let covers = |(from, until): Sizes| from <= first.size() && last.size() <= until;
        let partial = partial.iter().filter(|(sizes, _)| covers(*sizes)).map(|(_, bid)| *bid);
        let bids = whole.iter().copied().chain(partial);
        add_straight((kind, tasks), (first, last), bids, pieces);
    }
}

/// Sizes in stretches, a new one at each of the sizes given.
fn cut((first, last): Sizes, mut begins: Vec<Size>) -> Vec<Sizes> {
    begins.retain(|&size| first < size && size <= last);
    begins.push(first);
    begins.sort_unstable();
    begins.dedup();
    let ends = begins[1..].iter().map(|next| next.previous()).chain([last]).collect::<Vec<Size>>();
    begins.into_iter().zip(ends).collect()
}

/// The first and the last task left of these sizes.
pub(super) fn ends(tasks: &Kind<'_>, (first, last): Sizes) -> Option<(Waiting, Waiting)> {
    let shortest = tasks.at_or_after(first).filter(|task| task.size() <= last)?;
    Some((shortest, tasks.before(last.next())?))
}

/// The tasks from the first to the last, which may take all these bids, from the shortest to the longest.
pub(super) fn add_straight<'a>(
    (kind, tasks): (usize, &Kind<'_>),
    (first, last): (Waiting, Waiting),
    bids: impl Iterator<Item = &'a Bid> + Clone,
    pieces: &mut Vec<Piece>,
) {
    let [shortest, longest] = [first, last].map(|task| task.length.amount());
    let lines = bids.map(Line::of);
    let mut lines: Vec<Line> =
        lines.clone().filter(may_be_best(best_two(lines, shortest), longest)).collect();
    let mut next = Some(first);
    while let Some(first) = next {
        let length = first.length.amount();
        let best = best_two(lines.iter().copied(), length);
        lines.retain(may_be_best(best, longest));
        let from = crossing(&lines, best, length).map_or(Size::BEYOND, Size::of);
        next = tasks.at_or_after(from).filter(|task| task.size() <= last.size());
        let last = if next.is_some() { tasks.before(from) } else { Some(last) };
        pieces.push(Piece::new(kind, (first, last.expect("the first is before")), best));
    }
}

impl Piece {
    /// The first and the last task.
    pub(super) fn ends(&self) -> [Candidate; 2] {
        [self.first, self.last].map(|task| (self.kind, task))
    }

    /// The bid that is the only best for a task of the piece; nothing where another ties.
    pub(super) fn only_best(&self, batch: &Batch<'_>, task: Waiting) -> Option<Bid> {
        let line = self.best[0].filter(|_| loss(self.best, task.length.amount()) > 0.0)?;
        batch.kinds[self.kind].bids_of(line.pool).iter().copied().find(|bid| Line::of(bid) == line)
    }

    /// Its shortest tasks, its longest, and those between, of a piece of several sizes.
    pub(super) fn apart(self, batch: &Batch<'_>) -> Vec<Self> {
        let tasks = &batch.kinds[self.kind];
        let (shortest, longest) = (self.first.size(), self.last.size());
        let between = (shortest.next(), longest.previous());
        let sizes = [(shortest, shortest), between, (longest, longest)].into_iter();
        let parts = sizes.filter(|(from, until)| from <= until).filter_map(|sizes| ends(tasks, sizes));
        parts.map(|ends| Self::new(self.kind, ends, self.best)).collect()
    }

    /// Of the tasks that lose so much the lowest.
    pub(super) fn lowest_above(&self, batch: &Batch<'_>, threshold: f64) -> Option<Candidate> {
        if self.largest_loss() < threshold {
            return None;
        }
        let tasks = &batch.kinds[self.kind];
        let candidate = |task: Waiting| (self.kind, task);
        if self.losses[0] == self.losses[1] {
            return Some(candidate(tasks.lowest_of((self.first.size(), self.last.size()))));
        }
        let ties = |task: &Waiting| loss(self.best, task.length.amount()) >= threshold;
        let sizes = self.first.size()..=self.last.size();
        let up = successors(Some(self.first), |task| tasks.at_or_after(task.size().next()));
        let down = successors(Some(self.last), |task| tasks.before(task.size()));
        let up = up.take_while(|task| sizes.contains(&task.size()) && ties(task));
        let down = down.take_while(|task| sizes.contains(&task.size()) && ties(task));
        // Equally long tasks are in order of id: of each run the first.
        lowest(up.chain(down.filter_map(|task| tasks.at_or_after(task.size()))).map(candidate))
    }
}
