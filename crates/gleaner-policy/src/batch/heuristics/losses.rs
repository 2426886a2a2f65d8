//! What tasks would lose if they did not get the machine that is best for them.
//!
//! When a task would be done is, by its length, a line for each bid; so what it would lose, which is the difference of
//! the two lowest lines, is made of straight pieces. **The largest loss is that of the first or the last task of a
//! piece**, and where a piece is flat, all its tasks lose the same.
//!
//! **Within a batch no offer becomes better**: so where nothing limits which bids a task may take, a piece stays as it is
//! until a task of it is taken, or a pool of its best two makes other offers. Only such pieces are made anew ([`renew`]).
//!
//! Cost: O(bids) for each stretch of lengths in which the same bids are allowed, or whose pieces are made anew, and for each
//! piece O(those that are faster than its second).

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

/// When tasks would be done by a bid.
#[derive(Clone, Copy)]
struct Line {
    pool: usize,
    ready_s: f64,
    seconds_per_op: f64,
}

impl Line {
    fn of(bid: &Bid) -> Self {
        Self { pool: bid.pool, ready_s: bid.terms.ready_s, seconds_per_op: bid.seconds }
    }

    fn end(&self, length: f64) -> f64 {
        self.ready_s + length * self.seconds_per_op
    }
}

/// Tasks of a kind, of neighbouring sizes, for which the same bids are the best two.
#[derive(Clone, Copy)]
pub(in crate::batch) struct Piece {
    kind: usize,
    first: Waiting,
    last: Waiting,
    best: [Option<Line>; 2],
    /// Of the first and of the last.
    losses: [f64; 2],
    /// Whether one of its tasks was taken, or a pool of the best two makes other offers.
    is_stale: bool,
}

/// The pieces of all tasks left of a kind, in order of size; some are stale.
#[derive(Default)]
pub(in crate::batch) struct Pieces(Vec<Piece>);

impl Pieces {
    /// A pool makes other offers.
    pub(in crate::batch) fn hear(&mut self, pool: usize) {
        for piece in &mut self.0 {
            piece.is_stale |= piece.best.iter().flatten().any(|line| line.pool == pool);
        }
    }

    /// A task is no longer one of those left.
    pub(in crate::batch) fn take(&mut self, task: Waiting) {
        for piece in &mut self.0 {
            piece.is_stale |= piece.first.size() <= task.size() && task.size() <= piece.last.size();
        }
    }
}

/// Brings the pieces of all kinds up to date.
pub(super) fn renew(batch: &mut Batch<'_>) {
    for kind in 0..batch.kinds.len() {
        let before = std::mem::take(&mut batch.kinds[kind].pieces);
        batch.kinds[kind].pieces = Pieces(renewed(batch, kind, before.0));
    }
}

/// The pieces of all tasks left, if they are up to date.
pub(super) fn pieces<'a>(batch: &'a Batch<'_>) -> impl Iterator<Item = &'a Piece> {
    batch.kinds.iter().flat_map(|tasks| &tasks.pieces.0)
}

fn renewed(batch: &Batch<'_>, kind: usize, mut pieces: Vec<Piece>) -> Vec<Piece> {
    let tasks = &batch.kinds[kind];
    if pieces.is_empty() || !takes_all(batch, tasks) || !tasks.asides().is_empty() {
        pieces.clear();
        add_pieces(batch, (kind, tasks), &mut pieces);
        return pieces;
    }
    let mut from = 0;
    while let Some(stale) = pieces[from..].iter().position(|piece| piece.is_stale) {
        from += stale;
        let count = pieces[from..].iter().take_while(|piece| piece.is_stale).count();
        let sizes = (pieces[from].first.size(), pieces[from + count - 1].last.size());
        let mut anew = Vec::new();
        if let Some(ends) = ends(tasks, sizes) {
            add_straight((kind, tasks), ends, tasks.bids.iter(), &mut anew);
        }
        let until = from + count;
        let added = anew.len();
        pieces.splice(from..until, anew);
        from += added;
    }
    pieces
}

/// Whether each task left may take all bids.
fn takes_all(batch: &Batch<'_>, tasks: &Kind<'_>) -> bool {
    batch.conditions(tasks).is_none() && batch.recipe.hold == Holding::Never
}

/// The kind's tasks, cut wherever a bid begins or ceases to be allowed, or two of the best change places.
fn add_pieces(batch: &Batch<'_>, (kind, tasks): (usize, &Kind<'_>), pieces: &mut Vec<Piece>) {
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
fn ends(tasks: &Kind<'_>, (first, last): Sizes) -> Option<(Waiting, Waiting)> {
    let shortest = tasks.at_or_after(first).filter(|task| task.size() <= last)?;
    Some((shortest, tasks.before(last.next())?))
}

/// The tasks from the first to the last, which may take all these bids, from the shortest to the longest.
fn add_straight<'a>(
    (kind, tasks): (usize, &Kind<'_>),
    (first, last): (Waiting, Waiting),
    bids: impl Iterator<Item = &'a Bid> + Clone,
    pieces: &mut Vec<Piece>,
) {
    let rivals = rivals([first, last].map(|task| task.length.amount()), bids);
    let mut next = Some(first);
    while let Some(first) = next {
        let best = best_two(rivals.iter().copied(), first.length.amount());
        let from = crossing(&rivals, best, first.length.amount()).map_or(Size::BEYOND, Size::of);
        next = tasks.at_or_after(from).filter(|task| task.size() <= last.size());
        let last = if next.is_some() { tasks.before(from) } else { Some(last) };
        let last = last.expect("the first is before");
        let best = best.map(|bid| bid.map(Line::of));
        let losses = losses(&best, [first, last]);
        pieces.push(Piece { kind, first, last, best, losses, is_stale: false });
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

fn losses(best: &[Option<Line>; 2], tasks: [Waiting; 2]) -> [f64; 2] {
    tasks.map(|task| loss(best, task.length.amount()))
}

/// How much later the second best would be done than the best; nothing where there is no second, or both tie.
fn loss(best: &[Option<Line>; 2], length: f64) -> f64 {
    let [Some(one), Some(other)] = best else { return 0.0 };
    let (end, later) = (one.end(length), other.end(length));
    if later.max(end) <= highest_tie(end.min(later)) {
        return 0.0;
    }
    // By parts, so that between equally fast machines every task loses the same to the bit.
    let later_s = other.ready_s - one.ready_s;
    later_s + length * (other.seconds_per_op - one.seconds_per_op)
}

impl Piece {
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
            .map(|(first, last)| Self { first, last, losses: losses(&self.best, [first, last]), ..self })
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
        let ties = |task: &Waiting| loss(&self.best, task.length.amount()) >= threshold;
        let sizes = self.first.size()..=self.last.size();
        let up = successors(Some(self.first), |task| tasks.at_or_after(task.size().next()));
        let down = successors(Some(self.last), |task| tasks.before(task.size()));
        let up = up.take_while(|task| sizes.contains(&task.size()) && ties(task));
        let down = down.take_while(|task| sizes.contains(&task.size()) && ties(task));
        // Equally long tasks are in order of id: of each run the first.
        lowest(up.chain(down.filter_map(|task| tasks.at_or_after(task.size()))).map(candidate))
    }
}
