//! The tasks left, by length. Tasks of equal length form a run, and leave it in task order.

use crate::sorting::sort_into;
use std::ops::Range;

pub(super) struct Lengths {
    /// Tasks by length, then by number.
    sorted: Vec<u32>,
    /// The runs from the shortest to the longest.
    runs: Vec<Run>,
    /// All runs before this one are empty.
    low: usize,
    /// All runs from this one on are empty.
    high: usize,
}

struct Run {
    length: f64,
    /// Where in `sorted` its first task left is, and where its last ends.
    from: u32,
    to: u32,
}

impl Run {
    fn has_tasks(&self) -> bool {
        self.from < self.to
    }
}

impl Lengths {
    pub(super) fn new(lengths: &[f64]) -> Self {
        // Adding 0 makes 0 of −0.
        let keys: Vec<u64> = lengths.iter().map(|length| (length + 0.0).to_bits()).collect();
        let mut sorted = Vec::with_capacity(keys.len());
        sort_into(&keys, &mut sorted);
        let mut runs: Vec<Run> = Vec::with_capacity(sorted.len());
        for (at, &task) in (0..).zip(&sorted) {
            let length = lengths[task as usize];
            match runs.last_mut() {
                Some(run) if run.length == length => run.to += 1,
                _ => runs.push(Run { length, from: at, to: at + 1 }),
            }
        }
        let high = runs.len();
        Self { sorted, runs, low: 0, high }
    }

    pub(super) fn shortest(&mut self) -> Option<usize> {
        let empty = self.runs[self.low..].iter().take_while(|run| !run.has_tasks()).count();
        self.low += empty;
        (self.low < self.runs.len()).then_some(self.low)
    }

    pub(super) fn longest(&mut self) -> Option<usize> {
        let empty = self.runs[..self.high].iter().rev().take_while(|run| !run.has_tasks()).count();
        self.high -= empty;
        self.high.checked_sub(1)
    }

    /// How many runs there were at the start.
    pub(super) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The run of each task, before any left.
    pub(super) fn run_of_each(&self) -> Vec<u32> {
        let mut run_of = vec![0; self.sorted.len()];
        for (at, run) in (0..).zip(&self.runs) {
            for task in &self.sorted[run.from as usize..run.to as usize] {
                run_of[*task as usize] = at;
            }
        }
        run_of
    }

    /// The first run of at least that length, which is one of these or the one after them.
    pub(super) fn first_from(&self, length: f64, among: Range<usize>) -> usize {
        among.start + self.runs[among].partition_point(|run| run.length < length)
    }

    /// The first run of more than that length, which is one of these or the one after them.
    pub(super) fn first_after(&self, length: f64, among: Range<usize>) -> usize {
        among.start + self.runs[among].partition_point(|run| run.length <= length)
    }

    /// The lowest task left of a run leaves it; which one is the lowest then.
    pub(super) fn drop_lowest(&mut self, run: usize) -> Option<u32> {
        self.runs[run].from += 1;
        self.runs[run].has_tasks().then(|| self.lowest(run))
    }

    /// The runs that are not empty, from `run` on.
    pub(super) fn longer(&self, run: usize) -> impl Iterator<Item = usize> {
        (run..self.runs.len()).filter(|run| self.runs[*run].has_tasks())
    }

    /// The runs that are not empty, from `run` downwards.
    pub(super) fn shorter(&self, run: usize) -> impl Iterator<Item = usize> {
        (0..=run).rev().filter(|run| self.runs[*run].has_tasks())
    }

    #[inline]
    pub(super) fn length(&self, run: usize) -> f64 {
        self.runs[run].length
    }

    /// The lowest task left of a run that is not empty.
    #[inline]
    pub(super) fn lowest(&self, run: usize) -> u32 {
        self.sorted[self.runs[run].from as usize]
    }

    /// The lowest task left of a run, which leaves it.
    pub(super) fn take(&mut self, run: usize) -> usize {
        let task = self.lowest(run);
        self.runs[run].from += 1;
        task as usize
    }
}
