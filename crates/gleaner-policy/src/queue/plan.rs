//! The moments that conservative backfilling keeps for all that wait, and who starts now by them: each in turn gets the
//! earliest moment that those before it leave, and where an end was not as believed all moments are worked out anew.
//!
//! **Only those moments are worked out that tell who starts now.** Somebody starts now if his cores are free for as long as he
//! takes, and nobody before him keeps any of them. So who begins no sooner than everybody who could start now will have ended
//! is passed over. That is checked by what is left of the cores without those passed over, which is more than there is; where
//! somebody is to begin sooner and lasts until those passed over may begin, all are looked at again that come before him, as
//! far as his end. What failed once rules out whoever needs as many cores for as long, since less and less is left.

use super::calendar::Calendar;
use super::declared::Declared;
use super::holds::{Holds, ends_after, slots};
use super::line::Turn;
use super::promise::{Reservation, Word};
use super::row::{Row, Waiter};
use super::ruled_out::RuledOut;
use gleaner_core::Grid;
use gleaner_units::{MachineClassId, MachineId, RunId, TaskId, Time};

/// So many have their moment worked out before it is looked for whoever could start: mostly that is all there is to do.
const AT_ONCE: u32 = 8;

/// What a plan looks at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) now: Time,
    pub(crate) holds: &'a Holds,
    pub(crate) declared: Option<&'a Declared>,
    pub(crate) row: &'a Row,
    /// What is promised to the first in line, where it cannot start now.
    pub(crate) first: Option<Reservation>,
}

impl View<'_> {
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
    /// As it was before somebody was passed over, and who.
    fork: Option<Fork>,
    ruled_out: RuledOut,
    /// Those behind who could start now, by what is left so far; none before they were looked for.
    could: Option<Vec<Waiter>>,
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
    could: Option<Vec<Waiter>>,
}

