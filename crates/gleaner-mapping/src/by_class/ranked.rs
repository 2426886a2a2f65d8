//! The tasks left by length, the lowest of those in a range of lengths, and the nearest to a length.
//!
//! Over the runs of equal length stands a tree of the lowest task left of each, sixteen children a node: a cache line.
//! All that is asked costs O(log runs).

use super::lengths::Lengths;
use super::lines::Span;
use std::ops::Range;

const CHILDREN: usize = 16;

/// Stands for a run that has no tasks left.
const NONE: u32 = u32::MAX;

pub(super) struct Ranked {
    lengths: Lengths,
    /// The lowest task left of each run first, the root last; each level is padded to full nodes.
    levels: Vec<Vec<u32>>,
    /// The run of each task.
    run_of: Vec<u32>,
    places: Places,
}

/// Where lengths are among the runs: as many stretches of equal width as there are runs, so that a search looks at few.
struct Places {
    shortest: f64,
    /// Stretches to a unit of length.
    density: f64,
    /// The first run of each stretch, and how many there are in all.
    first: Vec<u32>,
}

impl Places {
    fn new(lengths: &Lengths) -> Self {
        let runs = lengths.runs();
        let (shortest, longest) = (lengths.length(0), lengths.length(runs - 1));
        let density = runs as f64 / (longest - shortest).max(f64::MIN_POSITIVE);
        let mut places = Self { shortest, density, first: Vec::with_capacity(runs + 2) };
        for run in 0..runs {
            let stretch = places.stretch(lengths.length(run), runs);
            let missing = (stretch + 1).saturating_sub(places.first.len());
            places.first.extend(std::iter::repeat_n(run as u32, missing));
        }
        places.first.resize(runs + 2, runs as u32);
        places
    }

    /// The same for two lengths of which neither is less than the other, and never falling.
    fn stretch(&self, length: f64, runs: usize) -> usize {
        (((length - self.shortest) * self.density) as usize).min(runs)
    }

    /// The runs among which that length is, or would be.
    fn about(&self, length: f64) -> Range<usize> {
        let stretch = self.stretch(length, self.first.len() - 2);
        self.first[stretch] as usize..self.first[stretch + 1] as usize
    }
}

impl Ranked {
    pub(super) fn new(lengths: &[f64]) -> Self {
        let lengths = Lengths::new(lengths);
        let places = Places::new(&lengths);
        let lowest = (0..lengths.runs()).map(|run| lengths.lowest(run));
        let mut levels = vec![padded(lowest.collect())];
        while levels[levels.len() - 1].len() > CHILDREN {
            let above = levels[levels.len() - 1].chunks_exact(CHILDREN).map(lowest_of).collect();
            levels.push(padded(above));
        }
        let run_of = lengths.run_of_each();
        Self { lengths, levels, run_of, places }
    }

    /// All runs, be they empty or not.
    pub(super) fn all(&self) -> Range<usize> {
        0..self.lengths.runs()
    }

    #[inline]
    pub(super) fn length(&self, run: usize) -> f64 {
        self.lengths.length(run)
    }

    /// The first run of at least that length, empty or not.
    pub(super) fn first_from(&self, length: f64) -> usize {
        self.lengths.first_from(length, self.places.about(length))
    }

    /// The runs with lengths in a span, without its ends, empty or not.
    pub(super) fn inside(&self, span: Span) -> Range<usize> {
        if span.from >= span.to {
            return 0..0;
        }
        self.lengths.first_after(span.from, self.places.about(span.from))..self.first_from(span.to)
    }

    /// The lowest task of a run that is not empty.
    #[inline]
    pub(super) fn task(&self, run: usize) -> u32 {
        self.levels[0][run]
    }

    /// The lowest task left in these runs.
    pub(super) fn lowest(&self, runs: Range<usize>) -> Option<u32> {
        let (mut from, mut to) = (runs.start, runs.end);
        let mut task = NONE;
        for (depth, level) in self.levels.iter().enumerate() {
            // What full nodes hold, their parents hold too; at the root there are none.
            let is_root = depth + 1 == self.levels.len();
            let first = if is_root { to } else { from.next_multiple_of(CHILDREN).min(to) };
            let last = (to - to % CHILDREN).max(first);
            task = task.min(lowest_of(&level[from..first])).min(lowest_of(&level[last..to]));
            if first == last {
                break;
            }
            (from, to) = (first / CHILDREN, last / CHILDREN);
        }
        (task != NONE).then_some(task)
    }

