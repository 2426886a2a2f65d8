//! The policy for rigid jobs: tasks wait in one line, hold cores of an exclusive machine from their start to their end, and
//! start in turn, or before it where that delays nobody who has a moment kept for him.
//!
//! All that happens at one instant is told before anybody starts: what happens asks for a wake-up at the same instant, and
//! that is answered. It asks only where somebody could start as things stand: whatever else happens at the instant is looked
//! at too. A moment that is kept is worked out from what is believed of the runs, and never stands in the grid.
//!
//! - `holds` has what runs hold and until when that is believed, `ends` when a machine's cores are free again by that.
//! - `line` has who waits; `forecast` of the crate says how long they are believed to be.
//! - `plan` has the moments that conservative backfilling keeps, `calendar` what of a machine's cores is left by them.

mod calendar;
mod ends;
mod holds;
mod line;
mod members;
mod plan;

use crate::backlog::{Size, last_where};
use crate::forecast::Forecast;
use crate::parts::lengths::Lengths;
use crate::parts::queue::{Backfill, Queueing};
use crate::wait_for_all::wait_for_all;
use gleaner_core::{Alarm, Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineClassId, MachineId, TaskId, Time};
use holds::Holds;
use line::{Kind, Line, Waits};
use plan::Plan;

const NANOS_PER_SECOND: f64 = 1e9;

/// Starts tasks from one line.
#[derive(Clone, Debug)]
pub struct Backfiller {
    recipe: Queueing,
    lengths: Lengths,
    forecast: Forecast,
    line: Line,
    holds: Holds,
    /// What conservative backfilling keeps for each, as long as it holds.
    plan: Option<Plan>,
    /// Who was found to start next at an instant, and where, as long as nothing changed since.
    found: Option<(Time, Option<(TaskId, MachineId)>)>,
    /// Nobody could start, and nothing changed since but that somebody came.
    blocked: Option<Blocked>,
}

/// The first in line waits for what is kept for it, and nobody can start before.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    kept: Reservation,
    /// Who came since.
    newcomer: Option<TaskId>,
}

/// The earliest moment at which a task can start, where, and what it leaves there then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// For whom it is kept.
    pub task: TaskId,
    /// Where.
    pub on: MachineId,
    /// When; never where nothing that runs there is known to end.
    pub at: Time,
    /// The cores that it will not need then.
    pub spare: u32,
}

impl Backfiller {
    /// The policy that follows `recipe`.
    pub(crate) fn new(recipe: Queueing, lengths: Lengths) -> Self {
        let (forecast, holds) = (Forecast::new(lengths), Holds::new(recipe.correction));
        Self {
            recipe,
            lengths,
            forecast,
            line: Line::default(),
            holds,
            plan: None,
            found: None,
            blocked: None,
        }
    }

    pub(crate) fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// The first in line, where it cannot start now, with what is kept for it. Costs O(machines that it could use).
    pub fn reservation(&self, grid: &Grid, now: Time) -> Option<Reservation> {
        let first = self.head(grid)?;
        let kind = self.line.kind_of(grid, first);
        let starts_now = self.place_now(grid, kind, None).is_some();
        if starts_now { None } else { self.reserve(grid, now, first, kind) }
    }

    /// The first in line that some machine could take, were it empty: nobody waits for machines that are not there. Costs
    /// O(tasks before it), of which there are mostly none.
    fn head(&self, grid: &Grid) -> Option<TaskId> {
        let is_able = |task: &TaskId| {
            let mut classes = classes_for(grid, self.line.kind_of(grid, *task));
            !grid.is_capped(grid.task(*task).class()) && classes.any(|(_, class)| self.holds.has_open(class))
        };
        self.line.in_order().find(is_able)
    }

    /// What keeps a task that waits from starting now: the moment that is kept for it, or else the one that is kept for the
    /// first in line. Costs O(waiting tasks): for explanations.
    pub fn holds_back(&self, grid: &Grid, now: Time, task: TaskId) -> Option<Reservation> {
        let own = self.plan.as_ref().and_then(|plan| plan.moment_of(task));
        let own = own.map(|(at, on)| Reservation { task, on, at, spare: 0 });
        own.or_else(|| self.reservation(grid, now))
    }

