use gleaner_units::{MachineClassId, TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The tasks of one class on one machine, lowest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Group {
    class: TaskClassId,
    tasks: VecDeque<TaskId>,
}

/// Whatever runs tasks, as the grid knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    class: MachineClassId,
    cores: u32,
    load: f64,
    count: u32,
    /// In order of class; a group stays when its last task leaves, since another like it is likely.
    groups: Vec<Group>,
}

impl Machine {
    pub(super) fn new(class: MachineClassId, cores: u32) -> Self {
        Self { class, cores, load: 0.0, count: 0, groups: Vec::new() }
    }

    /// What kind of machine it is.
    #[inline]
    pub fn class(&self) -> MachineClassId {
        self.class
    }

    /// How many tasks run at full speed side by side.
    pub fn cores(&self) -> u32 {
        self.cores
    }

    /// λ: the share that the owner uses.
    #[inline]
    pub fn load(&self) -> f64 {
        self.load
    }

    /// c·(1−λ): the cores that the owner leaves.
    #[inline]
    pub fn capacity(&self) -> f64 {
        f64::from(self.cores) * (1.0 - self.load)
    }

    /// min(1, c·(1−λ)/n): the share of a core that each of `tasks` tasks gets.
    #[inline]
    pub fn share(&self, tasks: u32) -> f64 {
        (self.capacity() / f64::from(tasks)).min(1.0)
    }

    /// n: the tasks here or on their way here.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many of each class are here or on their way, in order of class; only classes with any.
    #[inline]
    pub fn counts(&self) -> impl Iterator<Item = (TaskClassId, u32)> + '_ {
        let groups = self.groups.iter().filter(|group| !group.tasks.is_empty());
        groups.map(|group| (group.class, group.tasks.len() as u32))
    }

    /// The tasks of one class, lowest first.
    #[inline]
    pub fn tasks_of(&self, class: TaskClassId) -> impl Iterator<Item = TaskId> + '_ {
        let group = self.groups.iter().find(|group| group.class == class);
        group.into_iter().flat_map(|group| group.tasks.iter().copied())
    }

    pub(super) fn set_load(&mut self, load: f64) {
        self.load = load;
    }

    /// Costs O(classes here), and O(tasks of the class here) only where the task is not the newest.
    pub(super) fn add(&mut self, class: TaskClassId, task: TaskId) {
        let at = self.groups.partition_point(|group| group.class < class);
        if self.groups.get(at).is_none_or(|group| group.class != class) {
            self.groups.insert(at, Group { class, tasks: VecDeque::new() });
        }
        let tasks = &mut self.groups[at].tasks;
        if tasks.back().is_none_or(|&last| last < task) {
            tasks.push_back(task);
        } else {
            let position = tasks.partition_point(|&other| other < task);
            tasks.insert(position, task);
        }
        self.count += 1;
    }

    pub(super) fn remove(&mut self, class: TaskClassId, task: TaskId) {
        let at = self.groups.partition_point(|group| group.class < class);
        let tasks = &mut self.groups[at].tasks;
        let position = tasks.partition_point(|&other| other < task);
        assert_eq!(tasks.get(position), Some(&task), "{task} is not where the grid has it");
        tasks.remove(position);
        self.count -= 1;
    }
}
