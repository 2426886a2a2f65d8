//! Which speeds are the first choice of some length: the lower envelope of their lines, kept up to date.
//!
//! A speed leads over one stretch of lengths, slower ones over shorter lengths. **Only a leader's neighbours and the
//! speeds between those can be second choice in its stretch**; nothing else is looked at when it changes.

use super::ClassedGrid;
use super::fleet::{Fleet, Offer};
use super::lines::{Lines, Span};
use crate::mapping::highest_tie;
use std::ops::{Range, RangeInclusive};

pub(super) struct Front {
    pub(super) fleet: Fleet,
    pub(super) lines: Lines,
    /// The gap of each speed's offer; 0 also if there is but one machine in all.
    gaps: Vec<f64>,
    /// All lengths lie in it.
    lengths: Span,
    /// From the slowest.
    pub(super) leaders: Vec<Leader>,
    /// Room for leaders that come up.
    found: Vec<Leader>,
    /// Room for speeds that tie.
    tied: Vec<usize>,
}

/// A speed that is the first choice over a stretch of lengths.
#[derive(Clone, Debug)]
pub(super) struct Leader {
    pub(super) speed: usize,
    /// No sufferage in its stretch is larger.
    pub(super) bound: f64,
    /// The largest sufferage in its stretch; none if that has to be found.
    pub(super) most: Option<Most>,
    /// The runs of which it is the first choice, and ties with none; none if they have to be found.
    pub(super) certain: Option<Range<usize>>,
    /// It may lead no longer.
    is_stale: bool,
}

impl Leader {
    fn new(speed: usize) -> Self {
        Self { speed, bound: f64::INFINITY, most: None, certain: None, is_stale: false }
    }
}

/// The largest sufferage of some tasks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Most {
    pub(super) sufferage: f64,
    /// The lowest that ties with it.
    pub(super) task: u32,
}

impl Front {
    pub(super) fn new(grid: &ClassedGrid, ready: &[f64]) -> Self {
        let fleet = Fleet::new(grid, ready);
        let lines = Lines::new((0..fleet.len()).map(|speed| fleet.speed(speed)));
        let lengths = grid.lengths.iter().fold(Span { from: f64::INFINITY, to: 0.0 }, |span, &length| Span {
            from: span.from.min(length),
            to: span.to.max(length),
        });
        let gaps = vec![0.0; fleet.len()];
        let mut front =
            Self { fleet, lines, gaps, lengths, leaders: Vec::new(), found: Vec::new(), tied: Vec::new() };
        for speed in 0..front.gaps.len() {
            front.update(speed);
        }
        front.surface(0..0);
        front
    }

    fn last(&self) -> usize {
        self.gaps.len() - 1
    }

    pub(super) fn gap(&self, speed: usize) -> f64 {
        self.gaps[speed]
    }

    pub(super) fn lengths(&self) -> Span {
        self.lengths
    }

    /// All speeds.
    pub(super) fn all(&self) -> RangeInclusive<usize> {
        0..=self.last()
    }

    /// Of the speeds that tie for being done first with a task of that length, the one that offers the lowest machine.
    pub(super) fn choice(&mut self, length: f64) -> usize {
        let limit = highest_tie(self.lines.least_end(length));
        self.tied.clear();
        self.lines.within(length, limit, &mut self.tied);
        match self.tied[..] {
            [speed] => speed,
            ref tied => {
                let lowest = tied.iter().copied().min_by_key(|speed| self.fleet.number(*speed));
                lowest.expect("the least ties with itself")
            }
        }
    }

    /// Gives the task to the machine that a speed offers, and says which. Who leads is left as it was.
    pub(super) fn assign(&mut self, speed: usize, length: f64) -> u32 {
        self.fleet.assign(speed, length)
    }

    /// Whether what that speed offers has changed.
    fn update(&mut self, speed: usize) -> bool {
        let Offer { free, gap } = self.fleet.offer(speed);
        let is_alone = self.gaps.len() == 1 && gap.is_infinite();
        let gap = if is_alone { 0.0 } else { gap };
        let is_new = self.lines.free(speed) != free || self.gaps[speed] != gap;
        self.lines.set_free(speed, free);
        self.gaps[speed] = gap;
        is_new
    }

    /// After tasks were given to these speeds: finds who leads in their stead, and forgets what that changes.
    pub(super) fn lead_after(&mut self, speeds: impl Iterator<Item = usize>) {
        for speed in speeds {
            let is_new = self.update(speed);
            match self.leaders.binary_search_by_key(&speed, |leader| leader.speed) {
                Ok(at) if is_new => self.leaders[at].is_stale = true,
                Ok(at) => self.forget(at..at + 1),
                // It may be second choice there.
                Err(at) => self.forget(at.saturating_sub(1)..at + 1),
            }
        }
        let mut end = self.leaders.len();
        while let Some(last) = self.leaders[..end].iter().rposition(|leader| leader.is_stale) {
            let before = self.leaders[..last].iter().rposition(|leader| !leader.is_stale);
            end = before.map_or(0, |at| at + 1);
            self.surface(end..last + 1);
        }
    }

    /// What is known of these leaders no longer holds.
    fn forget(&mut self, stale: Range<usize>) {
        for at in stale.start..stale.end.min(self.leaders.len()) {
            let bound = self.bound(at);
            let leader = &mut self.leaders[at];
            *leader = Leader { bound, is_stale: leader.is_stale, ..Leader::new(leader.speed) };
        }
    }

    /// The speeds of the leaders beside one.
    pub(super) fn beside(&self, at: &Range<usize>) -> (Option<usize>, Option<usize>) {
        let speed = |at: usize| self.leaders.get(at).map(|leader| leader.speed);
        (at.start.checked_sub(1).and_then(speed), speed(at.end))
    }

    /// Replaces these leaders by those that come up between their neighbours.
    fn surface(&mut self, stale: Range<usize>) {
        let (slower, faster) = self.beside(&stale);
        let mut found = std::mem::take(&mut self.found);
        let last = faster.unwrap_or(self.last());
        let first = slower.unwrap_or_else(|| self.lines.lowest(self.lengths.from, 0..=last).1.min(last));
        if slower.is_none() && faster != Some(first) {
            found.push(Leader::new(first));
        }
        let end = faster.unwrap_or_else(|| self.lines.lowest(self.lengths.to, first..=last).1.max(first));
        self.surface_between(first, end, &mut found);
        if faster.is_none() && end != first {
            found.push(Leader::new(end));
        }
        let changed = stale.start.saturating_sub(1)..stale.start + found.len() + 1;
        self.leaders.splice(stale, found.drain(..));
        self.found = found;
        self.forget(changed);
    }

    /// Where two leaders meet, a speed between them that is done before leads as well.
    fn surface_between(&self, slower: usize, faster: usize, found: &mut Vec<Leader>) {
        if faster <= slower + 1 {
            return;
        }
        let length = self.lines.crossing(slower, faster, self.lengths);
        let (end, speed) = self.lines.lowest(length, slower..=faster);
        let is_between = slower < speed && speed < faster;
        if is_between && end < self.lines.end(slower, length).min(self.lines.end(faster, length)) {
            self.surface_between(slower, speed, found);
            found.push(Leader::new(speed));
            self.surface_between(speed, faster, found);
        }
    }
}
