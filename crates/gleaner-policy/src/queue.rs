//! The policy for rigid jobs: tasks wait in one line, hold cores of an exclusive machine from their start to their end, and
//! start in turn, or before it where that delays nobody who has a moment kept for him.
//!
//! All that happens at one instant is told before anybody starts: what happens asks for a wake-up at the same instant, and
//! that is answered. It asks only where somebody could start as things stand: whatever else happens at the instant is looked
//! at too. A moment that is kept is worked out from what is believed of the runs, and never stands in the grid.
//!
//! - `holds` has what runs hold and until when that is believed, `declared` until when at the latest, `ends` when a machine's
//!   cores are free again by that.
//! - `line` has who waits; `forecast` of the crate says how long they are believed to be.
//! - `promise` has what is promised to the first in line, `fill` who may overtake it.
//! - `plan` has the moments that conservative backfilling keeps, `calendar` what of a machine's cores is left by them, `row`
//!   those who wait as it looks at them, `speeds` who of them are equally fast, `reach` who finds room in time.
//! - `why` says why a task waits.

mod calendar;
mod declared;
mod ends;
mod fill;
mod holds;
mod line;
mod members;
mod plan;
mod promise;
mod reach;
mod row;
mod speeds;
mod why;

use crate::forecast::{Forecast, Scale};
use crate::parts::lengths::Lengths;
use crate::parts::queue::{Backfill, Correction, Queueing};
use crate::wait_for_all::wait_for_all;
use declared::Declared;
use gleaner_core::{Alarm, Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use holds::Holds;
use line::{Kind, Line};
use plan::{Plan, View};
use promise::{Known, classes_for};
pub use promise::{Reservation, Word};
use row::Row;
pub use why::{HeldBack, Names};

/// Starts tasks from one line.
#[derive(Clone, Debug)]
pub struct Backfiller {
    recipe: Queueing,
    lengths: Lengths,
    forecast: Forecast,
    line: Line,
    holds: Holds,
    /// What counts where beliefs fail; none where that is what is believed.
    declared: Option<Declared>,
    /// Who waits, for a plan; empty where none is made.
    row: Row,
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

impl Backfiller {
    /// The policy that follows `recipe`.
    pub(crate) fn new(recipe: Queueing, lengths: Lengths) -> Self {
        let falls_back =
            recipe.backfill != Backfill::Fcfs && recipe.correction == Correction::Firm && lengths.is_learnt();
        Self {
            recipe,
            lengths,
            forecast: Forecast::new(lengths, Scale::Held),
            line: Line::default(),
            holds: Holds::new(recipe),
            declared: falls_back.then(Declared::default),
            row: Row::default(),
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
        let starts_now = self.place_now(grid, kind, |_| true).is_some();
        if starts_now { None } else { self.reserve(grid, now, first, kind) }
    }

    /// The first in line that some machine could take, were it empty: nobody waits for machines that are not there. Costs
    /// O(kinds that wait), where the very first is not the one.
    fn head(&self, grid: &Grid) -> Option<TaskId> {
        self.line.first(grid, |kind| {
            let mut classes = classes_for(grid, kind);
            !grid.is_capped(kind.class) && classes.any(|(_, class)| self.holds.has_open(class))
        })
    }

    /// What is promised to a task that cannot start now. Costs O(machines that it could use).
    fn reserve(&self, grid: &Grid, now: Time, task: TaskId, kind: &Kind) -> Option<Reservation> {
        self.known(grid, now).promise(task, kind)
    }

    fn known<'a>(&'a self, grid: &'a Grid, now: Time) -> Known<'a> {
        Known { grid, now, holds: &self.holds, declared: self.declared.as_ref() }
    }

    /// What a plan looks at.
    fn view<'a>(&'a self, grid: &'a Grid, now: Time) -> View<'a> {
        View { known: self.known(grid, now), row: &self.row, first: self.reservation(grid, now) }
    }

    /// Of the fastest machines that have room now and that it may have, the one with the least room. Costs O(machine classes), and
    /// O(log machines) each where memory is not short.
    fn place_now(&self, grid: &Grid, kind: &Kind, may: impl Fn(MachineId) -> bool) -> Option<MachineId> {
        let able = |on: MachineId| may(on) && grid.can_run(kind.class, on);
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

    /// Whether a run should have ended by now, and was not looked at since.
    fn is_late(&self, now: Time) -> bool {
        self.holds.next_end().is_some_and(|end| end <= now)
    }

    /// Whether nobody could start as things stand, if nothing else happened at this instant.
    fn is_settled(&mut self, grid: &Grid, now: Time) -> bool {
        if self.line.is_empty() {
            return true;
        }
        // A plan is made when all of the instant was told, and so is what is believed of a run that should have ended.
        if self.is_late(now) || self.recipe.backfill == Backfill::Conservative {
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
        if kept.by == Word::Nobody {
            return true;
        }
        let seconds = self.length_by(grid, kept.by, task) * grid.seconds_per_op(kind.class, kept.on);
        kind.needs.cores > self.holds.free_most()
            || kind.needs.cores > kept.spare && now.after_seconds(seconds) > kept.at
    }

    /// How long a task counts as, where a promise rests on that word.
    fn length_by(&self, grid: &Grid, word: Word, task: TaskId) -> f64 {
        match word {
            Word::Believed | Word::Nobody => self.forecast.length(grid, task).amount(),
            Word::Declared => self.forecast.at_most(grid, task).amount(),
        }
    }

    fn next(&mut self, grid: &Grid, now: Time) -> Option<(TaskId, MachineId)> {
        let cores_max = self.holds.free_most();
        if self.line.fewest_cores().is_none_or(|fewest| fewest > cores_max) {
            return None;
        }
        if self.recipe.backfill == Backfill::Conservative {
            let mut plan = self.plan.take();
            let view = self.view(grid, now);
            let due = plan.get_or_insert_with(|| Plan::of(&view)).due(&view);
            self.plan = plan;
            return due;
        }
        let head = self.head(grid)?;
        let kind = self.line.kind_of(grid, head);
        if kind.needs.cores <= cores_max
            && let Some(on) = self.place_now(grid, kind, |_| true)
        {
            return Some((head, on));
        }
        if self.recipe.backfill == Backfill::Fcfs {
            return None;
        }
        let kept = self.reserve(grid, now, head, kind)?;
        let filler = self.filler(grid, now, (kept, cores_max));
        self.blocked = filler.is_none().then_some(Blocked { kept, newcomer: None });
        filler
    }

    fn add_class(&mut self, grid: &Grid, class: TaskClassId) {
        self.line.add_class(grid, class);
        self.row.add_class(grid, class);
        if let Some(declared) = &mut self.declared {
            declared.line.add_class(grid, class);
        }
    }

    /// A class of which there is no task is another from now on.
    fn replace_class(&mut self, grid: &Grid, class: TaskClassId) {
        self.line.replace_class(grid, class);
        self.row.replace_class(grid, class);
        if let Some(declared) = &mut self.declared {
            declared.line.replace_class(grid, class);
        }
    }

    /// A task waits.
    fn add(&mut self, grid: &Grid, id: TaskId) {
        self.line.add(grid, id, self.forecast.length(grid, id));
        if self.recipe.backfill == Backfill::Conservative {
            self.row.add(grid, &self.forecast, self.line.turn_of(grid, id));
        }
        if let Some(declared) = &mut self.declared {
            declared.add(grid, &self.forecast, id);
        }
    }

    /// A task waits no more. Whether it did.
    fn remove(&mut self, grid: &Grid, id: TaskId) -> bool {
        if !self.line.remove(grid, id, || self.forecast.length(grid, id)) {
            return false;
        }
        self.row.remove(self.line.turn_of(grid, id));
        if let Some(declared) = &mut self.declared {
            declared.remove(grid, &self.forecast, id);
        }
        true
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
        // Where what was declared is believed to the end, nobody may start since that is over.
        let corrects = self.forecast.is_learnt() || self.recipe.correction != Correction::Firm;
        if !corrects || self.line.is_empty() {
            return None;
        }
        let at = self.holds.next_end()?.max(now);
        let earlier = grid.alarm(Alarm::Batch);
        earlier.is_none_or(|earlier| at < earlier).then_some(Decision::Wake { alarm: Alarm::Batch, at })
    }
}

impl Policy for Backfiller {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.forget_found(grid, change);
        match *change {
            Change::MachineClassMet(_)
            | Change::TaskClassesMeasured
            | Change::MachineMeasured(_)
            | Change::CapsChanged => {
                self.rebuild(grid);
            }
            Change::EndsForgotten => {
                if self.forecast.is_learnt() {
                    self.rebuild(grid);
                }
            }
            Change::TaskClassMet(class) => self.add_class(grid, class),
            Change::TaskClassReplaced(class) => self.replace_class(grid, class),
            Change::MachineJoined(machine) => {
                self.holds.join(grid, machine);
                if let Some(declared) = &mut self.declared {
                    declared.join(grid.classes().machine_class(grid.machine(machine).class()));
                }
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
                    self.add(grid, id);
                    let is_last = |plan: &Plan| plan.is_before(self.line.turn_of(grid, id));
                    if !self.plan.as_ref().is_none_or(is_last) {
                        self.plan = None;
                    }
                }
            }
            Change::Withdrawn { first, count } => {
                for id in (0..count as usize).map(|more| TaskId::new(first.index() + more)) {
                    if self.remove(grid, id) {
                        self.plan = None;
                    }
                }
            }
            Change::RoomTaken(run) => {
                let was_here = self.remove(grid, run.task);
                self.holds.take(grid, &self.forecast, run);
                if let Some(declared) = &mut self.declared {
                    declared.take(grid, &self.forecast, run);
                }
                let as_planned = self.plan.as_mut().is_some_and(|plan| plan.started(grid, run));
                // Others of its user may have to wait now for whom moments are kept.
                let (_, cores_max) = grid.cores_of_user(grid.task(run.task).class());
                if !(was_here && as_planned) || cores_max < u32::MAX {
                    self.plan = None;
                }
            }
            Change::RoomFreed(run, on) => {
                self.holds.free(run, on);
                if let Some(declared) = &mut self.declared {
                    declared.free(run);
                }
                self.plan = None;
            }
            Change::Finished(task) => {
                // It may have waited, as its machine was lost.
                if self.remove(grid, task) {
                    self.plan = None;
                }
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
                } else if self.found.is_some_and(|(_, found)| found.is_none()) {
                    // The run for whose end this was asked for ended before, and who waits was looked at then.
                    return self.wake(grid, now);
                }
                let next = self.find(grid, now);
                next.map(|(task, on)| Decision::Start { task, on }).or_else(|| self.wake(grid, now))
            }
            // Only what came could start: nothing else changed. Of several machines, the one on which the first in line is
            // expected to start first may be another as time passes.
            Cause::Submitted(class)
                if self.holds.is_one()
                    && !self.is_late(now)
                    && self.plan.as_ref().is_none_or(|plan| plan.holds(now))
                    && grid.classes().demand(class).needs.cores > self.holds.free_most() =>
            {
                self.wake(grid, now)
            }
            Cause::Submitted(_)
            | Cause::Joined(_)
            | Cause::Opened(_)
            | Cause::Measured(_)
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
        self.forecast = Forecast::of(self.lengths, Scale::Held, grid);
        (self.line, self.row) = (Line::default(), Row::default());
        let kept = self.declared.take();
        let classes = (0..grid.classes().task_classes().len()).map(TaskClassId::new);
        classes.for_each(|class| self.add_class(grid, class));
        grid.waiting_tasks().for_each(|(_, id)| self.add(grid, id));
        self.declared = kept.map(|_| Declared::of(grid, &self.forecast));
        // Nothing that should have ended was looked at yet.
        self.holds = Holds::of(self.recipe, grid, &self.forecast, Time::ZERO);
        (self.plan, self.found, self.blocked) = (None, None, None);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        let mut fresh = Self::new(self.recipe, self.lengths);
        fresh.rebuild(grid);
        if fresh.forecast != self.forecast {
            return Err("what is believed of tasks is not what the grid says".to_owned());
        }
        self.line.check(&fresh.line)?;
        self.row.check(&fresh.row)?;
        if let (Some(kept), Some(derived)) = (&self.declared, &fresh.declared) {
            kept.check(derived)?;
        }
        self.holds.check(grid, &self.forecast)
    }
}
