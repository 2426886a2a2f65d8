//! Who waits: jobs that have no run, and those that are to have one more copy.

use crate::parts::sites::{Copies, GiveUp, SiteRule, Turn};
use gleaner_core::{Grid, TaskState};
use gleaner_units::{Ops, TaskId, Time};
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// A job's place among others: those of higher priority first, then those that were submitted first.
type Place = (Reverse<i32>, TaskId);

/// Those that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Line {
    jobs: BTreeSet<Place>,
    /// Jobs that have runs, fewer than there are to be.
    copies: BTreeSet<Place>,
}

impl Line {
    pub(super) fn of(grid: &Grid, rule: &SiteRule) -> Self {
        let mut line = Self::default();
        grid.tasks().for_each(|(task, _)| line.update(grid, rule, task));
        line
    }

    /// A task waits, or does not, or has more or fewer runs than before.
    pub(super) fn update(&mut self, grid: &Grid, rule: &SiteRule, task: TaskId) {
        let place = (Reverse(grid.classes().demand(grid.task(task).class()).priority), task);
        let (waits, wants) = match grid.task(task).state() {
            TaskState::Waiting => (true, false),
            TaskState::Placed => (false, wants_copy(grid, rule, task)),
            TaskState::Finished(_) | TaskState::Withdrawn | TaskState::Retired => (false, false),
        };
        set(&mut self.jobs, place, waits);
        set(&mut self.copies, place, wants);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.copies.is_empty()
    }

    /// All of them, in the order in which they are to be looked at.
    pub(super) fn in_turn(&self, grid: &Grid, rule: &SiteRule, now: Time) -> VecDeque<TaskId> {
        let turn = |places: &mut dyn Iterator<Item = &Place>| -> Vec<TaskId> {
            let tasks = places.map(|(_, task)| *task);
            match rule.turn {
                Turn::Longest => tasks.collect(),
                Turn::Ratio => by_ratio(grid, now, tasks),
            }
        };
        match rule.extra {
            Copies::Strict => turn(&mut self.jobs.union(&self.copies)).into(),
            Copies::WhenIdle => {
                turn(&mut self.jobs.iter()).into_iter().chain(turn(&mut self.copies.iter())).collect()
            }
        }
    }
}

fn set(places: &mut BTreeSet<Place>, place: Place, is_in: bool) {
    if is_in {
        places.insert(place);
    } else {
        places.remove(&place);
    }
}

/// Whether a task that has runs is to have one more.
fn wants_copy(grid: &Grid, rule: &SiteRule, task: TaskId) -> bool {
    rule.give_up == GiveUp::AtEnd
        && grid.runs_of(task).filter(|run| run.goes_on()).count() < rule.copies as usize
}

/// The most waiting relative to cores times length first; of equals the lowest.
fn by_ratio(grid: &Grid, now: Time, tasks: impl Iterator<Item = TaskId>) -> Vec<TaskId> {
    let ratio = |task: TaskId| {
        let of = grid.task(task);
        let cores = grid.classes().demand(of.class()).needs.cores;
        let area = f64::from(cores) * grid.declared_length(task).map_or(f64::INFINITY, Ops::amount);
        // What came just now is ordered by size too.
        (1.0 + now.since(of.submitted()).seconds()) / area
    };
    let mut rated: Vec<(f64, TaskId)> = tasks.map(|task| (ratio(task), task)).collect();
    rated.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
    rated.into_iter().map(|(_, task)| task).collect()
}
