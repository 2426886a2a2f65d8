//! Which task is next: Min-Min, Max-Min and Sufferage among what the conditions allow.

use super::kinds::{Bid, Kind};
use super::{Batch, highest_tie};
use crate::recipe::Order;
use crate::spending::partition_point;
use gleaner_core::tie_threshold;
use gleaner_units::TaskId;
use std::ops::Range;

/// A task that is left: its id, by which ties are decided, its kind, and where it is among the tasks of that.
type Candidate = (TaskId, usize, usize);

/// How much worse than the second best an offer must be, relative to it, to be no one's second best by rounding either.
const CLEARLY: f64 = 1.0 + 1e-9;

/// The next task, after those without a place are set aside.
pub(super) fn next(batch: &mut Batch<'_>) -> Option<(usize, usize)> {
    // All at once: what is left for each may be more when they are gone.
    let impossible: Vec<(usize, Range<usize>)> = kinds_left(batch)
        .flat_map(|(kind, tasks)| impossible(batch, tasks).into_iter().map(move |range| (kind, range)))
        .collect();
    for (kind, range) in impossible {
        batch.set_aside(kind, range);
    }
    let next = match batch.recipe.order {
        Order::Submission => None,
        Order::MinMin => min_min(batch),
        Order::MaxMin => max_min(batch),
        Order::Sufferage => sufferage(batch),
    };
    next.map(|(_, kind, at)| (kind, at))
}

/// The tasks of a kind that have no place now, which are those in no bid's stretch; the longest first, so that each is
/// where it was when those before it are gone. Mostly the stretch of some bid holds all tasks.
fn impossible(batch: &Batch<'_>, tasks: &Kind) -> Vec<Range<usize>> {
    let count = tasks.left.len();
    let takes_all =
        |bid: &Bid| batch.allows(tasks.length(0), bid) && batch.allows(tasks.length(count - 1), bid);
    if tasks.bids.iter().any(takes_all) {
        return Vec::new();
    }
    let stretches = tasks.bids.iter().filter_map(|bid| {
        let from = first_allowed(batch, tasks, bid)?;
        let held = partition_point(count - from, |offset| batch.allows(tasks.length(from + offset), bid));
        Some(from..from + held)
    });
    let mut stretches: Vec<Range<usize>> = stretches.collect();
    stretches.sort_unstable_by_key(|stretch| stretch.start);
    let mut gaps = Vec::new();
    let mut covered = 0;
    for stretch in stretches.into_iter().chain(std::iter::once(count..count)) {
        if covered < stretch.start {
            gaps.push(covered..stretch.start);
        }
        covered = covered.max(stretch.end);
    }
    gaps.reverse();
    gaps
}

fn kinds_left<'a>(batch: &'a Batch<'_>) -> impl Iterator<Item = (usize, &'a Kind)> {
    batch.kinds.iter().enumerate().filter(|(_, tasks)| !tasks.left.is_empty())
}

/// Where the stretch of tasks begins that a bid may take.
#[inline]
fn first_allowed(batch: &Batch<'_>, tasks: &Kind, bid: &Bid) -> Option<usize> {
    let Some(purse) = &batch.purse else { return Some(0) };
    purse.first_allowed(tasks.left.len(), |at| tasks.length(at), bid.seat)
}

/// The task that can be done earliest: for each bid, the first of its stretch.
fn min_min(batch: &Batch<'_>) -> Option<Candidate> {
    let mut earliest = f64::INFINITY;
    let mut firsts: Vec<(f64, usize, usize, &Bid)> = Vec::new();
    for (kind, tasks) in kinds_left(batch) {
        for bid in &tasks.bids {
            let Some(at) = first_allowed(batch, tasks, bid) else { continue };
            let end = bid.end(tasks.length(at));
            if end <= highest_tie(earliest) {
                firsts.push((end, kind, at, bid));
                earliest = earliest.min(end);
            }
        }
    }
    let limit = highest_tie(earliest);
    let tied = firsts.into_iter().filter(|first| first.0 <= limit);
    let lowest = tied.filter_map(|(_, kind, at, bid)| {
        let tasks = &batch.kinds[kind];
        let ties = |at: usize| {
            let length = tasks.length(at);
            bid.end(length) <= limit && batch.allows(length, bid)
        };
        let runs = std::iter::successors(Some(at), |&at| next_longer(tasks, at));
        runs.take_while(|&at| ties(at)).map(|at| (tasks.left[at].id, kind, at)).min()
    });
    lowest.min()
}