    /// The earliest moment for a task that cannot start now.
    fn reserve(&self, grid: &Grid, now: Time, task: TaskId, kind: &Kind) -> Option<Reservation> {
        let cores = kind.needs.cores;
        let machines = classes_for(grid, kind).flat_map(|(_, class)| self.holds.open(class));
        let moments = machines.map(|on| (self.moment(grid, now, kind, on), on));
        let (at, on) = moments.min()?;
        let spare = self.holds.ends()[on.index()].free_at(at) - i64::from(cores);
        Some(Reservation { task, on, at, spare: u32::try_from(spare).unwrap_or(0) })
    }

    /// From when on a machine has room for the first in line, as far as cores go.
    fn moment(&self, grid: &Grid, now: Time, kind: &Kind, on: MachineId) -> Time {
        let by_cores = self.holds.ends()[on.index()].earliest(now, kind.needs.cores);
        if by_cores > now || grid.can_run(kind.class, on) {
            return by_cores;
        }
        // It is memory that is short: something has to end first.
        self.holds.next_end().map_or(Time::NEVER, |end| end.max(now))
    }

    /// Of the fastest machines that have room now, the one with the least; not on `but`. Costs O(machine classes), and
    /// O(log machines) each where memory is not short.
    fn place_now(&self, grid: &Grid, kind: &Kind, but: Option<MachineId>) -> Option<MachineId> {
        let able = |on: MachineId| Some(on) != but && grid.can_run(kind.class, on);
        let nearest = classes_for(grid, kind).filter_map(|(seconds, class)| {
            let mut rooms = self.holds.with_room(class, kind.needs.cores);
            rooms.find(|&(_, on)| able(on)).map(|(free, on)| (seconds, free, on))
        });
        let order = |one: &(f64, u32, MachineId), other: &(f64, u32, MachineId)| {
            one.0.total_cmp(&other.0).then((one.1, one.2).cmp(&(other.1, other.2)))
        };
        nearest.min_by(order).map(|(_, _, on)| on)
    }

    /// The next to start now, and where. Looked for once, as long as nothing changes.
    fn find(&mut self, grid: &Grid, now: Time) -> Option<(TaskId, MachineId)> {
        if let Some((at, found)) = self.found
            && at == now
        {
            return found;
        }
        let found = self.next(grid, now);
        self.found = Some((now, found));
        found
    }

    /// Whether nobody could start as things stand, if nothing else happened at this instant.
    fn is_settled(&mut self, grid: &Grid, now: Time) -> bool {
        if self.line.is_empty() {
            return true;
        }
        // A plan is made when all of the instant was told, and so is what is believed of a run that should have ended.
        let is_late = self.holds.next_end().is_some_and(|end| end <= now);
        if is_late || self.recipe.backfill == Backfill::Conservative {
            return false;
        }
        if self.blocked.is_some_and(|blocked| self.is_behind(grid, now, blocked)) {
            if let Some(blocked) = &mut self.blocked {
                blocked.newcomer = None;
            }
            self.found = Some((now, None));
            return true;
        }
        self.find(grid, now).is_none()
    }

    /// Whether who came since nobody could start cannot start either.
    fn is_behind(&self, grid: &Grid, now: Time, Blocked { kept, newcomer }: Blocked) -> bool {
        let Some(task) = newcomer else { return true };
        if !self.holds.is_one() {
            return false;
        }
        let kind = self.line.kind_of(grid, task);
        let seconds = self.forecast.length(grid, task).amount() * grid.seconds_per_op(kind.class, kept.on);
        kind.needs.cores > self.holds.free_most()
            || kind.needs.cores > kept.spare && now.after_seconds(seconds) > kept.at
    }

