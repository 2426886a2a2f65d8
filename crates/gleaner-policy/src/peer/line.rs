//! Who is next of the tasks that wait, where the longest of each job comes first.

use gleaner_core::{Change, Grid, TaskState};
use gleaner_units::{Ops, TaskClassId, TaskId, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Who is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Whoever was submitted first.
    Submission,
    /// The longest of those that were submitted at one moment, by declared length; the earlier moment first.
    Longest,
}

/// When it was submitted, and its length: positive numbers are in the order of their bits, and 0 is for none.
type Key = (Time, Reverse<u64>, TaskId);

/// The tasks that wait, in their order; empty where they are in order of submission.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    turn: Turn,
    /// By class; no class without any.
    waiting: BTreeMap<TaskClassId, BTreeSet<Key>>,
}

impl Line {
    pub(super) fn new(turn: Turn) -> Self {
        Self { turn, waiting: BTreeMap::new() }
    }

    /// Of a whole grid. Costs O(tasks).
    pub(super) fn of(turn: Turn, grid: &Grid) -> Self {
        let mut line = Self::new(turn);
        grid.waiting_tasks().for_each(|(_, task)| line.look_at(grid, task));
        line
    }

    /// The next of the classes that will do, and whose user may have more cores. Costs O(classes that wait).
    pub(super) fn next(&self, grid: &Grid, will_do: impl Fn(TaskClassId) -> bool) -> Option<TaskId> {
        match self.turn {
            Turn::Submission => grid.longest_waiting(will_do),
            Turn::Longest => {
                let firsts =
                    self.waiting.iter().filter(|(class, _)| !grid.is_capped(**class) && will_do(**class));
                let firsts = firsts.filter_map(|(class, tasks)| Some((class, tasks.first()?)));
                let priority = |class: &TaskClassId| Reverse(grid.classes().demand(*class).priority);
                let next = firsts.min_by_key(|(class, key)| (priority(class), **key));
                next.map(|(_, (.., task))| *task)
            }
        }
    }

    /// Costs O(log tasks) for each task.
    pub(super) fn observe(&mut self, grid: &Grid, change: &Change) {
        if self.turn == Turn::Submission {
            return;
        }
        match *change {
            Change::Wait { first, count } | Change::Withdrawn { first, count } => {
                let tasks = first.index()..first.index() + count as usize;
                tasks.for_each(|task| self.look_at(grid, TaskId::new(task)));
            }
            Change::RoomTaken(run) | Change::RoomFreed(run, _) | Change::Started(run) => {
                self.look_at(grid, run.task);
            }
            Change::Finished(task) => self.look_at(grid, task),
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
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn look_at(&mut self, grid: &Grid, id: TaskId) {
        if self.turn == Turn::Submission {
            return;
        }
        let task = grid.task(id);
        let length = grid.declared_length(id).map_or(0, |length| Ops::amount(length).to_bits());
        let key = (task.submitted(), Reverse(length), id);
        if task.state() == TaskState::Waiting {
            self.waiting.entry(task.class()).or_default().insert(key);
        } else if let Some(tasks) = self.waiting.get_mut(&task.class()) {
            tasks.remove(&key);
            if tasks.is_empty() {
                self.waiting.remove(&task.class());
            }
        }
    }
}
