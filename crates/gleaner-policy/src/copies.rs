//! Which tasks are to have more runs at a time than they have.
//!
//! **A copy that is to be faster takes no room that a task which waits could have**: such copies are started at the end of an
//! instant, once nothing that waits can be. **One that an answer is compared with goes before tasks that wait**: its task was
//! begun before them, and would else never end on a grid that has always something to do.

mod asked;

pub(crate) use asked::{Asked, voices};

use gleaner_core::{Change, Grid, Run, Stage, TaskState};
use gleaner_units::{TaskClassId, TaskId};
use std::collections::BTreeMap;

/// Tasks by class; no class without any.
type ByClass = BTreeMap<TaskClassId, Asked>;

/// The index of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Copies {
    /// How many runs each task is to have.
    runs: u32,
    /// Those with fewer.
    short: ByClass,
    /// Those that wait for more answers than are on their way.
    unanswered: ByClass,
}

impl Copies {
    /// Each task is to have so many runs at a time.
    pub(crate) fn of_each(runs: u32) -> Self {
        Self { runs, ..Self::default() }
    }

    /// The same for a whole grid. Costs O(tasks) where there are to be copies.
    pub(crate) fn of(grid: &Grid, runs: u32) -> Self {
        let mut copies = Self::of_each(runs);
        if runs > 1 {
            grid.tasks().for_each(|(task, _)| copies.look_at(grid, task));
        }
        grid.comparisons().for_each(|(task, _)| copies.look_at(grid, task));
        copies
    }

    /// Whether no task is to have more.
    #[inline]
    pub(crate) fn has_enough(&self) -> bool {
        self.short.is_empty()
    }

    /// Whether no task waits for more answers than are on their way.
    #[inline]
    pub(crate) fn are_answered(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// The classes of the tasks that are to have more, each with these.
    pub(crate) fn short(&self) -> impl Iterator<Item = (TaskClassId, &Asked)> {
        self.short.iter().map(|(class, tasks)| (*class, tasks))
    }

    /// Likewise those whose answers do not decide.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = (TaskClassId, &Asked)> {
        self.unanswered.iter().map(|(class, tasks)| (*class, tasks))
    }

    /// Costs O(log tasks), for withdrawn tasks each.
    #[inline]
    pub(crate) fn observe(&mut self, grid: &Grid, change: &Change) {
        let is_idle = self.runs <= 1 && self.unanswered.is_empty() && !grid.compares();
        if !is_idle {
            self.take_note(grid, change);
        }
    }

    fn take_note(&mut self, grid: &Grid, change: &Change) {
        match *change {
            Change::RoomTaken(run) | Change::RoomFreed(run, _) | Change::Started(run) => {
                self.look_at(grid, run.task);
            }
            Change::Finished(task) | Change::AnswerKept(task) => self.look_at(grid, task),
            Change::Wait { first, count } | Change::Withdrawn { first, count } => {
                // They are of one class.
                let (class, end) = (grid.task(first).class(), TaskId::new(first.index() + count as usize));
                remove(&mut self.short, class, |tasks| tasks.remove_between(first, end));
                remove(&mut self.unanswered, class, |tasks| tasks.remove_between(first, end));
            }
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::TaskClassesMeasured
            | Change::TaskClassReplaced(_)
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
            | Change::CapsChanged
            | Change::EndsForgotten
            | Change::LoansChanged
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn look_at(&mut self, grid: &Grid, task: TaskId) {
        let class = grid.task(task).class();
        if self.runs > 1 {
            let is_short = self.is_short(grid, task);
            put(&mut self.short, grid, task, is_short);
        }
        if grid.comparison(task).is_some() || self.unanswered.contains_key(&class) {
            put(&mut self.unanswered, grid, task, is_unanswered(grid, task));
        }
    }

    /// What is being moved, or has its cores on several machines, has no copies; how many runs are compared, answers say.
    fn is_short(&self, grid: &Grid, task: TaskId) -> bool {
        let count = here(grid, task).count();
        grid.task(task).state() == TaskState::Placed
            && grid.comparison(task).is_none()
            && (1..self.runs as usize).contains(&count)
            && here(grid, task).all(goes_on)
    }

    /// What differs from the index of the grid as it is.
    pub(crate) fn check(&self, grid: &Grid) -> Result<(), String> {
        let fresh = Self::of(grid, self.runs);
        if *self == fresh { Ok(()) } else { Err(format!("{self:?} are short of runs, where {fresh:?} are")) }
    }
}

fn here(grid: &Grid, task: TaskId) -> impl Iterator<Item = &Run> {
    grid.runs_of(task).filter(|run| run.stage() != Stage::Missing)
}

fn goes_on(run: &Run) -> bool {
    matches!(run.stage(), Stage::Sent | Stage::Running) && !run.is_wide()
}

fn is_unanswered(grid: &Grid, task: TaskId) -> bool {
    grid.task(task).state() == TaskState::Placed
        && grid.answers_wanted(task) > 0
        && here(grid, task).all(goes_on)
}

fn put(by_class: &mut ByClass, grid: &Grid, task: TaskId, is_in: bool) {
    let class = grid.task(task).class();
    if is_in {
        by_class.entry(class).or_default().put(task, grid.asked_for(task));
    } else {
        remove(by_class, class, |tasks| tasks.remove(task));
    }
}

fn remove(by_class: &mut ByClass, class: TaskClassId, from: impl Fn(&mut Asked)) {
    if let Some(tasks) = by_class.get_mut(&class) {
        from(tasks);
        if tasks.is_empty() {
            by_class.remove(&class);
        }
    }
}
