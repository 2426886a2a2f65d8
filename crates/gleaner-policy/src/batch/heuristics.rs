//! Which task is next: Min-Min, Max-Min and Sufferage among what the conditions allow.

use super::kinds::Kind;
use super::pool::Offer;
use super::{Batch, highest_tie};
use crate::recipe::Order;
use crate::spending::partition_point;
use gleaner_core::tie_threshold;
use gleaner_units::TaskId;

/// A task that is left: its id, by which ties are decided, its kind, and where it is among the tasks of that.
type Candidate = (TaskId, usize, usize);

/// How much worse than the second best an offer must be, relative to it, to be no one's second best by rounding either.
const CLEARLY: f64 = 1.0 + 1e-9;

/// The next task, after those without a place are set aside.
pub(super) fn next(batch: &mut Batch<'_>) -> Option<(usize, usize)> {
    // All at once: what is left for each may be more when they are gone.
    let impossible: Vec<(usize, usize)> =
        kinds_left(batch).flat_map(|(kind, _)| impossible(batch, kind).map(move |at| (kind, at))).collect();
    for (kind, at) in impossible {
        batch.set_aside(kind, at);
    }
    let next = match batch.recipe.order {
        Order::Submission => None,
        Order::MinMin => min_min(batch),
        Order::MaxMin => max_min(batch),
        Order::Sufferage => sufferage(batch),
    };
    next.map(|(_, kind, at)| (kind, at))
}

/// The tasks of a kind that have no place now, from the longest down, so that each is where it was when those before it
/// are gone. A stretch that holds the shortest and the longest task holds all; mostly there is one.
fn impossible<'a>(batch: &'a Batch<'_>, kind: usize) -> impl Iterator<Item = usize> + 'a {
    let tasks = &batch.kinds[kind];
    let count = tasks.left.len();
    let (shortest, longest) = (tasks.length(0), tasks.length(count - 1));
    let takes_all = batch.offers(kind).any(|(pool, offer, _)| {
        batch.allows(kind, shortest, pool, offer) && batch.allows(kind, longest, pool, offer)
    });
    let looked_at = if takes_all { 0 } else { count };
    (0..looked_at).rev().filter(move |&at| {
        let length = tasks.length(at);
        !batch.offers(kind).any(|(pool, offer, _)| batch.allows(kind, length, pool, offer))
    })
}

fn kinds_left<'a>(batch: &'a Batch<'_>) -> impl Iterator<Item = (usize, &'a Kind)> {
    batch.kinds.iter().enumerate().filter(|(_, tasks)| !tasks.left.is_empty())
}

/// Where the stretch of tasks begins that an offer may take.
fn first_allowed(batch: &Batch<'_>, kind: usize, pool: usize, offer: Offer) -> Option<usize> {
    let tasks = &batch.kinds[kind];
    let Some(purse) = &batch.purse else { return Some(0) };
    purse.first_allowed(tasks.left.len(), |at| tasks.length(at), batch.seat(kind, pool, offer))
}

/// The task that can be done earliest: for each offer, the first of its stretch.
fn min_min(batch: &Batch<'_>) -> Option<Candidate> {
    let firsts = kinds_left(batch).flat_map(|(kind, tasks)| {
        batch.offers(kind).filter_map(move |(pool, offer, seconds)| {
            let at = first_allowed(batch, kind, pool, offer)?;
            Some((kind, at, pool, offer, seconds, offer.ready_s + tasks.length(at) * seconds))
        })
    });
    let firsts: Vec<_> = firsts.collect();
    let limit = highest_tie(firsts.iter().map(|first| first.5).min_by(f64::total_cmp)?);
    let tied = firsts.into_iter().filter(|first| first.5 <= limit);
    let lowest = tied.filter_map(|(kind, at, pool, offer, seconds, _)| {
        let tasks = &batch.kinds[kind];
        let ties = |at: usize| {
            let length = tasks.length(at);
            offer.ready_s + length * seconds <= limit && batch.allows(kind, length, pool, offer)
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
        let begins =
            batch.offers(kind).filter_map(|(pool, offer, _)| first_allowed(batch, kind, pool, offer));
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
        let offers = contenders(batch, kind);
        let mut at = Some(0);
        while let Some(first) = at {
            let loss = loss(batch, kind, tasks.length(first), &offers);
            losses.push((loss, (tasks.left[first].id, kind, first)));
            at = next_longer(tasks, first);
        }
    }
    let threshold = tie_threshold(losses.iter().map(|loss| loss.0).max_by(f64::total_cmp)?);
    losses.into_iter().filter(|loss| loss.0 >= threshold).map(|(_, task)| task).min()
}

/// The difference between the two earliest ends; nothing where there is only one machine.
fn loss(batch: &Batch<'_>, kind: usize, length: f64, offers: &[(usize, Offer, f64)]) -> f64 {
    let mut ends = (f64::INFINITY, f64::INFINITY);
    for &(pool, offer, seconds) in offers {
        let end = offer.ready_s + length * seconds;
        if end < ends.1 && batch.allows(kind, length, pool, offer) {
            add_end(&mut ends, end, offer.several);
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

/// The offers that may be among the best two of any task left: those that are not, for the shortest and the longest
/// alike, clearly worse than two that all tasks may take.
fn contenders(batch: &Batch<'_>, kind: usize) -> Vec<(usize, Offer, f64)> {
    let tasks = &batch.kinds[kind];
    let lengths = [tasks.length(0), tasks.length(tasks.left.len() - 1)];
    let mut all: Vec<(usize, Offer, f64)> = batch.offers(kind).collect();
    for by in lengths {
        let mut pair: [Option<[f64; 2]>; 2] = [None, None];
        for &(pool, offer, seconds) in &all {
            let ends = lengths.map(|length| offer.ready_s + length * seconds);
            let is_near = |other: Option<[f64; 2]>| {
                other.is_none_or(|other| offer.ready_s + by * seconds < other[usize::from(by != lengths[0])])
            };
            if !is_near(pair[1]) || !lengths.iter().all(|&length| batch.allows(kind, length, pool, offer)) {
                continue;
            }
            if is_near(pair[0]) {
                pair = [Some(ends), if offer.several { Some(ends) } else { pair[0] }];
            } else {
                pair[1] = Some(ends);
            }
        }
        let [Some(one), Some(other)] = pair else { return all };
        let bounds = [one[0].max(other[0]) * CLEARLY, one[1].max(other[1]) * CLEARLY];
        all.retain(|&(_, offer, seconds)| {
            let worse = |end: usize| offer.ready_s + lengths[end] * seconds > bounds[end];
            !(worse(0) && worse(1))
        });
    }
    all
}
