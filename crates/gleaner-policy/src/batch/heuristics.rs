//! Which task is next, or which are: Min-Min, Max-Min and Sufferage among what the conditions allow.

mod candidates;
mod kept;
mod losses;
mod passes;
mod shares;
mod sufferage;

use super::Batch;
use super::bid::Bid;
use super::kinds::Kind;
use super::target::Earliest;
use crate::backlog::{Size, Waiting};
use crate::parts::order::TaskOrder;
use crate::spending::Conditions;
use candidates::{Candidate, Sizes, kinds_left, lowest, stretch};
use gleaner_core::tie_threshold;
use std::iter::successors;

pub(super) use passes::pass;

/// Takes those out of the batch that have no place: all at once, or where that leaves more for each of the others, one after the other.
pub(super) fn set_impossible_aside(batch: &mut Batch<'_>) {
    if batch.conditions_of_each.first().is_some_and(Conditions::is_by_share) {
        shares::set_dearest_aside(batch);
        return;
    }
    let impossible: Vec<(usize, Sizes)> = kinds_left(batch)
        .flat_map(|(kind, tasks)| impossible(batch, tasks).into_iter().map(move |sizes| (kind, sizes)))
        .collect();
    for (kind, sizes) in impossible {
        batch.set_aside(kind, sizes);
    }
}

/// The next task, where each that is left has a place; and the one offer by which it is done first, where that is known.
pub(super) fn next(batch: &mut Batch<'_>) -> Option<(Candidate, Option<Bid>)> {
    match batch.recipe.order {
        TaskOrder::Submission | TaskOrder::SufferagePasses => None,
        TaskOrder::MinMin => min_min(batch),
        TaskOrder::MaxMin => Some((max_min(batch)?, None)),
        TaskOrder::Sufferage => sufferage::next(batch),
    }
}

/// The sizes of the tasks of a kind that have no place now: those in no bid's stretch. Mostly the stretch of some bid
/// holds all tasks.
fn impossible(batch: &Batch<'_>, tasks: &Kind<'_>) -> Vec<Sizes> {
    let Some((shortest, longest)) = tasks.lengths() else { return Vec::new() };
    let takes_all = |bid: &Bid| batch.allows(tasks, shortest, bid) && batch.allows(tasks, longest, bid);
    // Mostly the cheapest does.
    if tasks.bids.first().is_some_and(takes_all) {
        return Vec::new();
    }
    let bids = batch.within_means(tasks, (shortest, longest));
    if bids.iter().any(takes_all) {
        return Vec::new();
    }
    let mut stretches: Vec<Sizes> = bids.iter().filter_map(|bid| stretch(batch, tasks, bid)).collect();
    stretches.sort_unstable();
    let (mut gaps, mut uncovered) = (Vec::new(), Size::of(shortest));
    for (first, last) in stretches {
        if uncovered < first {
            gaps.push((uncovered, first.previous()));
        }
        uncovered = uncovered.max(last.next());
    }
    if uncovered <= Size::of(longest) {
        gaps.push((uncovered, Size::of(longest)));
    }
    gaps
}

/// The shortest task that a bid may take.
#[inline]
fn first_allowed(batch: &Batch<'_>, tasks: &Kind<'_>, bid: &Bid) -> Option<Waiting> {
    let (shortest, longest) = tasks.span()?;
    if shortest.length.amount() > bid.longest {
        return None;
    }
    let Some(conditions) = batch.conditions(tasks) else { return Some(shortest) };
    let lengths = (shortest.length.amount(), longest.length.amount().min(bid.longest));
    let first = conditions.first_allowed(lengths, bid.terms)?;
    if first == lengths.0 {
        return Some(shortest);
    }
    tasks.at_or_after(Size::of(first)).filter(|task| batch.allows(tasks, task.length.amount(), bid))
}

/// The task that can be done earliest: for each bid, the first of its stretch.
fn min_min(batch: &mut Batch<'_>) -> Option<(Candidate, Option<Bid>)> {
    batch.rouse();
    debug_assert!(
        kinds_left(batch)
            .all(|(_, tasks)| tasks.asleep().all(|bid| first_allowed(batch, tasks, bid).is_none())),
        "what sleeps may be given none of the tasks left"
    );
    let mut refused = Vec::new();
    let next = earliest_of_all(batch, &mut refused);
    for (kind, number) in refused {
        batch.sleep(kind, number);
    }
    next
}

/// The same; bids that were seen to be open to none of the tasks left of a kind are added to `refused`.
fn earliest_of_all(batch: &Batch<'_>, refused: &mut Vec<(usize, usize)>) -> Option<(Candidate, Option<Bid>)> {
    let mut first = Earliest::default();
    for (kind, tasks) in kinds_left(batch) {
        let Some(lengths) = tasks.lengths() else { continue };
        for (number, bid) in tasks.awake() {
            // No task of the kind is shorter than the shortest.
            if tasks.least_end(lengths.0, bid) > first.limit() {
                break;
            }
            if bid.end(lengths.0) > first.limit() {
                continue;
            }
            let Some(task) = first_allowed(batch, tasks, bid) else {
                refused.push((kind, number));
                continue;
            };
            let end = bid.end(task.length.amount());
            if end <= first.limit() {
                first.add(end, (kind, task, bid));
            }
        }
    }
    let (limit, only) = (first.limit(), first.only().copied());
    let next = lowest(first.tied().flat_map(|(kind, task, bid)| {
        // Equally long tasks are in order of id: of each run the first.
        let ties = move |task: &Waiting| {
            let length = task.length.amount();
            bid.end(length) <= limit && batch.allows(&batch.kinds[kind], length, bid)
        };
        let next = move |task: &Waiting| batch.kinds[kind].at_or_after(task.size().next()).filter(ties);
        successors(Some(task), next).map(move |task| (kind, task))
    }))?;
    // Any other offer would end a task later that it may take, and this is none that is shorter.
    let bid = only.filter(|(kind, task, _)| (*kind, *task) == next).map(|(_, _, bid)| *bid);
    Some((next, bid))
}

/// The task whose earliest end is the latest: the longest, or one so short that some offer may not take it.
fn max_min(batch: &Batch<'_>) -> Option<Candidate> {
    let peaks = kinds_left(batch).flat_map(|(kind, tasks)| {
        let bids = tasks.lengths().map_or(&[][..], |lengths| batch.within_means(tasks, lengths));
        let firsts = bids.iter().filter_map(|bid| first_allowed(batch, tasks, bid));
        let mut beyond: Vec<Size> = firsts.map(|task| task.size()).chain([Size::BEYOND]).collect();
        beyond.sort_unstable();
        beyond.dedup();
        beyond.into_iter().filter_map(move |size| Some((kind, tasks.before(size)?)))
    });
    let end = |kind: usize, task: &Waiting| batch.earliest_end(kind, task.length.amount());
    let peaks: Vec<_> = peaks.filter_map(|(kind, task)| Some((kind, task, end(kind, &task)?))).collect();
    let threshold = tie_threshold(peaks.iter().map(|peak| peak.2).max_by(f64::total_cmp)?);
    let tied = peaks.into_iter().filter(|peak| peak.2 >= threshold);
    lowest(tied.flat_map(|(kind, task, _)| {
        let tasks = &batch.kinds[kind];
        let runs = successors(Some(task), |task| tasks.before(task.size()));
        let tied = runs.take_while(move |task| end(kind, task).is_some_and(|end| end >= threshold));
        tied.filter_map(move |task| Some((kind, tasks.at_or_after(task.size())?)))
    }))
}
