//! Runs that stand still, since their machine's owner uses all of it, and whose tasks would begin anew elsewhere.
//!
//! **Such a run waits for its owner to leave as long as it had run before**: a move loses all that it did, and the owner may be gone in a
//! minute. So what waiting costs is never more than what the move loses.

use gleaner_core::{Change, Grid, Run};
use gleaner_units::{MachineId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// The index of them: from when on each may be moved.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Standing {
    /// Whether anything is moved when that comes.
    is_kept: bool,
    moments: BTreeSet<(Time, MachineId)>,
    by_machine: BTreeMap<MachineId, Vec<Time>>,
}

/// From when on a run may leave a machine that has stood still since then.
pub(crate) fn patience_ends(run: &Run, still_since: Time) -> Time {
    still_since + still_since.since(run.since())
}

impl Standing {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self { is_kept, ..Self::default() }
    }

    /// The same for a whole grid. Costs O(machines + runs on those that stand still).
    pub(crate) fn of(is_kept: bool, grid: &Grid) -> Self {
        let mut standing = Self::new(is_kept);
        if is_kept {
            (0..grid.machines().len()).for_each(|machine| standing.look_at(grid, MachineId::new(machine)));
        }
        standing
    }

    /// Costs O(runs there), where a machine stands still.
    #[inline]
    pub(crate) fn observe(&mut self, grid: &Grid, change: &Change) {
        if !self.is_kept {
            return;
        }
        match *change {
            Change::LoadChanged(machine)
            | Change::AvailabilityChanged(machine)
            | Change::ResidentsChanged(machine) => self.look_at(grid, machine),
            Change::Started(run) => {
                if let Some(run) = grid.find_run(run) {
                    self.look_at(grid, run.on());
                }
            }
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::TaskClassesMeasured
            | Change::TaskClassReplaced(_)
            | Change::MachineJoined(_)
            | Change::MachineMeasured(_)
            | Change::Wait { .. }
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::FollowerChanged(_)
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::CapsChanged
            | Change::Finished(_)
            | Change::EndsForgotten
            | Change::AnswerKept(_)
            | Change::Withdrawn { .. }
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::LoansChanged
            | Change::StaleReply(_)
            | Change::Refused(_)
            | Change::AlarmChanged(_) => {}
        }
    }

    #[inline]
    fn look_at(&mut self, grid: &Grid, machine: MachineId) {
        // Nearly always nothing stands still anywhere.
        if !self.by_machine.is_empty() || grid.machine(machine).still_since().is_some() {
            self.look_at_again(grid, machine);
        }
    }

    fn look_at_again(&mut self, grid: &Grid, machine: MachineId) {
        for moment in self.by_machine.remove(&machine).into_iter().flatten() {
            self.moments.remove(&(moment, machine));
        }
        let there = grid.machine(machine);
        let Some(since) = there.still_since() else { return };
        let restarting = there.counts().map(|(class, _)| class);
        let restarting = restarting.filter(|class| grid.classes().task_class(*class).restarts);
        let runs = restarting.flat_map(|class| there.running_of(class)).filter_map(|run| grid.find_run(run));
        let mut moments: Vec<Time> = runs.map(|run| patience_ends(run, since)).collect();
        moments.sort_unstable();
        moments.dedup();
        if !moments.is_empty() {
            self.moments.extend(moments.iter().map(|moment| (*moment, machine)));
            self.by_machine.insert(machine, moments);
        }
    }

    /// When the next may be moved.
    pub(crate) fn next(&self, now: Time) -> Option<Time> {
        if self.moments.is_empty() {
            return None;
        }
        self.moments.range((now.next(), MachineId::new(0))..).next().map(|(moment, _)| *moment)
    }

    /// The machines from which some may be moved since then.
    pub(crate) fn since(&self, due: Time, now: Time) -> impl Iterator<Item = MachineId> + '_ {
        let first = MachineId::new(0);
        self.moments.range((due.min(now), first)..(now.next(), first)).map(|(_, machine)| *machine)
    }
}
