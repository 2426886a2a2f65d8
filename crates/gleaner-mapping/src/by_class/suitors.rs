//! The largest sufferage among the tasks of which a speed is the first choice.
//!
//! Over the lengths in a leader's stretch the second choice is the lower envelope of the other lines and of the leader's
//! own second machine: **sufferage rises to a peak or a plateau and falls from there**. Where it is a plateau, the
//! lowest task on it wins. Sums are rounded, so all tasks that might reach the largest are compared by their exact ends.

use super::front::{Front, Most};
use super::lines::Span;
use super::fleet::lateness;
use super::ranked::Ranked;
use gleaner_core::tie_threshold;
use std::ops::{Range, RangeInclusive};

/// More than a tie's 1e-12 and what rounding may add.
const CLEAR: f64 = 1.0 + 4e-12;
/// What rounding may take away: a few units in 2⁻⁵².
const BLURRED: f64 = 1.0 - 4e-15;

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

const NOTHING: Most = Most { sufferage: 0.0, run: 0 };

impl Front {
    /// The largest sufferage among the tasks that the leader there is the first choice of; 0 if there are none.
    pub(super) fn most(&mut self, at: usize, tasks: &Ranked) -> Most {
        if self.gap(self.leaders[at].speed) == 0.0 {
            return NOTHING;
        }
        self.courted(at, |courted| courted.most(tasks))
    }

    /// The lowest of the leader's tasks whose sufferage is at least that, which is not 0.
    pub(super) fn lowest_from(&mut self, at: usize, tasks: &Ranked, least: f64) -> Most {
        self.courted(at, |courted| courted.lowest_from(tasks, least))
    }

    /// The runs of which the leader there is the first choice, and ties with none.
    pub(super) fn certain_suitors(&mut self, at: usize, tasks: &Ranked) -> Range<usize> {
        self.courted(at, |courted| courted.runs_in(tasks, courted.span(0.0, CLEAR)))
    }

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

    /// To the bit.
    fn sufferage(&self, length: f64) -> f64 {
        let (second, _) = self.front.lines.lowest(length, self.front.all());
        self.gap.min(lateness(self.end(length), second))
    }

    fn among(&self) -> RangeInclusive<usize> {
        self.slower.unwrap_or(0)..=self.faster.unwrap_or(*self.front.all().end())
    }

    /// A length at which sufferage is largest, whether there is such a task or not.
    fn peak(&self) -> f64 {
        let (front, lines) = (self.front, &self.front.lines);
        let (mut slower, mut faster) = (self.slower, self.faster);
        loop {
            let length = match (slower, faster) {
                (Some(slower), Some(faster)) => lines.crossing(slower, faster, front.lengths()),
                (_, None) => front.lengths().to,
                (None, _) => front.lengths().from,
            };
            let known = [slower, faster].into_iter().flatten();
            let known = known.map(|speed| lines.end(speed, length)).fold(f64::INFINITY, f64::min);
            let (second, speed) = lines.lowest(length, self.among());
            let is_vertex = second >= known && slower.is_some() && faster.is_some();
            // Where the second choice ties with the first, nobody suffers, however small the gap.
            let end = self.end(length);
            if is_vertex || second >= (end + self.gap).max(end * CLEAR) {
                return length;
            }
            let (side, is_last) = if speed < self.speed {
                (&mut slower, faster.is_none())
            } else {
                (&mut faster, slower.is_none() && length == front.lengths().from)
            };
            if is_last {
                return length;
            }
            *side = Some(speed);
        }
    }

    fn most(&self, tasks: &Ranked) -> Most {
        let right = tasks.first_from(self.peak());
        let nearest = [tasks.previous(right), tasks.next(right)].into_iter().flatten();
        let sufferage = nearest.map(|run| self.sufferage(tasks.length(run))).fold(0.0, f64::max);
        if sufferage > 0.0 { self.lowest_from(tasks, tie_threshold(sufferage)) } else { NOTHING }
    }

    fn lowest_from(&self, tasks: &Ranked, least: f64) -> Most {
        let outer = self.span(least, BLURRED);
        let plateau =
            if self.gap >= least { self.runs_in(tasks, self.span(self.gap, CLEAR)) } else { 0..0 };
        let lowest = tasks.lowest(plateau.clone());
        let mut found: Vec<Most> = lowest.map(|run| Most { sufferage: self.gap, run }).into_iter().collect();
        let mut next = tasks.next(tasks.first_from(outer.from));
        while let Some(run) = next.filter(|run| tasks.length(*run) <= outer.to) {
            if plateau.contains(&run) {
                next = tasks.next(plateau.end);
                continue;
            }
            found.push(Most { sufferage: self.sufferage(tasks.length(run)), run });
            next = tasks.next(run + 1);
        }
        let sufferage = found.iter().map(|most| most.sufferage).fold(0.0, f64::max);
        let least = least.max(tie_threshold(sufferage));
        let tied = found.into_iter().filter(|most| most.sufferage >= least);
        let lowest = tied.min_by_key(|most| tasks.task(most.run));
        lowest.map_or(NOTHING, |lowest| Most { sufferage, run: lowest.run })
    }

    /// The runs in a span, without its ends.
    fn runs_in(&self, tasks: &Ranked, span: Span) -> Range<usize> {
        if span.from < span.to { tasks.first_after(span.from)..tasks.first_from(span.to) } else { 0..0 }
    }

    /// The lengths over which the leader would come first even if it were later by `by`, and its end that many times.
    fn span(&self, by: f64, times: f64) -> Span {
        self.front.lines.span_below((self.free + by) * times, self.inverse * times, self.among())
    }
}

