//! The moments that conservative backfilling keeps for all that wait, and who starts now by them: each in turn gets the
//! earliest moment that those before it leave, and where an end was not as believed all moments are worked out anew.
//!
//! **Only those moments are worked out that tell who starts now.** Somebody starts now if his cores are free for as long as he
//! takes, and nobody before him keeps any of them. So who begins no sooner than everybody who could start now will have ended
//! is passed over. That is checked by what is left of the cores without those passed over, which is more than there is; where
//! somebody is to begin sooner and lasts until those passed over may begin, all are looked at again that come before him, as
//! far as his end. The gaps that begin in time tell how long somebody may be who needs so many cores, so that nobody else has
//! to be looked at.

use super::calendar::Calendar;
use super::holds::{ends_after, slots};
use super::line::Turn;
use super::promise::{Known, Reservation, Word};
use super::reach::Reach;
use super::row::{Row, Waiter};
use gleaner_core::Grid;
use gleaner_units::{MachineClassId, MachineId, RunId, TaskClassId, TaskId, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// So many have their moment worked out before it is looked for whoever could start: mostly that is all there is to do.
const AT_ONCE: u32 = 8;

/// Nobody has a later turn.
const LAST: Turn = (Reverse(i32::MIN), TaskId::new(u32::MAX as usize));

/// What a plan looks at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) known: Known<'a>,
    pub(crate) row: &'a Row,
    /// What is promised to the first in line, where it cannot start now.
    pub(crate) first: Option<Reservation>,
}

impl View<'_> {
    /// Whether somebody is not to wait for his user's runs: else he keeps no moment, and nobody behind him waits for him.
    fn counts(&self, waiter: &Waiter) -> bool {
        !self.known.grid.is_capped(waiter.class)
    }

    fn slipped(&self) -> Option<(TaskId, MachineId, Word)> {
        let first = self.first.filter(|first| first.by != Word::Believed);
        first.map(|first| (first.task, first.on, first.by))
    }
}

/// Begins then and there, and ends then.
type Slot = (Time, MachineId, Time);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// By machine: what runs leave, and those who have their moment.
    calendars: Vec<Calendar>,
    /// For whom beliefs have failed, where, and whose word counts there instead.
    slipped: Option<(TaskId, MachineId, Word)>,
    /// The machine on which lengths count as declared.
    by_word: Option<MachineId>,
    /// By machine: whether it is kept for somebody whose moment nobody knows. Nobody behind him gets there.
    closed: Vec<bool>,
    /// Whether all moments are worked out, in order.
    is_whole: bool,
    next: Option<Turn>,
    /// Those passed over begin no sooner.
    passed: Time,
    /// Until which turn it matters who begins before which moment.
    horizons: Vec<(Turn, Time)>,
    /// Who begins before a moment, or may: some of it may have been taken since.
    reaches: Vec<(Time, Reach)>,
    /// As it was before somebody was passed over, and who.
    fork: Option<Fork>,
    /// Those behind who could start now, by what is left so far; none before they were looked for.
    could: Option<Could>,
    worked_out: u32,
    /// Who was found to start.
    starts: Option<(Turn, Slot)>,
    /// Of when it is, and until when it holds if nothing happens: then somebody takes longer than was declared.
    at: Time,
    until: Time,
    /// Nobody starts of those until there.
    over: Option<Turn>,
}

/// Where a search goes back to.
#[derive(Clone, Debug)]
struct Fork {
    calendars: Vec<Calendar>,
    next: Turn,
    could: Option<Could>,
}

/// Those who could start now, and where: when they would end, the last on top, their turn, and how many cores they need. Some
/// of them cannot any more.
type Could = BinaryHeap<(Time, MachineId, Turn, u32)>;