    fn next(&mut self, grid: &Grid, now: Time) -> Option<(TaskId, MachineId)> {
        if self.recipe.backfill == Backfill::Conservative {
            let Self { line, forecast, holds, plan, .. } = self;
            let plan = plan.get_or_insert_with(|| Plan::on(holds));
            plan.advance(now);
            plan.extend(grid, now, (line, forecast, holds));
            return plan.due(grid, now);
        }
        let cores_max = self.holds.free_most();
        if self.line.fewest_cores().is_none_or(|fewest| fewest > cores_max) {
            return None;
        }
        let head = self.head(grid)?;
        let kind = self.line.kind_of(grid, head);
        if kind.needs.cores <= cores_max
            && let Some(on) = self.place_now(grid, kind, None)
        {
            return Some((head, on));
        }
        if self.recipe.backfill == Backfill::Fcfs {
            return None;
        }
        let kept = self.reserve(grid, now, head, kind)?;
        // Tasks are alike here whose users are not: one that has to wait for its user keeps a gap empty.
        let filler = self.filler(grid, now, (kept, cores_max));
        let filler = filler.filter(|&(task, _)| !grid.is_capped(grid.task(task).class()));
        self.blocked = filler.is_none().then_some(Blocked { kept, newcomer: None });
        filler
    }

    /// Who starts before the first in line, and where.
    fn filler(
        &self,
        grid: &Grid,
        now: Time,
        (kept, cores_max): (Reservation, u32),
    ) -> Option<(TaskId, MachineId)> {
        let is_one = self.holds.is_one();
        let elsewhere = |kind: &Kind| if is_one { None } else { self.place_now(grid, kind, Some(kept.on)) };
        let class = grid.machine(kept.on).class();
        // Nobody that needs what the first in line will need may be longer, however fast the machine is.
        let most = no_longer_than(now, kept.at, self.line.fastest(class));
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
        let takes_tasks = grid.machine(kept.on).takes_tasks();
        let mut longest = |kind: &Kind| {
            if elsewhere(kind).is_some() {
                return Some(Size::BEYOND.previous());
            }
            let seconds_per_op = grid.classes().seconds_per_op(kind.class, class);
            if !(takes_tasks && free.holds(kind.needs) && seconds_per_op.is_finite()) {
                return None;
            }
            let spares = kind.needs.cores <= kept.spare;
            Some(if spares { Size::BEYOND.previous() } else { until_kept(seconds_per_op) })
        };
        let task = self.line.filler((self.recipe.fill, cores_max), kept.task, may, &mut longest)?;
        let kind = self.line.kind_of(grid, task);
        let on = elsewhere(kind).unwrap_or(kept.on);
        Some((task, on))
    }

    /// What was found holds as long as nothing changes that it depends on.
    fn forget_found(&mut self, grid: &Grid, change: &Change) {
        if matches!(change, Change::AlarmChanged(_) | Change::Started(_)) {
            return;
        }
        self.found = None;
        let Some(Blocked { kept, newcomer: None }) = self.blocked.take() else { return };
        if let Change::Wait { first, count: 1 } = *change
            && self.line.turn_of(grid, kept.task) < self.line.turn_of(grid, first)
        {
            self.blocked = Some(Blocked { kept, newcomer: Some(first) });
        }
    }

    /// Asks for the moment at which what is believed proves wrong, where that may let somebody start.
    fn wake(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if !self.forecast.is_learnt() || self.line.is_empty() {
            return None;
        }
        let at = self.holds.next_end()?.max(now);
        let earlier = grid.alarm(Alarm::Batch);
        earlier.is_none_or(|earlier| at < earlier).then_some(Decision::Wake { alarm: Alarm::Batch, at })
    }
}

/// The classes of machines that can run it, each with the seconds that an operation takes there.
fn classes_for<'a>(grid: &'a Grid, kind: &Kind) -> impl Iterator<Item = (f64, MachineClassId)> + 'a {
    let row = grid.classes().seconds_per_op_row(kind.class).iter().enumerate();
    let able = row.filter(|(_, seconds)| seconds.is_finite());
    able.map(|(index, seconds)| (*seconds, MachineClassId::new(index)))
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

