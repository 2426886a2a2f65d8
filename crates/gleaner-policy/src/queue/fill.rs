//! Who starts before the first in line: whoever leaves what is promised to it.

use super::promise::{Reservation, Word};
use super::{Backfiller, Kind};
use crate::backlog::{Size, last_where};
use crate::queue::line::Waits;
use gleaner_core::Grid;
use gleaner_units::{MachineId, TaskId, Time};

const NANOS_PER_SECOND: f64 = 1e9;

impl Backfiller {
    /// Who starts before the first in line, and where. Where its promise slipped, lengths count as declared.
    pub(super) fn filler(
        &self,
        grid: &Grid,
        now: Time,
        (kept, cores_max): (Reservation, u32),
    ) -> Option<(TaskId, MachineId)> {
        let is_one = self.holds.is_one();
        if is_one && kept.by == Word::Nobody {
            return None;
        }
        let line = match (kept.by, &self.declared) {
            (Word::Declared, Some(declared)) => &declared.line,
            (Word::Believed | Word::Declared | Word::Nobody, _) => &self.line,
        };
        let elsewhere = |kind: &Kind| {
            if is_one { None } else { self.place_now(grid, kind, |on| on != kept.on) }
        };
        let class = grid.machine(kept.on).class();
        // Nobody that needs what the first in line will need may be longer, however fast the machine is.
        let most = no_longer_than(now, kept.at, line.fastest(class));
        let spare = if is_one { kept.spare } else { u32::MAX };
        let may = |waits: &Waits| waits.cores <= spare || waits.shortest <= most;
        let mut latest: Option<(f64, Size)> = None;
        let mut until_kept = |seconds_per_op: f64| match latest {
            Some((other, longest)) if other == seconds_per_op => longest,
            Some(_) | None => {
                let longest = longest_until(now, kept.at, seconds_per_op);
                latest = Some((seconds_per_op, longest));
                longest
            }
        };
        let free = grid.machine(kept.on).free();
        let takes_tasks = grid.machine(kept.on).takes_tasks() && kept.by != Word::Nobody;
        let mut longest_there = |kind: &Kind| {
            let seconds_per_op = grid.classes().seconds_per_op(kind.class, class);
            if !(takes_tasks && free.holds(kind.needs) && seconds_per_op.is_finite()) {
                return None;
            }
            let spares = kind.needs.cores <= kept.spare;
            Some(if spares { Size::BEYOND.previous() } else { until_kept(seconds_per_op) })
        };
        let longest = |kind: &Kind| {
            // They wait for their user's, and nobody behind them does.
            if grid.is_capped(kind.class) {
                return None;
            }
            let anything = || Size::BEYOND.previous();
            elsewhere(kind).map(|_| anything()).or_else(|| longest_there(kind))
        };
        let task = line.filler((self.recipe.fill, cores_max), kept.task, may, longest)?;
        if is_one {
            return Some((task, kept.on));
        }
        let kind = line.kind_of(grid, task);
        let length = self.length_by(grid, kept.by, task);
        let delays_nobody = longest_there(kind).is_some_and(|longest| Size::of(length) <= longest);
        let on = self.place_now(grid, kind, |on| on != kept.on || delays_nobody)?;
        Some((task, on))
    }
}

/// What is longer does not end by `until` if it starts now: more than all rounding errors beyond the longest that does.
fn no_longer_than(now: Time, until: Time, seconds_per_op: f64) -> Size {
    if until == Time::NEVER {
        return Size::BEYOND.previous();
    }
    let seconds = (until.since(now).nanos() as f64 + 0.5) / NANOS_PER_SECOND;
    Size::of(seconds * (1.0 + 1e-12) / seconds_per_op)
}

/// The longest that ends by `until` if it starts now.
fn longest_until(now: Time, until: Time, seconds_per_op: f64) -> Size {
    let ends = |length: f64| now.after_seconds(length * seconds_per_op) <= until;
    if until == Time::NEVER {
        return Size::BEYOND.previous();
    }
    // Half a nanosecond more is rounded away. From there the last is but a few numbers off, so that steps that double reach
    // it soon.
    let about = (until.since(now).nanos() as f64 + 0.5) / NANOS_PER_SECOND / seconds_per_op;
    let mut reach = about * f64::EPSILON;
    let (mut low, mut high) = (about - reach, about + reach);
    while low > 0.0 && !ends(low) {
        reach *= 2.0;
        low = (low - reach).max(0.0);
    }
    while ends(high) {
        reach *= 2.0;
        high += reach;
    }
    last_where(low, high, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_that_ends_in_time_is_the_last_number_that_does() {
        for now in [0, 1, 1_000_000_007, 86_400_000_000_000, 1 << 60] {
            for span in [0, 1, 2, 999, 1_000_000_000, 3_600_000_000_001, 1 << 55] {
                for seconds_per_op in [1.0, 0.5, 1.0 / 3.0, 1e-9, 7.3e5] {
                    let (now, until) = (Time::from_nanos(now), Time::from_nanos(now + span));
                    let ends = |size: Size| now.after_seconds(size.length() * seconds_per_op) <= until;
                    let longest = longest_until(now, until, seconds_per_op);
                    assert!(ends(longest) && !ends(longest.next()), "{now} {until} {seconds_per_op}");
                }
            }
        }
        let never = longest_until(Time::ZERO, Time::NEVER, 1.0);
        assert!(never.next() == Size::BEYOND);
    }
}
