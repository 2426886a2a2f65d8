//! Where tasks would go, and which of several ways is the earliest.

use super::pool::Place;

/// Where a task would go: in which pool to which of the machines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) pool: usize,
    pub(super) place: Place,
}

impl Target {
    /// Whether a task there is planned, where plans for what begins later do not stand.
    pub(super) fn is_planned(self, stands_s: f64) -> bool {
        match self.place {
            Place::One(_, ready_s) => ready_s < stands_s,
            Place::Any(_) => true,
        }
    }
}

/// What ends earliest of what was looked at so far, or ties with it.
pub(super) struct Earliest<T> {
    end: f64,
    /// The latest end that ties.
    limit: f64,
    /// Those that may tie.
    found: Vec<(f64, T)>,
}

impl<T> Default for Earliest<T> {
    fn default() -> Self {
        Self { end: f64::INFINITY, limit: f64::INFINITY, found: Vec::new() }
    }
}

impl<T> Earliest<T> {
    /// What ends later is not among them.
    #[inline]
    pub(super) fn limit(&self) -> f64 {
        self.limit
    }

    /// Of something that does not end after the limit.
    #[inline]
    pub(super) fn add(&mut self, end: f64, it: T) {
        if end < self.end {
            self.limit = highest_tie(end);
            if self.end > self.limit {
                self.found.clear();
            }
            self.end = end;
        }
        self.found.push((end, it));
    }

    /// What is tied with nothing.
    pub(super) fn only(&self) -> Option<&T> {
        let mut tied = self.found.iter().filter(|(end, _)| *end <= self.limit);
        tied.next().filter(|_| tied.next().is_none()).map(|(_, it)| it)
    }

    pub(super) fn tied(self) -> impl Iterator<Item = T> {
        let limit = self.limit;
        self.found.into_iter().filter(move |(end, _)| *end <= limit).map(|(_, it)| it)
    }
}

/// The largest value that ties with `least`, where less is better.
#[inline]
pub(super) fn highest_tie(least: f64) -> f64 {
    -gleaner_core::tie_threshold(-least)
}
