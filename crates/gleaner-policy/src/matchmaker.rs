//! The policy for time-shared machines: a task is placed when it arrives and may be moved later.

use crate::fleet::{Fleet, OWN_BOUNDS};
use crate::placement::place;
use crate::recipe::{Recipe, Relocate, When};
use crate::relocation::View;
use gleaner_core::{Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, Span, TaskId, Time};

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

    fn start(&self, grid: &Grid, task: TaskId) -> Option<Decision> {
        let on = place(self.recipe.place, grid, &self.fleet, grid.task(task).class())?;
        Some(Decision::Start { task, on })
    }

    /// Tasks that no machine could take go first, in order of arrival; only what is new on `machine` can help them.
    fn start_waiting(&self, grid: &Grid, machine: MachineId) -> Option<Decision> {
        let task = grid.longest_waiting(|class| grid.can_run(class, machine))?;
        self.start(grid, task)
    }

    fn relocate(&self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let rule = self.recipe.relocate.as_ref()?;
        if occasion.moves == rule.moves_max {
            return None;
        }
        let view = View { rule, grid, fleet: &self.fleet, now };
        let (task, to) = match (occasion.cause, rule.when) {
            (Cause::LoadRose(machine), When::AtEvents) => view.push(machine),
            (Cause::Joined(machine) | Cause::LoadFell(machine) | Cause::Freed(machine), When::AtEvents) => {
                view.pull(machine)
            }
            (Cause::WokeUp, When::Every(period)) if is_multiple(now, period) => view.rebalance(),
            (Cause::Submitted(_) | Cause::WokeUp, _) | (_, When::Every(_)) => None,
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
            Change::ResidentsChanged(machine) | Change::LoadChanged(machine) => {
                self.fleet.update(grid, machine);
            }
            // The first classes have bounds of their own in the index. Costs O(machines), and that a few times ever.
            Change::TaskClassMet(class) if class.index() < OWN_BOUNDS => self.rebuild(grid),
            // The index is about machines; what a task does shows in its machine's residents.
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::Waits(_)
            | Change::Started(_)
            | Change::Finished(_)
            | Change::StaleReply { .. }
            | Change::Refused(..)
            | Change::WakeChanged => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let placed = match occasion.cause {
            Cause::Submitted(task) if grid.task(task).attempt() == 0 => self.start(grid, task),
            Cause::Joined(machine) | Cause::LoadFell(machine) => self.start_waiting(grid, machine),
            Cause::Submitted(_) | Cause::LoadRose(_) | Cause::Freed(_) | Cause::WokeUp => None,
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