/// The first task that is longer than the one at `at`.
fn next_longer(tasks: &Kind, at: usize) -> Option<usize> {
    let length = tasks.length(at);
    let rest = tasks.left.len() - at;
    // Mostly the next one is.
    if rest > 1 && tasks.length(at + 1) > length {
        return Some(at + 1);
    }
    let run = partition_point(rest, |offset| tasks.length(at + offset) <= length);
    (run < rest).then_some(at + run)
}

/// The task whose earliest end is the latest: the longest, or one so short that some offer may not take it.
fn max_min(batch: &Batch<'_>) -> Option<Candidate> {
    let peaks = kinds_left(batch).flat_map(|(kind, tasks)| {
        let begins = tasks.bids.iter().filter_map(|bid| first_allowed(batch, tasks, bid));
        let mut peaks: Vec<usize> =
            begins.chain([tasks.left.len()]).filter_map(|at| at.checked_sub(1)).collect();
        peaks.sort_unstable();
        peaks.dedup();
        peaks.into_iter().map(move |at| (kind, at))
    });
    let end = |kind: usize, at: usize| batch.earliest_end(kind, batch.kinds[kind].length(at));
    let peaks: Vec<_> = peaks.filter_map(|(kind, at)| Some((kind, at, end(kind, at)?))).collect();
    let threshold = tie_threshold(peaks.iter().map(|peak| peak.2).max_by(f64::total_cmp)?);
    let tied = peaks.into_iter().filter(|peak| peak.2 >= threshold);
    let lowest = tied.filter_map(|(kind, at, _)| {
        let tasks = &batch.kinds[kind];
        // Equally long tasks are in order of id: of each run the first.
        let first = |at: usize| partition_point(at, |before| tasks.length(before) < tasks.length(at));
        let runs = std::iter::successors(Some(first(at)), |&at| Some(first(at.checked_sub(1)?)));
        let tied = runs.take_while(|&at| end(kind, at).is_some_and(|end| end >= threshold));
        tied.map(|at| (tasks.left[at].id, kind, at)).min()
    });
    lowest.min()
}

/// The task that would lose most if it did not get the machine that is best for it.
fn sufferage(batch: &Batch<'_>) -> Option<Candidate> {
    let mut losses: Vec<(f64, Candidate)> = Vec::new();
    for (kind, tasks) in kinds_left(batch) {
        let bids = contenders(batch, tasks);
        let mut at = Some(0);
        while let Some(first) = at {
            let loss = loss(batch, tasks.length(first), &bids);
            losses.push((loss, (tasks.left[first].id, kind, first)));
            at = next_longer(tasks, first);
        }
    }
    let threshold = tie_threshold(losses.iter().map(|loss| loss.0).max_by(f64::total_cmp)?);
    losses.into_iter().filter(|loss| loss.0 >= threshold).map(|(_, task)| task).min()
}

/// The difference between the two earliest ends; nothing where there is only one machine.
fn loss(batch: &Batch<'_>, length: f64, bids: &[&Bid]) -> f64 {
    let mut ends = (f64::INFINITY, f64::INFINITY);
    for bid in bids {
        let end = bid.end(length);
        if end < ends.1 && batch.allows(length, bid) {
            add_end(&mut ends, end, bid.several);
        }
    }
    if ends.1.is_finite() { ends.1 - ends.0 } else { 0.0 }
}

fn add_end(ends: &mut (f64, f64), end: f64, several: bool) {
    if end < ends.0 {
        *ends = (end, if several { end } else { ends.0 });
    } else if end < ends.1 {
        ends.1 = end;
    }
}

/// The bids that may be among the best two of any task left: those that are not, for the shortest and the longest
/// alike, clearly worse than two that all tasks may take.
fn contenders<'a>(batch: &Batch<'_>, tasks: &'a Kind) -> Vec<&'a Bid> {
    let lengths = [tasks.length(0), tasks.length(tasks.left.len() - 1)];
    let mut all: Vec<&Bid> = tasks.bids.iter().collect();
    for by in lengths {
        let mut best: [Option<&Bid>; 2] = [None, None];
        for &bid in &all {
            let is_earlier = |other: Option<&Bid>| other.is_none_or(|other| bid.end(by) < other.end(by));
            if !is_earlier(best[1]) || !lengths.iter().all(|&length| batch.allows(length, bid)) {
                continue;
            }
            best = match (is_earlier(best[0]), bid.several) {
                (true, true) => [Some(bid), Some(bid)],
                (true, false) => [Some(bid), best[0]],
                (false, _) => [best[0], Some(bid)],
            };
        }
        let [Some(one), Some(other)] = best else { return all };
        let is_worse =
            |bid: &Bid, length: f64| bid.end(length) > CLEARLY * one.end(length).max(other.end(length));
        all.retain(|bid| lengths.iter().any(|&length| !is_worse(bid, length)));
    }
    all
}
