use gleaner_units::{TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The tasks that wait, by class: what one machine could take is found without a look at each task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// No class without a task.
    by_class: BTreeMap<TaskClassId, BTreeSet<TaskId>>,
}

impl Waiting {
    pub(super) fn add(&mut self, class: TaskClassId, task: TaskId) {
        self.by_class.entry(class).or_default().insert(task);
    }

    pub(super) fn remove(&mut self, class: TaskClassId, task: TaskId) {
        let Some(tasks) = self.by_class.get_mut(&class) else { return };
        tasks.remove(&task);
        if tasks.is_empty() {
            self.by_class.remove(&class);
        }
    }

    pub(super) fn contains(&self, class: TaskClassId, task: TaskId) -> bool {
        self.by_class.get(&class).is_some_and(|tasks| tasks.contains(&task))
    }

    /// Ids are given in order of arrival, so the lowest has waited longest.
    pub(super) fn first(&self, of: impl Fn(TaskClassId) -> bool) -> Option<TaskId> {
        let groups = self.by_class.iter().filter(|(class, _)| of(**class));
        groups.filter_map(|(_, tasks)| tasks.first().copied()).min()
    }
}
