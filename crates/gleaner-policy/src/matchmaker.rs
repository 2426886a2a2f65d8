//! The policy for time-shared and for exclusive machines: a task is placed when it arrives, or else as soon as a machine
//! has room for it, and may be moved later.

use crate::fleet::{Fleet, OWN_BOUNDS};
use crate::placement::place;
use crate::recipe::{Recipe, Relocate, When};
use crate::relocation::View;
use gleaner_core::{Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, Span, TaskClassId, TaskId, Time};

/// Places by one score, relocates by another or not at all.
#[derive(Clone, Debug)]
pub struct Matchmaker {
    recipe: Recipe,
    fleet: Fleet,
}

impl Matchmaker {
    /// The policy that follows `recipe`.
    pub fn new(recipe: Recipe) -> Self {
        Self { recipe, fleet: Fleet::default() }
    }

    fn place(&self, grid: &Grid, class: TaskClassId) -> Option<MachineId> {
        place(self.recipe.place, grid, &self.fleet, class)
    }

    fn start(&self, grid: &Grid, task: TaskId) -> Option<Decision> {
        let on = self.place(grid, grid.task(task).class())?;
        Some(Decision::Start { task, on })
    }

    /// Where the first task of a class finds no machine, none of the others would: they are not looked at.
    fn start_first_of(&self, grid: &Grid, class: TaskClassId) -> Option<Decision> {
        self.start(grid, grid.longest_waiting_of(class)?)
    }

    /// Tasks that no machine could take go first, in order of waiting; only what is new on `machine` can help them.
    fn start_waiting(&self, grid: &Grid, machine: MachineId) -> Option<Decision> {
        let task = grid.longest_waiting(|class| grid.can_run(class, machine))?;
        self.start(grid, task)
    }

    /// The tasks of a lost machine are of several classes. Costs a search for each class that waits.
    fn start_anywhere(&self, grid: &Grid) -> Option<Decision> {
        let task = grid.longest_waiting(|class| self.place(grid, class).is_some())?;
        self.start(grid, task)
    }

    fn relocate(&self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let rule = self.recipe.relocate.as_ref()?;
        if occasion.moves == rule.moves_max {
            return None;
        }
        let view = View { rule, grid, fleet: &self.fleet, now };
        let (task, to) = match (occasion.cause, rule.when) {
            (Cause::LoadRose(machine) | Cause::Closed(machine), When::AtEvents) => view.push(machine),
            (
                Cause::Joined(machine)
                | Cause::Opened(machine)
                | Cause::LoadFell(machine)
                | Cause::Freed(machine),
                When::AtEvents,
            ) => view.pull(machine),
            (Cause::WokeUp, When::Every(period)) if is_multiple(now, period) => view.rebalance(),
            // What is vacated is so by moves: to move again for it would never end.
            (Cause::Submitted(_) | Cause::Lost(_) | Cause::Vacated(_) | Cause::WokeUp, _)
            | (_, When::Every(_)) => None,
        }?;
        Some(Decision::Relocate { task, to })
    }

    /// A periodic relocator needs to be woken as long as anything runs.
    fn wake(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let Some(Relocate { when: When::Every(period), .. }) = self.recipe.relocate else { return None };
        let idle = grid.wake_at().is_some() || !grid.has_placed();
        (!idle).then(|| Decision::Wake { at: next_multiple(now, period) })
    }
}

fn is_multiple(now: Time, period: Span) -> bool {
    now.nanos().is_multiple_of(period.nanos())
}

fn next_multiple(now: Time, period: Span) -> Time {
    Time::from_nanos((now.nanos() / period.nanos() + 1).saturating_mul(period.nanos()))
}

impl Policy for Matchmaker {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        match *change {
            Change::MachineJoined(machine) => self.fleet.join(grid, machine),
            Change::ResidentsChanged(machine)
            | Change::LoadChanged(machine)
            | Change::AvailabilityChanged(machine) => self.fleet.update(grid, machine),
            // Seldom: a measurement came out otherwise than the one before. Costs O(machines).
            Change::MachineMeasured(_) | Change::TaskClassMeasured(_) => self.rebuild(grid),
            // The first classes have bounds of their own in the index. Costs O(machines), and that a few times ever.
            Change::TaskClassMet(class) if class.index() < OWN_BOUNDS => self.rebuild(grid),
            // The index is about machines; what a task does shows in its machine's residents.
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::Wait { .. }
            | Change::Started(_)
            | Change::Finished(_)
            | Change::Withdrawn(_)
            | Change::StaleReply { .. }
            | Change::Refused(..)
            | Change::WakeChanged => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let placed = match occasion.cause {
            Cause::Submitted(class) => self.start_first_of(grid, class),
            Cause::Joined(machine)
            | Cause::Opened(machine)
            | Cause::LoadFell(machine)
            | Cause::Freed(machine)
            | Cause::Vacated(machine) => self.start_waiting(grid, machine),
            Cause::Lost(_) => self.start_anywhere(grid),
            Cause::LoadRose(_) | Cause::Closed(_) | Cause::WokeUp => None,
        };
        placed.or_else(|| self.relocate(grid, now, occasion)).or_else(|| self.wake(grid, now))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.fleet = Fleet::of(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.fleet.check(grid)
    }
}
