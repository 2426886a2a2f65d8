//! The tasks that wait and are planned nowhere, where their length is known: what a batch has to place.

mod shelf;

use crate::forecast::Forecast;
use gleaner_core::{Change, Grid};
use gleaner_units::{Ops, OpsTotal, RunId, TaskClassId, TaskId};
pub(crate) use shelf::{Place, Shelf};

/// A task that has no place, and how long it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Waiting {
    pub(crate) length: Ops,
    pub(crate) id: TaskId,
}

impl Waiting {
    #[inline]
    pub(crate) fn size(&self) -> Size {
        Size::of(self.length.amount())
    }

    #[inline]
    fn key(&self) -> (Size, TaskId) {
        (self.size(), self.id)
    }
}

/// A length as a whole number, in the order of lengths: so there is a next one, and ranges have a first and a last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Size(u64);

impl Size {
    /// No length is less.
    pub(crate) const LEAST: Size = Size(0);
    /// Every length is less.
    pub(crate) const BEYOND: Size = Size(u64::MAX);

    /// Of a length, which is above 0: the bits of such numbers are in the order of the numbers.
    #[inline]
    pub(crate) fn of(length: f64) -> Self {
        Self(length.to_bits())
    }

    #[inline]
    pub(crate) fn length(self) -> f64 {
        f64::from_bits(self.0)
    }

    #[inline]
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }

    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn previous(self) -> Self {
        Self(self.0 - 1)
    }
}

/// Where a condition on lengths changes that holds at `low` and not at `high`: the last length for which it holds.
/// Costs O(1), which is up to 64 looks.
pub(crate) fn last_where(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Size {
    let (Size(mut low), Size(mut high)) = (Size::of(low), Size::of(high));
    while low + 1 < high {
        let middle = low.midpoint(high);
        if holds(Size(middle).length()) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Size(low)
}

/// A shelf for each class of tasks.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Backlog {
    shelves: Vec<Shelf>,
}

impl Backlog {
    /// Of a whole grid. Costs O(waiting tasks).
    pub(crate) fn of(grid: &Grid, forecast: &Forecast) -> Self {
        let mut backlog = Self { shelves: vec![Shelf::default(); grid.classes().task_classes().len()] };
        grid.waiting_tasks().for_each(|(_, task)| backlog.add(grid, forecast, task));
        backlog
    }

    /// Takes note of what became of the grid. Costs O(√tasks) at most for each task, and that is little.
    pub(crate) fn observe(&mut self, grid: &Grid, forecast: &Forecast, change: &Change) {
        match *change {
            Change::TaskClassMet(_) => self.shelves.push(Shelf::default()),
            Change::Wait { first, count } => {
                (0..count as usize)
                    .for_each(|more| self.add(grid, forecast, TaskId::new(first.index() + more)));
            }
            Change::Withdrawn { first, count } => {
                (0..count as usize)
                    .for_each(|more| self.remove(grid, forecast, TaskId::new(first.index() + more)));
            }
            Change::Unplanned(task) => self.add(grid, forecast, task),
            // A task that starts was planned before, or is none of this policy's.
            Change::Planned(task, _) | Change::Started(RunId { task, .. }) | Change::Finished(task) => {
                self.remove(grid, forecast, task);
            }
            Change::MachineClassMet(_)
            | Change::TaskClassesMeasured
            | Change::TaskClassReplaced(_)
            | Change::MachineJoined(_)
            | Change::MachineMeasured(_)
            | Change::AvailabilityChanged(_)
            | Change::ResidentsChanged(_)
            | Change::BudgetChanged
            | Change::LoadChanged(_)
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::CapsChanged
            | Change::EndsForgotten
            | Change::LoansChanged
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    /// How long the tasks of some classes are together. Costs O(task classes).
    pub(crate) fn ops(&self, is_wanted: impl Fn(TaskClassId) -> bool) -> OpsTotal {
        let numbered = self.shelves.iter().enumerate();
        numbered.filter(|(index, _)| is_wanted(TaskClassId::new(*index))).map(|(_, shelf)| shelf.ops()).sum()
    }

    /// The classes with something on their shelf, in order.
    pub(crate) fn shelves(&mut self) -> impl Iterator<Item = (TaskClassId, &mut Shelf)> {
        let numbered = self.shelves.iter_mut().enumerate();
        numbered.filter(|(_, shelf)| !shelf.is_empty()).map(|(index, shelf)| (TaskClassId::new(index), shelf))
    }

    fn add(&mut self, grid: &Grid, forecast: &Forecast, id: TaskId) {
        if grid.plans().queue_of(id).is_none()
            && let Some(length) = forecast.known(grid, id)
        {
            self.shelves[grid.task(id).class().index()].insert(Waiting { length, id });
        }
    }

    fn remove(&mut self, grid: &Grid, forecast: &Forecast, id: TaskId) {
        if let Some(length) = forecast.known(grid, id) {
            self.shelves[grid.task(id).class().index()].remove(Waiting { length, id });
        }
    }
}
