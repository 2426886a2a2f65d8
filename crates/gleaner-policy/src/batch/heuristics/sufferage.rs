//! Sufferage: the task that would lose most if it did not get the machine that is best for it.
//!
//! When a task would be done is, by its length, a line for each bid; so what it would lose, which is the difference of
//! the two lowest lines, is made of straight pieces. **The largest loss is that of the first or the last task of a
//! piece**, and where a piece is flat, all its tasks lose the same.

use super::{Candidate, Sizes, kinds_left, lowest, stretch};
use crate::backlog::{Size, Waiting};
use crate::batch::kinds::{Bid, Kind};
use crate::batch::{Batch, highest_tie};
use gleaner_core::tie_threshold;
use std::iter::successors;

/// How much worse than the second best an offer must be, relative to it, to be no one's second best by rounding either.
const CLEARLY: f64 = 1.0 + 1e-9;

/// Tasks of a kind, of neighbouring sizes, for which the same bids are the best two.
struct Piece<'a> {
    kind: usize,
    first: Waiting,
    last: Waiting,
    rivals: Vec<&'a Bid>,
}

pub(super) fn next(batch: &Batch<'_>) -> Option<Candidate> {
    let pieces: Vec<Piece<'_>> =
        kinds_left(batch).flat_map(|(kind, tasks)| pieces(batch, kind, tasks)).collect();
    let most = pieces.iter().map(|piece| piece.loss(piece.first).max(piece.loss(piece.last)));
    let threshold = tie_threshold(most.max_by(f64::total_cmp)?);
    lowest(pieces.iter().filter_map(|piece| piece.lowest_above(batch, threshold)))
}

/// The kind's tasks, cut wherever a bid begins or ceases to be allowed, or two of the best change places.
fn pieces<'a>(batch: &'a Batch<'_>, kind: usize, tasks: &'a Kind<'_>) -> Vec<Piece<'a>> {
    let Some((shortest, longest)) = tasks.span() else { return Vec::new() };
    let all = (shortest.size(), longest.size());
    let bids = batch.within_means(tasks, (shortest.length.amount(), longest.length.amount()));
    let allowed: Vec<(Sizes, &Bid)> =
        bids.iter().filter_map(|bid| Some((stretch(batch, tasks, bid)?, bid))).collect();
    let stretches = allowed.iter().map(|(sizes, _)| *sizes).chain(tasks.asides().iter().copied());
    let begins: Vec<Size> = stretches.flat_map(|(first, last)| [first, last.next()]).collect();
    let mut pieces = Vec::new();
    for sizes in cut(all, begins) {
        let Some((first, last)) = ends(tasks, sizes) else { continue };
        let covers = |(from, until): Sizes| from <= first.size() && last.size() <= until;
        let bids = allowed.iter().filter(|(sizes, _)| covers(*sizes)).map(|(_, bid)| *bid).collect();
        let rivals = rivals([first, last].map(|task| task.length.amount()), bids);
        for sizes in cut((first.size(), last.size()), crossings(&rivals)) {
            let Some((first, last)) = ends(tasks, sizes) else { continue };
            pieces.push(Piece { kind, first, last, rivals: rivals.clone() });
        }
    }
    pieces
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
fn ends(tasks: &Kind<'_>, (first, last): Sizes) -> Option<(Waiting, Waiting)> {
    let shortest = tasks.at_or_after(first).filter(|task| task.size() <= last)?;
    Some((shortest, tasks.before(last.next())?))
}

/// The bids that may be among the best two of a task between two lengths: those that are not, for both of them, clearly
/// worse than two others.
fn rivals(lengths: [f64; 2], mut bids: Vec<&Bid>) -> Vec<&Bid> {
    for by in lengths {
        let mut best: [Option<&Bid>; 2] = [None, None];
        for &bid in &bids {
            let is_earlier = |other: Option<&Bid>| other.is_none_or(|other| bid.end(by) < other.end(by));
            if !is_earlier(best[1]) {
                continue;
            }
            best = match (is_earlier(best[0]), bid.several) {
                (true, true) => [Some(bid), Some(bid)],
                (true, false) => [Some(bid), best[0]],
                (false, _) => [best[0], Some(bid)],
            };
        }
        let [Some(one), Some(other)] = best else { return bids };
        let is_worse =
            |bid: &Bid, length: f64| bid.end(length) > CLEARLY * one.end(length).max(other.end(length));
        bids.retain(|bid| lengths.iter().any(|&length| !is_worse(bid, length)));
    }
    bids
}

/// The sizes at which one bid ceases to be better than another.
fn crossings(bids: &[&Bid]) -> Vec<Size> {
    let pairs =
        bids.iter().enumerate().flat_map(|(at, one)| bids[at + 1..].iter().map(move |other| (one, other)));
    let lengths =
        pairs.map(|(one, other)| (other.seat.ready_s - one.seat.ready_s) / (one.seconds - other.seconds));
    lengths.filter(|length| length.is_finite() && *length > 0.0).map(Size::of).collect()
}

impl Piece<'_> {
    /// How much later the second best would be done than the best; nothing where there is no second, or both tie.
    fn loss(&self, task: Waiting) -> f64 {
        let length = task.length.amount();
        let mut best: [Option<(f64, &Bid)>; 2] = [None, None];
        for &bid in &self.rivals {
            let end = bid.end(length);
            if best[0].is_none_or(|(earliest, _)| end < earliest) {
                best = [Some((end, bid)), if bid.several { Some((end, bid)) } else { best[0] }];
            } else if best[1].is_none_or(|(second, _)| end < second) {
                best[1] = Some((end, bid));
            }
        }
        let [Some((earliest, one)), Some((second, other))] = best else { return 0.0 };
        if second <= highest_tie(earliest) {
            return 0.0;
        }
        // By parts, so that between equally fast machines every task loses the same to the bit.
        let later_s = other.seat.ready_s - one.seat.ready_s;
        later_s + length * (other.seconds - one.seconds)
    }

    /// Of the tasks that lose so much the lowest.
    fn lowest_above(&self, batch: &Batch<'_>, threshold: f64) -> Option<Candidate> {
        let tasks = &batch.kinds[self.kind];
        let ties = |task: &Waiting| self.loss(*task) >= threshold;
        let candidate = |task: Waiting| (self.kind, task);
        if self.loss(self.first) == self.loss(self.last) {
            return ties(&self.first)
                .then(|| candidate(tasks.lowest_of((self.first.size(), self.last.size()))));
        }
        let sizes = self.first.size()..=self.last.size();
        let up = successors(Some(self.first), |task| tasks.at_or_after(task.size().next()));
        let down = successors(Some(self.last), |task| tasks.before(task.size()));
        let up = up.take_while(|task| sizes.contains(&task.size()) && ties(task));
        let down = down.take_while(|task| sizes.contains(&task.size()) && ties(task));
        // Equally long tasks are in order of id: of each run the first.
        lowest(up.chain(down.filter_map(|task| tasks.at_or_after(task.size()))).map(candidate))
    }
}