impl Plan {
    /// Nobody has a moment yet.
    pub(crate) fn of(view: &View<'_>) -> Self {
        let by_word = view.first.filter(|first| first.by == Word::Declared).map(|first| first.on);
        let machines = (0..view.holds.ends().len()).map(MachineId::new);
        let mut until = Time::NEVER;
        let calendars = machines.map(|on| {
            let ends = match view.declared {
                Some(declared) if by_word == Some(on) => {
                    until = declared.ends(on).first_after(view.now).map_or(until, |first| first.min(until));
                    declared.ends(on)
                }
                Some(_) | None => &view.holds.ends()[on.index()],
            };
            let steps = ends.steps(view.now, |run| {
                let end = view.declared.map_or(Time::NEVER, |declared| declared.end_of(view.now, run));
                until = until.min(end);
                end
            });
            Calendar::of(steps)
        });
        let calendars: Vec<Calendar> = calendars.collect();
        let all_end = |(index, calendar): (usize, &Calendar)| {
            let class = view.grid.machine(MachineId::new(index)).class();
            calendar.at_last() >= slots(view.grid.classes().machine_class(class).room).into()
        };
        let mut closed = vec![false; calendars.len()];
        if let Some(first) = view.first.filter(|first| first.by == Word::Nobody) {
            closed[first.on.index()] = true;
        }
        let is_whole = !view.row.is_known()
            || view.first.is_some_and(|first| first.by == Word::Nobody)
            || by_word.is_some() && !view.holds.is_one()
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
            fork: None,
            ruled_out: RuledOut::default(),
            could: None,
            worked_out: 0,
            starts: None,
            at: view.now,
            until,
            over: None,
        }
    }

    /// The next who starts now, and where.
    pub(crate) fn due(&mut self, view: &View<'_>) -> Option<(TaskId, MachineId)> {
        if self.slipped != view.slipped() || !self.holds(view.now) {
            *self = Self::of(view);
        } else if self.at != view.now || self.over.is_some() {
            if self.is_over(view) {
                (self.at, self.over) = (view.now, view.row.last());
                return None;
            }
            *self = Self::of(view);
        }
        while let Some((waiter, slot)) = self.look(view) {
            self.keep(&waiter, slot);
            let class = view.grid.task(waiter.task()).class();
            if slot.0 <= view.now && view.grid.can_run(class, slot.1) && !view.grid.is_capped(class) {
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
        let newcomers = view.row.from(Some(after(last)));
        newcomers.is_empty() || !self.is_whole && newcomers.iter().all(|one| self.now(view, one).is_none())
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
        // Those who are looked at again find it there, though they came before it: it took nothing from them.
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
        let mut could = match self.could.take() {
            Some(could) => could,
            None => self.who_could(view),
        };
        could.retain(|waiter| self.next.is_none_or(|next| next <= waiter.turn));
        let mut horizon = None;
        could.retain(|waiter| {
            let end = self.now(view, waiter);
            horizon = horizon.max(end);
            end.is_some()
        });
        self.could = Some(could);
        horizon
    }

    fn who_could(&self, view: &View<'_>) -> Vec<Waiter> {
        let most = view.holds.free_most();
        let mut ruled_out = RuledOut::default();
        let could = view.row.from(self.next).iter().filter(|waiter| {
            let length = self.length_of(waiter);
            if waiter.cores > most || ruled_out.has(waiter, length, Time::ZERO) {
                return false;
            }
            let is_free = self.now(view, waiter).is_some();
            if !is_free {
                ruled_out.add(waiter, length, Time::ZERO);
            }
            is_free
        });
        could.copied().collect()
    }

    /// The latest at which somebody ends who starts now on a machine with room for him, if there is any.
    fn now(&self, view: &View<'_>, waiter: &Waiter) -> Option<Time> {
        let free = self.machines(view, waiter).filter_map(|(on, seconds)| {
            let end = ends_after(view.now, seconds);
            self.calendars[on.index()].has(view.now, end, waiter.cores).then_some(end)
        });
        free.max()
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
            self.passed = Time::NEVER;
            self.ruled_out.clear();
        }
    }

    /// The first of those behind who begins before that moment, or before one that matters for whoever comes after him.
    fn first_before(&mut self, view: &View<'_>, nearest: Time) -> Option<(Waiter, Slot)> {
        for waiter in view.row.from(self.next) {
            let further = self.horizons.iter().filter(|(turn, _)| waiter.turn <= *turn);
            let horizon = further.fold(nearest, |horizon, (_, further)| horizon.max(*further));
            let length = self.length_of(waiter);
            if !self.is_whole && self.ruled_out.has(waiter, length, horizon) {
                self.pass(waiter.turn, horizon);
                continue;
            }
            match self.earliest(view, waiter, horizon) {
                Some(slot) => return Some((*waiter, slot)),
                None if self.is_whole => self.close(view, waiter),
                None => {
                    self.ruled_out.add(waiter, length, horizon);
                    self.pass(waiter.turn, horizon);
                }
            }
        }
        None
    }

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
            let class = view.grid.classes().machine_class(view.grid.machine(*on).class());
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
            let begin = self.calendars[on.index()].earliest((view.now, before), waiter.cores, ends);
            (begin, on, ends(begin))
        });
        slots.min().filter(|slot| slot.0 < Time::NEVER)
    }

    /// The machines that could run it, each with how long it takes there.
    fn machines<'a>(
        &'a self,
        view: &View<'a>,
        waiter: &'a Waiter,
    ) -> impl Iterator<Item = (MachineId, f64)> + 'a {
        let (grid, holds) = (view.grid, view.holds);
        let row = grid.classes().seconds_per_op_row(grid.task(waiter.task()).class()).iter().enumerate();
        row.filter(|(_, seconds)| seconds.is_finite()).flat_map(move |(class, seconds_per_op)| {
            let open = holds.open(MachineClassId::new(class)).filter(|on| !self.closed[on.index()]);
            open.map(move |on| (on, self.length_on(waiter, on) * seconds_per_op))
        })
    }

    fn length_on(&self, waiter: &Waiter, on: MachineId) -> f64 {
        if self.by_word == Some(on) { waiter.at_most } else { waiter.believed }
    }

    /// Where not all moments are worked out, lengths are of one kind.
    fn length_of(&self, waiter: &Waiter) -> f64 {
        if self.by_word.is_some() { waiter.at_most } else { waiter.believed }
    }
}

fn after((priority, task): Turn) -> Turn {
    (priority, TaskId::new(task.index() + 1))
}
