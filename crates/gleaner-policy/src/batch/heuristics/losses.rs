//! What tasks would lose if they did not get the machine that is best for them.
//!
//! When a task would be done is, by its length, a line for each bid; so what it would lose, which is the difference of
//! the two lowest lines, is made of straight pieces. **The largest loss is that of the first or the last task of a
//! piece**, and where a piece is flat, all its tasks lose the same.
//!
//! Cost: O(bids) for each stretch of lengths in which the same bids are allowed, and for each piece O(those that are
//! faster than its second).

use super::{Candidate, Sizes, lowest, stretch};
use crate::backlog::{Size, Waiting};
use crate::batch::Batch;
use crate::batch::kinds::{Bid, Kind};
use crate::batch::target::highest_tie;
use crate::parts::when::Holding;
use std::iter::successors;

/// How much worse than the second best an offer must be, relative to it, to be no one's second best by rounding either.
const CLEARLY: f64 = 1.0 + 1e-9;

/// The bid that would be done first with a task, and the next; one that several machines make is both.
type BestTwo<'a> = [Option<&'a Bid>; 2];

/// Tasks of a kind, of neighbouring sizes, for which the same bids are the best two.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    kind: usize,
    first: Waiting,
    last: Waiting,
    best: BestTwo<'a>,
    /// Of the first and of the last.
    losses: [f64; 2],
}

/// The kind's tasks, cut wherever a bid begins or ceases to be allowed, or two of the best change places.
pub(super) fn add_pieces<'a>(
    batch: &'a Batch<'_>,
    (kind, tasks): (usize, &'a Kind<'_>),
    pieces: &mut Vec<Piece<'a>>,
) {
    let Some((shortest, longest)) = tasks.span() else { return };
    let all = (shortest.size(), longest.size());
    let bids = batch.within_means(tasks, (shortest.length.amount(), longest.length.amount()));
    let (mut whole, mut partial): (Vec<&Bid>, Vec<(Sizes, &Bid)>) = (Vec::new(), Vec::new());
    if batch.conditions(tasks).is_none() && batch.recipe.hold == Holding::Never {
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
fn ends(tasks: &Kind<'_>, (first, last): Sizes) -> Option<(Waiting, Waiting)> {
    let shortest = tasks.at_or_after(first).filter(|task| task.size() <= last)?;
    Some((shortest, tasks.before(last.next())?))
}

/// The tasks from the first to the last, which may take all these bids, from the shortest to the longest.
fn add_straight<'a>(
    (kind, tasks): (usize, &Kind<'_>),
    (first, last): (Waiting, Waiting),
    bids: impl Iterator<Item = &'a Bid> + Clone,
    pieces: &mut Vec<Piece<'a>>,
) {
    let rivals = rivals([first, last].map(|task| task.length.amount()), bids);
    let mut next = Some(first);
    while let Some(first) = next {
        let best = best_two(rivals.iter().copied(), first.length.amount());
        let from = crossing(&rivals, best, first.length.amount()).map_or(Size::BEYOND, Size::of);
        next = tasks.at_or_after(from).filter(|task| task.size() <= last.size());
        let last = if next.is_some() { tasks.before(from) } else { Some(last) };
        let last = last.expect("the first is before");
        pieces.push(Piece { kind, first, last, best, losses: losses(best, [first, last]) });
    }
}

/// The bids that may be among the best two of a task between two lengths: besides those that are for the shorter, such as
/// are faster, and not clearly worse for the longer.
fn rivals<'a>([short, long]: [f64; 2], bids: impl Iterator<Item = &'a Bid> + Clone) -> Vec<&'a Bid> {
    let best = best_two(bids.clone(), short);
    let [Some(one), Some(other)] = best else { return bids.collect() };
    let slowest = one.seconds.max(other.seconds);
    let limit = CLEARLY * one.end(long).max(other.end(long));
    let is_best = |bid: &Bid| best.into_iter().flatten().any(|other| std::ptr::eq(bid, other));
    bids.filter(|bid| is_best(bid) || (bid.seconds < slowest && bid.end(long) <= limit)).collect()
}

/// The bids that would be done first with a task of that length.
fn best_two<'a>(bids: impl Iterator<Item = &'a Bid>, length: f64) -> BestTwo<'a> {
    let (mut ends, mut best) = ([f64::INFINITY; 2], [None; 2]);
    for bid in bids {
        let end = bid.end(length);
        if end < ends[0] {
            (ends, best) =
                if bid.several { ([end; 2], [Some(bid); 2]) } else { ([end, ends[0]], [Some(bid), best[0]]) };
        } else if end < ends[1] {
            (ends[1], best[1]) = (end, Some(bid));
        }
    }
    best
}

/// The next length from which on the best two may be others, or change places.
///
/// As tasks become longer, only a bid that is faster than another becomes better than that. Where by rounding it should
/// have done so already, it is expected to with the very next length.
fn crossing(bids: &[&Bid], best: BestTwo<'_>, length: f64) -> Option<f64> {
    let [Some(one), Some(other)] = best else { return None };
    let crossing = |slower: &Bid, faster: &Bid| {
        let length = (faster.terms.ready_s - slower.terms.ready_s) / (slower.seconds - faster.seconds);
        (faster.seconds < slower.seconds).then_some(length)
    };
    let others = bids.iter().filter(|bid| !std::ptr::eq(**bid, one));
    let lengths = others.filter_map(|bid| crossing(other, bid)).chain(crossing(one, other));
    lengths.map(|crossing| crossing.max(length.next_up())).min_by(f64::total_cmp)
}

fn losses(best: BestTwo<'_>, tasks: [Waiting; 2]) -> [f64; 2] {
    tasks.map(|task| loss(best, task.length.amount()))
}

/// How much later the second best would be done than the best; nothing where there is no second, or both tie.
fn loss(best: BestTwo<'_>, length: f64) -> f64 {
    let [Some(one), Some(other)] = best else { return 0.0 };
    let (end, later) = (one.end(length), other.end(length));
    if later.max(end) <= highest_tie(end.min(later)) {
        return 0.0;
    }
    // By parts, so that between equally fast machines every task loses the same to the bit.
    let later_s = other.terms.ready_s - one.terms.ready_s;
    later_s + length * (other.seconds - one.seconds)
}

impl Piece<'_> {
    /// The first and the last task.
    pub(super) fn ends(&self) -> [Candidate; 2] {
        [self.first, self.last].map(|task| (self.kind, task))
    }

    /// Its shortest tasks, its longest, and those between, of a piece of several sizes.
    pub(super) fn apart(self, batch: &Batch<'_>) -> Vec<Self> {
        let tasks = &batch.kinds[self.kind];
        let (shortest, longest) = (self.first.size(), self.last.size());
        let between = (shortest.next(), longest.previous());
        let sizes = [(shortest, shortest), between, (longest, longest)].into_iter();
        let parts = sizes.filter(|(from, until)| from <= until).filter_map(|sizes| ends(tasks, sizes));
        parts
            .map(|(first, last)| Self { first, last, losses: losses(self.best, [first, last]), ..self })
            .collect()
    }

    pub(super) fn largest_loss(&self) -> f64 {
        self.losses[0].max(self.losses[1])
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
