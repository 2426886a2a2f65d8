//! Which tasks are to have more runs at a time than they have.
//!
//! **A copy takes no room that a task which waits could have**: copies are started at the end of an instant, once nothing that
//! waits can be.

use gleaner_core::{Change, Grid, Run, Stage, TaskState};
use gleaner_units::{TaskClassId, TaskId};
use std::collections::{BTreeMap, BTreeSet};

/// The index of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Copies {
    /// How many runs each task is to have.
    runs: u32,
    /// Those with fewer, by class; no class without any.
    short: BTreeMap<TaskClassId, BTreeSet<TaskId>>,
}

impl Copies {
    /// Each task is to have so many runs at a time.
    pub(crate) fn of_each(runs: u32) -> Self {
        Self { runs, short: BTreeMap::new() }
    }

    /// The same for a whole grid. Costs O(tasks) where there are to be copies.
    pub(crate) fn of(grid: &Grid, runs: u32) -> Self {
        let mut copies = Self::of_each(runs);
        if runs > 1 {
            grid.tasks().for_each(|(task, _)| copies.look_at(grid, task));
        }
        copies
    }

    /// The classes of the tasks that are to have more, each with these, in order of submission.
    pub(crate) fn short(&self) -> impl Iterator<Item = (TaskClassId, &BTreeSet<TaskId>)> {
        self.short.iter().map(|(class, tasks)| (*class, tasks))
    }

    /// Costs O(log tasks), for withdrawn tasks each.
    pub(crate) fn observe(&mut self, grid: &Grid, change: &Change) {
        if self.runs <= 1 {
            return;
        }
        match *change {
            Change::RoomTaken(run) | Change::RoomFreed(run, _) | Change::Started(run) => {
                self.look_at(grid, run.task);
            }
            Change::Finished(task) => self.look_at(grid, task),
            Change::Wait { first, count } | Change::Withdrawn { first, count } => {
                let end = TaskId::new(first.index() + count as usize);
                self.short.retain(|_, tasks| {
                    while let Some(&task) = tasks.range(first..end).next() {
                        tasks.remove(&task);
                    }
                    !tasks.is_empty()
                });
            }
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::TaskClassMeasured(_)
            | Change::MachineJoined(_)
            | Change::MachineMeasured(_)
            | Change::AvailabilityChanged(_)
            | Change::ResidentsChanged(_)
            | Change::LoadChanged(_)
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::LoansChanged
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn look_at(&mut self, grid: &Grid, task: TaskId) {
        let class = grid.task(task).class();
        if self.is_short(grid, task) {
            self.short.entry(class).or_default().insert(task);
        } else if let Some(tasks) = self.short.get_mut(&class) {
            tasks.remove(&task);
            if tasks.is_empty() {
                self.short.remove(&class);
            }
        }
    }

    /// What is being moved, or has its cores on several machines, has no copies.
    fn is_short(&self, grid: &Grid, task: TaskId) -> bool {
        let here = || grid.runs_of(task).filter(|run| run.stage() != Stage::Missing);
        let goes_on = |run: &Run| matches!(run.stage(), Stage::Sent | Stage::Running) && !run.is_wide();
        let count = here().count();
        grid.task(task).state() == TaskState::Placed
            && (1..self.runs as usize).contains(&count)
            && here().all(goes_on)
    }

    /// What differs from the index of the grid as it is.
    pub(crate) fn check(&self, grid: &Grid) -> Result<(), String> {
        let fresh = Self::of(grid, self.runs);
        if *self == fresh { Ok(()) } else { Err(format!("{self:?} are short of runs, where {fresh:?} are")) }
    }
}