impl Policy for Backfiller {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.forget_found(grid, change);
        match *change {
            Change::MachineClassMet(_) | Change::TaskClassMeasured(_) | Change::MachineMeasured(_) => {
                self.rebuild(grid);
            }
            Change::TaskClassMet(class) => self.line.add_class(grid, class),
            Change::TaskClassReplaced(class) => self.line.replace_class(grid, class),
            Change::MachineJoined(machine) => {
                self.holds.join(grid, machine);
                self.plan = None;
            }
            Change::AvailabilityChanged(machine) | Change::LoadChanged(machine) => {
                self.holds.list(grid, machine);
                self.plan = None;
            }
            Change::ResidentsChanged(machine) => self.holds.list(grid, machine),
            Change::Wait { first, count } => {
                for id in (0..count as usize).map(|more| TaskId::new(first.index() + more)) {
                    self.forecast.submitted(grid, id);
                    self.line.add(grid, id, self.forecast.length(grid, id));
                    let is_last = |plan: &Plan| plan.is_before(self.line.turn_of(grid, id));
                    if !self.plan.as_ref().is_none_or(is_last) {
                        self.plan = None;
                    }
                }
            }
            Change::Withdrawn { first, count } => {
                for id in (0..count as usize).map(|more| TaskId::new(first.index() + more)) {
                    if self.line.remove(grid, id, || self.forecast.length(grid, id)) {
                        self.plan = None;
                    }
                }
            }
            Change::RoomTaken(run) => {
                let length = self.forecast.length(grid, run.task);
                let was_here = self.line.remove(grid, run.task, || length);
                self.holds.take(grid, length, run);
                let as_planned = self.plan.as_mut().is_some_and(|plan| plan.started(grid, run));
                if !(was_here && as_planned) {
                    self.plan = None;
                }
            }
            Change::RoomFreed(run, on) => {
                let believed = self.holds.free(run, on);
                if believed != Some(grid.task(run.task).ended()) {
                    self.plan = None;
                }
            }
            Change::Finished(task) => {
                self.line.remove(grid, task, || self.forecast.length(grid, task));
                self.forecast.ended(grid, task);
            }
            Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::LoansChanged
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        match occasion.cause {
            Cause::WokeUp { .. } => {
                if self.holds.look(grid, &self.forecast, now) {
                    (self.plan, self.found, self.blocked) = (None, None, None);
                }
                let next = self.find(grid, now);
                next.map(|(task, on)| Decision::Start { task, on }).or_else(|| self.wake(grid, now))
            }
            // Only what came could start: nothing else changed.
            Cause::Submitted(class) if grid.classes().demand(class).needs.cores > self.holds.free_most() => {
                self.wake(grid, now)
            }
            Cause::Submitted(_)
            | Cause::Joined(_)
            | Cause::Opened(_)
            | Cause::Closed(_)
            | Cause::Lost(_)
            | Cause::LoadRose(_)
            | Cause::LoadFell(_)
            | Cause::Freed(_)
            | Cause::Vacated(_)
            | Cause::Published(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::DataCame
            | Cause::Withdrawn
            | Cause::RuleChanged => {
                // What is asked for may have come without a change.
                if occasion.cause == Cause::RuleChanged {
                    (self.found, self.blocked) = (None, None);
                }
                let is_asked = grid.alarm(Alarm::Batch).is_some_and(|at| at <= now);
                if is_asked {
                    None
                } else if self.is_settled(grid, now) {
                    self.wake(grid, now)
                } else {
                    wait_for_all(grid, now)
                }
            }
        }
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.forecast = Forecast::of(self.lengths, grid);
        self.line = Line::default();
        (0..grid.classes().task_classes().len())
            .for_each(|class| self.line.add_class(grid, gleaner_units::TaskClassId::new(class)));
        for (_, id) in grid.waiting_tasks() {
            self.line.add(grid, id, self.forecast.length(grid, id));
        }
        // Nothing that should have ended was looked at yet.
        self.holds = Holds::of(self.recipe.correction, grid, &self.forecast, Time::ZERO);
        (self.plan, self.found, self.blocked) = (None, None, None);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        let mut fresh = Self::new(self.recipe, self.lengths);
        fresh.rebuild(grid);
        if fresh.forecast != self.forecast {
            return Err("what is believed of tasks is not what the grid says".to_owned());
        }
        self.line.check(&fresh.line)?;
        self.holds.check(grid, &self.forecast)
    }
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
