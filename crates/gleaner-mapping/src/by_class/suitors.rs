//! The largest sufferage among the tasks of which a speed is the first choice.
//!
//! Over the lengths in a leader's stretch the second choice is the lower envelope of the other lines and of the leader's
//! own second machine: **sufferage rises to a peak or a plateau and falls from there**. Where it is a plateau, the
//! lowest task on it wins. Sums are rounded, so that holds but for a few units in 2⁻⁵²: all tasks that might suffer most
//! are compared by their ends to the bit.

use super::fleet::lateness;
use super::front::{Front, Most};
use super::lines::Span;
use super::ranked::Ranked;
use crate::mapping::highest_tie;
use gleaner_core::tie_threshold;
use std::ops::{Range, RangeInclusive};

/// More than a tie's 1e-12 and what rounding may add to it.
const CLEAR: f64 = 1.0 + 4e-12;
/// More than what rounding may take away: a few units in 2⁻⁵².
const ABOVE: f64 = 1.0 + 4e-15;
/// Less than what rounding may add.
const BELOW: f64 = 1.0 - 4e-15;

const NOTHING: Most = Most { sufferage: 0.0, task: 0 };

/// A leader whose line is taken out of the front, so that the others show what is second choice.
struct Courted<'a> {
    front: &'a Front,
    speed: usize,
    slower: Option<usize>,
    faster: Option<usize>,
    free: f64,
    inverse: f64,
    gap: f64,
}

/// Where sufferage is largest over all lengths, and the second choices for shorter and for longer ones.
struct Peak {
    length: f64,
    slower: Option<usize>,
    faster: Option<usize>,
}

/// Tasks that may be those which suffer most.
#[derive(Default)]
struct Found {
    most: f64,
    /// What ties with that.
    least: f64,
    /// The last that suffered more than all before.
    last: Option<Most>,
    /// Others that tied when they were found: mostly none, and then there is nothing to allocate.
    tied: Vec<Most>,
}

impl Found {
    fn add(&mut self, suitor: Most) {
        let sufferage = suitor.sufferage;
        if sufferage > self.most {
            self.most = sufferage;
            self.least = self.least.max(tie_threshold(sufferage));
            let last = self.last.replace(suitor);
            self.tied.extend(last.filter(|last| last.sufferage >= self.least));
        } else if sufferage >= self.least && sufferage > 0.0 {
            self.tied.push(suitor);
        }
    }

    fn lowest(self) -> Most {
        let suitors = self.last.iter().chain(&self.tied);
        let tied = suitors.filter(|suitor| suitor.sufferage >= self.least);
        let lowest = tied.min_by_key(|suitor| suitor.task);
        lowest.map_or(NOTHING, |lowest| Most { sufferage: self.most, ..*lowest })
    }
}

impl Front {
    /// The largest sufferage among the tasks that the leader there is the first choice of; 0 if there are none.
    pub(super) fn most(&mut self, at: usize, tasks: &Ranked) -> Most {
        let has_gap = self.gap(self.leaders[at].speed) > 0.0;
        let most = if has_gap { self.courted(at, |courted| courted.most(tasks)) } else { NOTHING };
        self.leaders[at].most = Some(most);
        self.leaders[at].bound = most.sufferage;
        most
    }

    /// No sufferage of the leader's tasks is larger: where its neighbours meet, one of them is second choice.
    pub(super) fn bound(&self, at: usize) -> f64 {
        let speed = self.leaders[at].speed;
        let (Some(slower), Some(faster)) = self.beside(&(at..at + 1)) else { return self.gap(speed) };
        let length = self.lines.crossing(slower, faster, self.lengths());
        let second = self.lines.end(slower, length).max(self.lines.end(faster, length));
        self.gap(speed).min(second * ABOVE - self.lines.end(speed, length))
    }

    /// The lowest of the leader's tasks whose sufferage is at least that, which is not 0.
    pub(super) fn lowest_from(&mut self, at: usize, tasks: &Ranked, least: f64) -> Most {
        self.courted(at, |courted| courted.lowest_from(tasks, least))
    }

    /// The runs of which the leader there is the first choice, and ties with none.
    pub(super) fn certain(&mut self, at: usize, tasks: &Ranked) -> Range<usize> {
        let runs = self.courted(at, |courted| tasks.inside(courted.span(0.0, CLEAR)));
        self.leaders[at].certain = Some(runs.clone());
        runs
    }

    /// Asks while the leader's line is out of the way.
    fn courted<T>(&mut self, at: usize, ask: impl FnOnce(&Courted<'_>) -> T) -> T {
        let speed = self.leaders[at].speed;
        let (slower, faster) = self.beside(&(at..at + 1));
        let free = self.lines.free(speed);
        self.lines.set_free(speed, f64::INFINITY);
        let (inverse, gap) = (self.lines.inverse(speed), self.gap(speed));
        let answer = ask(&Courted { front: self, speed, slower, faster, free, inverse, gap });
        self.lines.set_free(speed, free);
        answer
    }
}

impl Courted<'_> {
    fn end(&self, length: f64) -> f64 {
        self.free + length * self.inverse
    }

