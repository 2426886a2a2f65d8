use crate::{MachineClass, Needs, Room};
use gleaner_units::{MachineClassId, TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The tasks of one class on one machine, lowest first.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Group {
    class: TaskClassId,
    tasks: VecDeque<TaskId>,
}

/// Whether a machine takes tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Availability {
    /// It does.
    Open,
    /// It does not, but goes on with those that it has.
    Closed,
    /// It is out of reach and has none, as far as is known.
    Lost,
}

/// What all tasks on a machine take together. Wide enough that no number of tasks overflows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Taken {
    slots: u64,
    memory: u128,
}

/// Whatever runs tasks, as the grid knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    class: MachineClassId,
    cores: u32,
    availability: Availability,
    room: Room,
    taken: Taken,
    load: f64,
    count: u32,
    /// In order of class; a group stays when its last task leaves, since another like it is likely.
    groups: Vec<Group>,
}

impl Machine {
    pub(super) fn new(id: MachineClassId, class: &MachineClass) -> Self {
        Self {
            class: id,
            cores: class.cores,
            availability: Availability::Open,
            room: class.room,
            taken: Taken::default(),
            load: 0.0,
            count: 0,
            groups: Vec::new(),
        }
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

    /// Whether it takes tasks.
    #[inline]
    pub fn availability(&self) -> Availability {
        self.availability
    }

    /// What the tasks here, and those on their way here, leave of its room.
    #[inline]
    pub fn free(&self) -> Room {
        // Neither difference is more than the number it is taken from, and so it fits. It may be below 0 where the
        // machine turned out to be smaller than was thought.
        let slots = self.room.slots.map(|slots| u64::from(slots).saturating_sub(self.taken.slots) as u32);
        let memory = self.room.memory.map(|bytes| u128::from(bytes).saturating_sub(self.taken.memory) as u64);
        Room { slots, memory }
    }

    /// Whether it could take some task: it is open, its owner leaves some of it, and not all slots are taken.
    #[inline]
    pub fn takes_tasks(&self) -> bool {
        let slots_left = self.room.slots.is_none_or(|slots| self.taken.slots < u64::from(slots));
        self.availability == Availability::Open && self.capacity() > 0.0 && slots_left
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

    pub(super) fn set_availability(&mut self, availability: Availability) {
        self.availability = availability;
    }

    pub(super) fn set_class(&mut self, id: MachineClassId, class: &MachineClass) {
        (self.class, self.cores, self.room) = (id, class.cores, class.room);
    }

    /// Costs O(classes here), and O(tasks of the class here) only where the task is not the newest.
    pub(super) fn add(&mut self, class: TaskClassId, task: TaskId, needs: Needs) {
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
        self.taken.slots += u64::from(needs.cores);
        self.taken.memory += u128::from(needs.memory);
    }

    pub(super) fn remove(&mut self, class: TaskClassId, task: TaskId, needs: Needs) {
        let at = self.groups.partition_point(|group| group.class < class);
        let tasks = &mut self.groups[at].tasks;
        let position = tasks.partition_point(|&other| other < task);
        assert_eq!(tasks.get(position), Some(&task), "{task} is not where the grid has it");
        tasks.remove(position);
        self.count -= 1;
        self.taken.slots -= u64::from(needs.cores);
        self.taken.memory -= u128::from(needs.memory);
    }
}