impl Plan {
    /// Nobody has a moment yet.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let by_word = view.first.filter(|first| first.by == Word::Declared).map(|first| first.on);
        let machines = (0..view.known.holds.ends().len()).map(MachineId::new);
        let mut until = Time::NEVER;
        let calendars = machines.map(|on| {
            let ends = match view.known.declared {
                Some(declared) if by_word == Some(on) => {
                    until =
                        declared.ends(on).first_after(view.known.now).map_or(until, |first| first.min(until));
                    declared.ends(on)
                }
                Some(_) | None => &view.known.holds.ends()[on.index()],
            };
            let steps = ends.steps(view.known.now, |run| {
                let end =
                    view.known.declared.map_or(Time::NEVER, |declared| declared.end_of(view.known.now, run));
                until = until.min(end);
                end
            });
            Calendar::of(steps)
        });
        let calendars: Vec<Calendar> = calendars.collect();
        let all_end = |(index, calendar): (usize, &Calendar)| {
            let class = view.known.grid.machine(MachineId::new(index)).class();
            calendar.at_last() >= slots(view.known.grid.classes().machine_class(class).room).into()
        };
        let mut closed = vec![false; calendars.len()];
        if let Some(first) = view.first.filter(|first| first.by == Word::Nobody) {
            closed[first.on.index()] = true;
        }
        let is_whole = !view.row.is_known()
            || view.first.is_some_and(|first| first.by == Word::Nobody)
            || by_word.is_some() && !view.known.holds.is_one()
            || !calendars.iter().enumerate().all(all_end);
        Self {
            calendars,
            slipped: view.slipped(),
            by_word,
            closed,
            is_whole,
            next: None,
            passed: Time::NEVER,
            horizons: Vec::new(),
            reaches: Vec::new(),
            fork: None,
            could: None,
            worked_out: 0,
            starts: None,
            at: view.known.now,
            until,
            over: None,
        }
    }

    /// The next who starts now, and where.
    pub(crate) fn due(&mut self, view: &View<'_>) -> Option<(TaskId, MachineId)> {
        if self.slipped != view.slipped() || !self.holds(view.known.now) {
            *self = Self::of(view);
        } else if self.at != view.known.now || self.over.is_some() {
            if self.is_over(view) {
                (self.at, self.over) = (view.known.now, view.row.last());
                return None;
            }
            *self = Self::of(view);
        }
        while let Some((waiter, slot)) = self.look(view) {
            self.keep(&waiter, slot);
            if slot.0 <= view.known.now && view.known.grid.can_run(waiter.class, slot.1) {
                self.starts = Some((waiter.turn, slot));
                return Some((waiter.task(), slot.1));
            }
        }
        self.over = view.row.last();
        None
    }

    /// Whether nobody started of those who were there, and of those who came since nobody can.
    fn is_over(&self, view: &View<'_>) -> bool {
        let Some(last) = self.over else { return false };
        if view.row.last() <= Some(last) {
            return true;
        }
        let reach = self.reach(view, view.known.now.next());
        !self.is_whole
            && view
                .row
                .first(
                    Some(after(last)),
                    |one| view.counts(one),
                    |some, _| self.is_any_in_time(view, &reach, some),
                )
                .is_none()
    }

    /// Whether nobody took longer than was declared since it was made, of those for whom that mattered.
    pub(crate) fn holds(&self, now: Time) -> bool {
        now < self.until
    }

    /// Whether all who were looked at come before that turn.
    pub(crate) fn is_before(&self, turn: Turn) -> bool {
        self.over.is_some_and(|last| last < turn)
    }

    /// A run began. Whether as was found last.
    pub(crate) fn started(&mut self, grid: &Grid, run: RunId) -> bool {
        let Some((turn, slot)) = self.starts.take() else { return false };
        let (begin, on, end) = slot;
        let is_it = |began: &gleaner_core::Run| began.on() == on && began.since() == begin;
        if turn.1 != run.task || !grid.find_run(run).is_some_and(is_it) {
            return false;
        }
        // Tasks that are looked at again see the run in the calendar, even those before it in line. It took no core that they were
        // to have.
        if let Some(fork) = &mut self.fork {
            let cores = grid.classes().demand(grid.task(run.task).class()).needs.cores;
            fork.calendars[on.index()].take(begin, end, cores.into());
        }
        true
    }

    /// The moment that is kept for a task, and where. Costs as much as all moments until there.
    pub(crate) fn moment_of(view: &View<'_>, task: TaskId) -> Option<(Time, MachineId)> {
        let mut plan = Self { is_whole: true, ..Self::of(view) };
        while let Some((waiter, slot)) = plan.look(view) {
            if waiter.task() == task {
                return Some((slot.0, slot.1));
            }
            plan.keep(&waiter, slot);
        }
        None
    }

    /// Until when it matters who begins; none if nobody behind can start now.
    fn horizon(&mut self, view: &View<'_>) -> Option<Time> {
        if self.is_whole || self.worked_out < AT_ONCE {
            return Some(Time::NEVER);
        }
        let mut could = self.could.take().unwrap_or_else(|| self.who_could(view));
        while let Some(&(end, on, turn, cores)) = could.peek() {
            let is_behind = self.next.is_none_or(|next| next <= turn);
            if is_behind && self.calendars[on.index()].has(view.known.now, end, cores) {
                break;
            }
            could.pop();
        }
        let horizon = could.peek().map(|last| last.0);
        self.could = Some(could);
        horizon
    }

    /// Costs O(those who could, and log waiters each), and little more.
    fn who_could(&self, view: &View<'_>) -> Could {
        let reach = self.reach(view, view.known.now.next());
        let mut could = Vec::new();
        let is_now = |waiter: &Waiter| self.is_any_in_time(view, &reach, std::slice::from_ref(waiter));
        view.row.all(self.next, is_now, |waiter| {
            if !view.counts(waiter) {
                return;
            }
            let places = self.machines(view, waiter);
            could.extend(
                places.map(|(on, seconds)| {
                    (ends_after(view.known.now, seconds), on, waiter.turn, waiter.cores)
                }),
            );
        });
        could.into()
    }

    /// Who begins before that moment.
    fn reach(&self, view: &View<'_>, before: Time) -> Reach {
        let gaps = self.calendars.iter().map(|calendar| calendar.gaps((view.known.now, before)));
        Reach::new(gaps.collect(), view.row.speeds_met())
    }

    /// Whether any of these does. It is not asked where all moments are worked out, and so all machines go by the same word.
    #[inline]
    fn is_any_in_time(&self, view: &View<'_>, reach: &Reach, waiters: &[Waiter]) -> bool {
        let by_word = self.by_word.is_some();
        waiters.iter().any(|waiter| {
            let ops = if by_word { waiter.at_most } else { waiter.believed };
            reach.has((waiter.speeds, waiter.cores, ops), || self.places(view, waiter.class).collect())
        })
    }

    /// The next who has to have his moment, and when that is; none if nobody behind can start now.
    fn look(&mut self, view: &View<'_>) -> Option<(Waiter, Slot)> {
        loop {
            let nearest = self.horizon(view)?;
            let (waiter, slot) = self.first_before(view, nearest)?;
            if slot.2 <= self.passed {
                return Some((waiter, slot));
            }
            // Somebody who was passed over may keep what this one would take.
            self.horizons.retain(|(until, further)| *until > waiter.turn || *further > slot.2);
            self.horizons.push((waiter.turn, slot.2));
            let Fork { calendars, next, could } = self.fork.take().expect("somebody was passed over");
            (self.calendars, self.next, self.could) = (calendars, Some(next), could);
            self.reaches.clear();
            self.passed = Time::NEVER;
        }
    }

    /// The first of those behind who begins before that moment, or before one that matters for whoever comes after him.
    fn first_before(&mut self, view: &View<'_>, nearest: Time) -> Option<(Waiter, Slot)> {
        if nearest == Time::NEVER {
            return self.first_known(view);
        }
        let mut reaches = std::mem::take(&mut self.reaches);
        let found = self.first_in_reach(view, nearest, &mut reaches);
        self.reaches = reaches;
        let (found, slot, horizon) = found?;
        let first = view.row.first(self.next, |waiter| view.counts(waiter), |_, _| true)?;
        if first.turn < found.turn {
            self.pass(first.turn, horizon);
        }
        Some((found, slot))
    }

    /// The same, and the moment that matters for whoever comes after him.
    fn first_in_reach(
        &self,
        view: &View<'_>,
        nearest: Time,
        reaches: &mut Vec<(Time, Reach)>,
    ) -> Option<(Waiter, Slot, Time)> {
        let mut next = self.next;
        loop {
            let counts = |waiter: &Waiter| view.counts(waiter);
            // For which turns it was asked last, and the reach that counts for them.
            let mut last: Option<(RangeInclusive<Turn>, usize)> = None;
            let found = view.row.first(next, counts, |waiters, turn| {
                let known = match &last {
                    Some((turns, known)) if turns.contains(&turn) => *known,
                    Some(_) | None => {
                        let horizon = self.horizon_at(turn, nearest);
                        let known = reaches.iter().position(|known| known.0 >= horizon);
                        let known = known.unwrap_or_else(|| {
                            reaches.push((horizon, self.reach(view, horizon)));
                            reaches.len() - 1
                        });
                        last = Some((turn..=self.same_horizon_until(turn), known));
                        known
                    }
                };
                self.is_any_in_time(view, &reaches[known].1, waiters)
            })?;
            let horizon = self.horizon_at(found.turn, nearest);
            if let Some(slot) = self.earliest(view, &found, horizon) {
                return Some((found, slot, horizon));
            }
            // Somebody took since what he seemed to reach, or it is short by a rounding error.
            next = Some(after(found.turn));
            reaches.clear();
        }
    }

    /// The horizon of that turn and of later ones: what begins at or after it does not change who starts now.
    fn horizon_at(&self, turn: Turn, nearest: Time) -> Time {
        let further = self.horizons.iter().filter(|(until, _)| turn <= *until);
        further.fold(nearest, |horizon, (_, further)| horizon.max(*further))
    }

    /// The last turn for which the same moment matters as for that one.
    fn same_horizon_until(&self, turn: Turn) -> Turn {
        let further = self.horizons.iter().map(|(until, _)| *until).filter(|until| turn <= *until);
        further.min().unwrap_or(LAST)
    }

    /// The first of those behind whose moment is known.
    fn first_known(&mut self, view: &View<'_>) -> Option<(Waiter, Slot)> {
        let mut next = self.next;
        while let Some(waiter) = view.row.first(next, |waiter| view.counts(waiter), |_, _| true) {
            if let Some(slot) = self.earliest(view, &waiter, Time::NEVER) {
                return Some((waiter, slot));
            }
            if self.is_whole {
                self.close(view, &waiter);
            }
            next = Some(after(waiter.turn));
        }
        None
    }

    /// Nobody begins before that moment of those from that turn on who were not kept.
    fn pass(&mut self, turn: Turn, horizon: Time) {
        if self.fork.is_none() {
            let (calendars, could) = (self.calendars.clone(), self.could.clone());
            self.fork = Some(Fork { calendars, next: turn, could });
        }
        self.passed = self.passed.min(horizon);
    }

    /// Somebody waits for a moment that nobody knows: one machine is kept for him.
    fn close(&mut self, view: &View<'_>, waiter: &Waiter) {
        if view.first.is_some_and(|first| first.task == waiter.task() && first.by == Word::Nobody) {
            return;
        }
        let is_large = |on: &MachineId| {
            let class = view.known.grid.classes().machine_class(view.known.grid.machine(*on).class());
            slots(class.room) >= waiter.cores
        };
        let lowest = self.machines(view, waiter).map(|(on, _)| on).filter(is_large).min();
        if let Some(on) = lowest {
            self.closed[on.index()] = true;
        }
    }

    fn keep(&mut self, waiter: &Waiter, (begin, on, end): Slot) {
        self.calendars[on.index()].take(begin, end, waiter.cores.into());
        self.next = Some(after(waiter.turn));
        self.worked_out += 1;
    }

    fn earliest(&self, view: &View<'_>, waiter: &Waiter, before: Time) -> Option<Slot> {
        let slots = self.machines(view, waiter).map(|(on, seconds)| {
            let ends = |begin| ends_after(begin, seconds);
            let begin = self.calendars[on.index()].earliest((view.known.now, before), waiter.cores, ends);
            (begin, on, ends(begin))
        });
        // Of machines on which it begins equally early, where it ends first.
        slots.min_by_key(|&(begin, on, end)| (begin, end, on)).filter(|slot| slot.0 < Time::NEVER)
    }

    /// The machines that could run it, each with how long it takes there.
    fn machines<'a>(
        &'a self,
        view: &View<'a>,
        waiter: &'a Waiter,
    ) -> impl Iterator<Item = (MachineId, f64)> + 'a {
        let places = self.places(view, waiter.class);
        places.map(|(on, seconds_per_op)| (on, self.length_on(waiter, on) * seconds_per_op))
    }

    /// The machines that could run those of a class, each with its seconds per operation.
    fn places<'a>(
        &'a self,
        view: &View<'a>,
        class: TaskClassId,
    ) -> impl Iterator<Item = (MachineId, f64)> + 'a {
        let (grid, holds) = (view.known.grid, view.known.holds);
        let row = grid.classes().seconds_per_op_row(class).iter().enumerate();
        row.filter(|(_, seconds)| seconds.is_finite()).flat_map(move |(class, seconds_per_op)| {
            let open = holds.open(MachineClassId::new(class)).filter(|on| !self.closed[on.index()]);
            open.map(move |on| (on, *seconds_per_op))
        })
    }

    fn length_on(&self, waiter: &Waiter, on: MachineId) -> f64 {
        if self.by_word == Some(on) { waiter.at_most } else { waiter.believed }
    }
}

fn after((priority, task): Turn) -> Turn {
    (priority, TaskId::new(task.index() + 1))
}
