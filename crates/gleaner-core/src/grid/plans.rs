//! Which waiting tasks are planned, where, and at which rank: written by admitted decisions only.
//!
//! **A task is in one queue at most, and waits.** It leaves its queue when it is started anywhere or waits no more; all
//! leave theirs when a batch begins, and those of a machine when that is lost.

use crate::Queue;
use gleaner_units::{TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The queues of planned tasks.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Plans {
    /// In order of rank; no queue without a task.
    queues: BTreeMap<Queue, VecDeque<TaskId>>,
    queue_of: BTreeMap<TaskId, Queue>,
    collected_at: Option<Time>,
}

impl Plans {
    /// Where a task is planned, if it is.
    pub fn queue_of(&self, task: TaskId) -> Option<Queue> {
        self.queue_of.get(&task).copied()
    }

    /// Whether any of the tasks is planned.
    pub(super) fn has_any(&self, first: TaskId, count: u32) -> bool {
        let next = self.queue_of.range(first..).next();
        next.is_some_and(|(task, _)| task.index() < first.index() + count as usize)
    }

    /// The tasks of a queue, in order of rank.
    pub fn ranked(&self, queue: Queue) -> impl Iterator<Item = TaskId> + '_ {
        self.queues.get(&queue).into_iter().flatten().copied()
    }

    /// The queues with a task in them, in order.
    pub fn queues(&self) -> impl Iterator<Item = Queue> + '_ {
        self.queues.keys().copied()
    }

    /// How many tasks are planned.
    pub fn len(&self) -> usize {
        self.queue_of.len()
    }

    /// Whether no task is.
    pub fn is_empty(&self) -> bool {
        self.queue_of.is_empty()
    }

    /// When the latest batch began.
    pub fn collected_at(&self) -> Option<Time> {
        self.collected_at
    }

    /// At the end of a queue.
    pub(super) fn push(&mut self, task: TaskId, queue: Queue) {
        self.queues.entry(queue).or_default().push_back(task);
        self.queue_of.insert(task, queue);
    }

    /// Costs O(1) for the first of a queue and O(queue) for others.
    pub(super) fn remove(&mut self, task: TaskId) {
        let Some(queue) = self.queue_of.remove(&task) else { return };
        let ranked = self.queues.get_mut(&queue).expect("a queue that a task is in");
        let rank = ranked.iter().position(|&other| other == task).expect("a task that is in its queue");
        ranked.remove(rank);
        if ranked.is_empty() {
            self.queues.remove(&queue);
        }
    }

    /// Ends one queue.
    pub(super) fn dissolve(&mut self, queue: Queue) -> VecDeque<TaskId> {
        let tasks = self.queues.remove(&queue).unwrap_or_default();
        for task in &tasks {
            self.queue_of.remove(task);
        }
        tasks
    }

    /// Ends all queues, in order of task.
    pub(super) fn collect(&mut self, now: Time) -> impl Iterator<Item = TaskId> + use<> {
        self.queues.clear();
        self.collected_at = Some(now);
        std::mem::take(&mut self.queue_of).into_keys()
    }

    /// Whether both sides tell the same.
    pub(super) fn is_whole(&self) -> bool {
        let listed =
            self.queues.iter().flat_map(|(&queue, tasks)| tasks.iter().map(move |task| (*task, queue)));
        let listed: BTreeMap<TaskId, Queue> = listed.collect();
        let count: usize = self.queues.values().map(VecDeque::len).sum();
        listed == self.queue_of
            && count == listed.len()
            && self.queues.values().all(|queue| !queue.is_empty())
    }
}