    /// Finds out, to the bit, how much the tasks of a run suffer, and gives the speed that is their second choice.
    fn look_at(&self, run: usize, tasks: &Ranked, found: &mut Found) -> usize {
        let length = tasks.length(run);
        let (second, speed) = self.front.lines.lowest(length, self.front.all());
        let sufferage = self.gap.min(lateness(self.end(length), second));
        found.add(Most { sufferage, task: tasks.task(run) });
        speed
    }

    /// The speeds among which the second choice is.
    fn among(&self) -> RangeInclusive<usize> {
        self.slower.unwrap_or(0)..=self.faster.unwrap_or(*self.front.all().end())
    }

    /// Where sufferage is largest, whether there is such a task or not: lines are added until none lies under where the
    /// two that bound it meet.
    fn peak(&self) -> Peak {
        let (lengths, lines) = (self.front.lengths(), &self.front.lines);
        let (mut slower, mut faster) = (self.slower, self.faster);
        let mut height = None;
        loop {
            let length = match (slower, faster) {
                (Some(slower), Some(faster)) => lines.crossing(slower, faster, lengths),
                (_, None) => lengths.to,
                (None, _) => lengths.from,
            };
            let (second, speed) = lines.lowest(length, self.among());
            let (known, end) = (self.known_at(length, [slower, faster]), self.end(length));
            let is_slower = speed < self.speed;
            let is_done = match (slower, faster) {
                (Some(_), Some(_)) => second >= known,
                (_, None) => is_slower,
                (None, _) => !is_slower && length == lengths.from,
            };
            // Where the second choice ties with the first, nobody suffers, however small the gap.
            let is_on_plateau = second >= (end + self.gap).max(end * CLEAR);
            // Each line lowers the peak, or else only rounding speaks for it.
            if is_done || is_on_plateau || height.is_some_and(|height| known - end >= height) {
                return Peak { length, slower, faster };
            }
            height = Some(known - end);
            *(if is_slower { &mut slower } else { &mut faster }) = Some(speed);
        }
    }

    /// The least end of some speeds.
    fn known_at(&self, length: f64, speeds: [Option<usize>; 2]) -> f64 {
        let ends = speeds.into_iter().flatten().map(|speed| self.front.lines.end(speed, length));
        ends.fold(f64::INFINITY, f64::min)
    }

    /// From the peak outwards: from each task on, its second choice bounds how much those beyond may suffer.
    fn most(&self, tasks: &Ranked) -> Most {
        let peak = self.peak();
        let right = tasks.first_from(peak.length);
        let mut found = Found::default();
        let (mut next, mut second) = (tasks.previous(right), peak.slower);
        while let Some(run) = next.filter(|run| self.may_reach(found.least, tasks.length(*run), second)) {
            second = Some(self.look_at(run, tasks, &mut found));
            next = if found.most < self.gap { tasks.previous(run) } else { None };
        }
        (next, second) = (tasks.next(right), peak.faster);
        while let Some(run) = next.filter(|run| self.may_reach(found.least, tasks.length(*run), second)) {
            second = Some(self.look_at(run, tasks, &mut found));
            next = if found.most < self.gap { tasks.next(run + 1) } else { None };
        }
        // Once one is on the plateau, many may be.
        if found.most < self.gap { found.lowest() } else { self.lowest_from(tasks, found.least) }
    }

    /// Whether a task of that length may suffer so much, and at all, if that speed is its second choice.
    fn may_reach(&self, least: f64, length: f64, second: Option<usize>) -> bool {
        second.is_none_or(|second| {
            let (first, second) = (self.end(length), self.front.lines.end(second, length) * ABOVE);
            second - first >= least && second > highest_tie(first)
        })
    }

    /// Looks at all that may suffer so much, but for those that are on the plateau for certain.
    fn lowest_from(&self, tasks: &Ranked, least: f64) -> Most {
        let outer = self.span(least, BELOW);
        let plateau = if self.gap >= least { tasks.inside(self.span(self.gap, CLEAR)) } else { 0..0 };
        let mut found = Found { least, ..Found::default() };
        if let Some(task) = tasks.lowest(plateau.clone()) {
            found.add(Most { sufferage: self.gap, task });
        }
        let mut next = tasks.next(tasks.first_from(outer.from));
        while let Some(run) = next.filter(|run| tasks.length(*run) <= outer.to) {
            if plateau.contains(&run) {
                next = tasks.next(plateau.end);
            } else {
                self.look_at(run, tasks, &mut found);
                next = tasks.next(run + 1);
            }
        }
        found.lowest()
    }

    /// The lengths over which the leader would come first even if it were later by `by`, and its end that many times.
    fn span(&self, by: f64, times: f64) -> Span {
        self.front.lines.span_below((self.free + by) * times, self.inverse * times, self.among())
    }
}
