//! The tasks that rest after a failure.

use crate::store::TaskRange;
use gleaner_units::{TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// By when that is over, and by task, since somebody may ask for those of a job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "BTreeSet<(Time, TaskId)>", into = "BTreeSet<(Time, TaskId)>")]
pub(super) struct Resting {
    by_end: BTreeSet<(Time, TaskId)>,
    /// It follows from the other.
    tasks: BTreeSet<TaskId>,
}

impl From<BTreeSet<(Time, TaskId)>> for Resting {
    fn from(by_end: BTreeSet<(Time, TaskId)>) -> Self {
        let tasks = by_end.iter().map(|&(_, task)| task).collect();
        Self { by_end, tasks }
    }
}

impl From<Resting> for BTreeSet<(Time, TaskId)> {
    fn from(resting: Resting) -> Self {
        resting.by_end
    }
}

impl Resting {
    /// It does not rest yet.
    pub(super) fn add(&mut self, until: Time, task: TaskId) {
        self.by_end.insert((until, task));
        self.tasks.insert(task);
    }

    /// It rested until then.
    pub(super) fn remove(&mut self, until: Time, task: TaskId) {
        self.by_end.remove(&(until, task));
        self.tasks.remove(&task);
    }

    /// When the first of them has rested.
    pub(super) fn next(&self) -> Option<Time> {
        self.by_end.first().map(|&(until, _)| until)
    }

    /// Those that have rested by now.
    pub(super) fn rested_by(&self, now: Time) -> impl Iterator<Item = TaskId> {
        self.by_end.iter().take_while(move |(until, _)| *until <= now).map(|&(_, task)| task)
    }

    /// The lowest of some tasks that rests.
    pub(super) fn first_of(&self, tasks: TaskRange) -> Option<TaskId> {
        self.tasks.range(tasks.first()..=tasks.last()).next().copied()
    }
}