    /// The first run from this one on that is not empty.
    pub(super) fn next(&self, run: usize) -> Option<usize> {
        let mut index = run;
        for (depth, level) in self.levels.iter().enumerate() {
            let rest = level.get(index..(index / CHILDREN + 1) * CHILDREN)?;
            if let Some(found) = first_with_tasks(rest) {
                return Some(self.descend((depth, index + found), first_with_tasks));
            }
            index = index / CHILDREN + 1;
        }
        None
    }

    /// The last run before this one that is not empty.
    pub(super) fn previous(&self, run: usize) -> Option<usize> {
        let mut index = run;
        for (depth, level) in self.levels.iter().enumerate() {
            let start = index - index % CHILDREN;
            if let Some(found) = last_with_tasks(&level[start..index]) {
                return Some(self.descend((depth, start + found), last_with_tasks));
            }
            index /= CHILDREN;
        }
        None
    }

    /// Takes a task that is the lowest left of its run.
    pub(super) fn take(&mut self, task: u32) {
        let run = self.run_of[task as usize] as usize;
        let (mut index, mut lowest) = (run, self.lengths.drop_lowest(run).unwrap_or(NONE));
        for level in &mut self.levels {
            if level[index] == lowest {
                break;
            }
            level[index] = lowest;
            index /= CHILDREN;
            lowest = lowest_of(&level[index * CHILDREN..][..CHILDREN]);
        }
    }

    /// From a place in the tree, depth and index, down to a run.
    fn descend(&self, (depth, index): (usize, usize), choose: impl Fn(&[u32]) -> Option<usize>) -> usize {
        self.levels[..depth].iter().rev().fold(index, |index, level| {
            let children = &level[index * CHILDREN..][..CHILDREN];
            index * CHILDREN + choose(children).expect("a child has what its parent has")
        })
    }
}

fn first_with_tasks(node: &[u32]) -> Option<usize> {
    node.iter().position(|task| *task != NONE)
}

fn last_with_tasks(node: &[u32]) -> Option<usize> {
    node.iter().rposition(|task| *task != NONE)
}

fn lowest_of(node: &[u32]) -> u32 {
    node.iter().copied().fold(NONE, u32::min)
}

fn padded(mut lowest: Vec<u32>) -> Vec<u32> {
    lowest.resize(lowest.len().next_multiple_of(CHILDREN), NONE);
    lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_a_scan() {
        for (tasks, lengths) in [(1, 1), (16, 16), (700, 5000), (700, 40), (2000, 100_000)] {
            let all: Vec<f64> = (0..tasks).map(|task| f64::from(task * 7919 % lengths)).collect();
            let mut ranked = Ranked::new(&all);
            let mut left: Vec<usize> = (0..all.len()).collect();
            for step in 0..all.len() {
                let runs = ranked.all().len();
                let (from, to) = (step * 31 % runs, step * 17 % (runs + 1));
                let in_range = |task: &&usize| {
                    from <= ranked.first_from(all[**task]) && ranked.first_from(all[**task]) < to
                };
                let lowest = left.iter().find(in_range).map(|task| *task as u32);
                assert_eq!(ranked.lowest(from..to.max(from)), lowest, "step {step}");
                let of_left = || left.iter().map(|task| ranked.first_from(all[*task]));
                assert_eq!(ranked.next(from), of_left().filter(|run| *run >= from).min(), "step {step}");
                assert_eq!(ranked.previous(to), of_left().filter(|run| *run < to).max(), "step {step}");
                let run = ranked.next(from).or(ranked.previous(from)).expect("a task is left");
                assert_eq!(all[ranked.task(run) as usize], ranked.length(run));
                let task = ranked.task(run);
                ranked.take(task);
                left.retain(|other| *other != task as usize);
            }
            assert_eq!(ranked.lowest(ranked.all()), None);
        }
    }
}
