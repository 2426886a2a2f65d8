use super::progress::{Resident, Service};
use crate::{MachineClass, Needs, Room};
use gleaner_units::{MachineClassId, RunId, TaskClassId, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The runs of tasks of one class on one machine, lowest first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Group {
    class: TaskClassId,
    /// How many there are besides, which others sent there.
    others: u32,
    runs: VecDeque<Resident>,
}

impl Group {
    /// Where a run is, or would be.
    fn position(&self, run: RunId) -> usize {
        self.runs.partition_point(|other| other.run().rank() < run.rank())
    }

    #[inline]
    fn count(&self) -> u32 {
        self.runs.len() as u32 + self.others
    }
}

/// So many groups stay, however few tasks there are.
const GROUPS_KEPT: usize = 16;

/// Whether a machine takes tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Availability {
    /// It does.
    Open,
    /// It does not, but goes on with those that it has.
    Closed,
    /// A peer has it.
    Lent,
    /// It is out of reach and has none, as far as is known.
    Lost,
}

/// What is seldom asked for: apart from the rest of a machine, so that a grid of many fits into a processor's cache.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
struct Seldom {
    /// The bytes that it has room for, if there is a bound.
    memory: Option<u64>,
    disk: Option<u64>,
    /// The bytes that all runs take together: wide enough that no number of tasks overflows it.
    memory_taken: u128,
    disk_taken: u128,
    /// The runs that are to stop: their room is taken until they are over. In the order in which they were told.
    stopping: Vec<RunId>,
    /// Since when its owner has left nothing of it.
    #[serde(default)]
    still_since: Option<Time>,
}

/// Whatever runs tasks, as the grid knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    class: MachineClassId,
    cores: u32,
    availability: Availability,
    slots: Option<u32>,
    slots_taken: u64,
    load: f64,
    count: u32,
    /// The cores that those want which are to stay: each has so many shares.
    shares: u64,
    service: Service,
    /// In order of class; a group stays when its last task leaves, since another like it is likely, as long as most have any.
    groups: Vec<Group>,
    /// Where the group is that was asked for last: what comes there begins soon.
    #[serde(skip)]
    latest: u32,
    /// None while it would say nothing.
    seldom: Option<Box<Seldom>>,
}

impl Machine {
    pub(super) fn new(id: MachineClassId, class: &MachineClass) -> Self {
        let mut machine = Self {
            class: id,
            cores: class.cores,
            availability: Availability::Open,
            slots: None,
            slots_taken: 0,
            load: 0.0,
            count: 0,
            shares: 0,
            service: Service::default(),
            groups: Vec::new(),
            latest: 0,
            seldom: None,
        };
        machine.set_room(class.room);
        machine
    }

    fn set_room(&mut self, Room { slots, memory, disk }: Room) {
        self.slots = slots;
        if memory.is_some() || disk.is_some() || self.seldom.is_some() {
            let seldom = self.seldom.get_or_insert_default();
            (seldom.memory, seldom.disk) = (memory, disk);
        }
    }

    #[inline]
    fn take(&mut self, needs: Needs, times: u32) {
        self.slots_taken += u64::from(needs.cores) * u64::from(times);
        if (needs.memory, needs.disk) != (0, 0) {
            let seldom = self.seldom.get_or_insert_default();
            seldom.memory_taken += u128::from(needs.memory) * u128::from(times);
            seldom.disk_taken += u128::from(needs.disk) * u128::from(times);
        }
    }

    #[inline]
    fn give(&mut self, needs: Needs, times: u32) {
        self.slots_taken -= u64::from(needs.cores) * u64::from(times);
        if (needs.memory, needs.disk) != (0, 0) {
            let seldom = self.seldom.as_mut().expect("what is given back was taken");
            seldom.memory_taken -= u128::from(needs.memory) * u128::from(times);
            seldom.disk_taken -= u128::from(needs.disk) * u128::from(times);
        }
    }

    /// Of which class it is.
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

    /// What the runs here, those on their way here and those that are to stop leave of its room.
    #[inline]
    pub fn free(&self) -> Room {
        // Neither difference is more than the number it is taken from, and so it fits. It may be below 0 where the
        // machine turned out to be smaller than was thought.
        let slots = self.slots.map(|slots| u64::from(slots).saturating_sub(self.slots_taken) as u32);
        let Some(seldom) = &self.seldom else { return Room { slots, memory: None, disk: None } };
        let left = |bytes: u64, taken: u128| u128::from(bytes).saturating_sub(taken) as u64;
        let memory = seldom.memory.map(|bytes| left(bytes, seldom.memory_taken));
        let disk = seldom.disk.map(|bytes| left(bytes, seldom.disk_taken));
        Room { slots, memory, disk }
    }

    /// Whether it holds more than it has: it turned out to be smaller, or has not said yet that what it passed room on from is
    /// over.
    pub fn is_overfull(&self) -> bool {
        let above = |has: Option<u64>, taken: u128| has.is_some_and(|has| u128::from(has) < taken);
        let seldom = self.seldom.as_deref();
        above(self.slots.map(u64::from), self.slots_taken.into())
            || seldom.is_some_and(|seldom| above(seldom.memory, seldom.memory_taken))
            || seldom.is_some_and(|seldom| above(seldom.disk, seldom.disk_taken))
    }

    /// Whether it could take some task: it is open, its owner leaves some of it, and not all slots are taken.
    #[inline]
    pub fn takes_tasks(&self) -> bool {
        let slots_left = self.slots.is_none_or(|slots| self.slots_taken < u64::from(slots));
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

    /// Since when its owner has left nothing of it, so that all that runs there stands still.
    pub fn still_since(&self) -> Option<Time> {
        self.seldom.as_ref().and_then(|seldom| seldom.still_since)
    }

    /// min(1, c·(1−λ)/n): the share of a core that a task gets for each core that it wants, where all together want n.
    #[inline]
    pub fn share(&self, shares: u64) -> f64 {
        (self.capacity() / shares as f64).min(1.0)
    }

    /// How many cores the runs here or on their way here want, without those that are to stop.
    #[inline]
    pub fn shares(&self) -> u64 {
        self.shares
    }

    /// n: the runs here or on their way here, without those that are to stop; with what [others](Self::others) sent there.
    #[inline]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many of each class are here or on their way, in order of class; only classes with any.
    #[inline]
    pub fn counts(&self) -> impl Iterator<Item = (TaskClassId, u32)> + '_ {
        let groups = self.groups.iter().filter(|group| group.count() > 0);
        groups.map(|group| (group.class, group.count()))
    }

    /// How many of each class others sent there, as far as is known; only classes with any.
    pub fn others(&self) -> impl Iterator<Item = (TaskClassId, u32)> + '_ {
        let groups = self.groups.iter().filter(|group| group.others > 0);
        groups.map(|group| (group.class, group.others))
    }

    /// The runs of one class that count, lowest first.
    #[inline]
    pub fn runs_of(&self, class: TaskClassId) -> impl Iterator<Item = RunId> + '_ {
        self.residents_of(class).map(Resident::run)
    }

    /// Those of them that have begun.
    #[inline]
    pub fn running_of(&self, class: TaskClassId) -> impl Iterator<Item = RunId> + '_ {
        self.residents_of(class).filter(|resident| resident.runs()).map(Resident::run)
    }

    /// The runs that count, class by class.
    pub fn runs(&self) -> impl Iterator<Item = RunId> + '_ {
        self.groups.iter().flat_map(|group| group.runs.iter().map(|resident| resident.run()))
    }

    /// The runs that are to stop and whose end was not reported yet.
    pub fn stopping(&self) -> &[RunId] {
        self.seldom.as_deref().map_or(&[], |seldom| &seldom.stopping)
    }

    #[inline]
    fn residents_of(&self, class: TaskClassId) -> impl Iterator<Item = Resident> + '_ {
        let group = self.groups.iter().find(|group| group.class == class);
        group.into_iter().flat_map(|group| group.runs.iter().copied())
    }

    pub(super) fn set_load(&mut self, now: Time, load: f64) {
        self.advance(now);
        self.load = load;
        if self.capacity() <= 0.0 {
            self.seldom.get_or_insert_default().still_since.get_or_insert(now);
        } else if let Some(seldom) = &mut self.seldom {
            seldom.still_since = None;
        }
    }

    pub(super) fn set_availability(&mut self, availability: Availability) {
        self.availability = availability;
    }

    /// `seconds_per_op` is of the class before. Costs O(tasks here).
    pub(super) fn set_class(
        &mut self,
        now: Time,
        (id, class): (MachineClassId, &MachineClass),
        seconds_per_op: impl Fn(TaskClassId) -> f64,
    ) {
        self.advance(now);
        let clock = self.service.seconds();
        for group in &mut self.groups {
            let seconds_per_op = seconds_per_op(group.class);
            group.runs.iter_mut().for_each(|resident| resident.fold(clock, seconds_per_op));
        }
        (self.class, self.cores) = (id, class.cores);
        self.set_room(class.room);
    }

    /// Costs O(classes here), and O(tasks of the class here) only where the task is not the newest.
    pub(super) fn add(&mut self, now: Time, class: TaskClassId, resident: Resident, needs: Needs) {
        if self.count == 0 {
            self.service = Service::starting(now);
        }
        self.advance(now);
        let group = self.group_of(class);
        if group.runs.back().is_none_or(|last| last.run().rank() < resident.run().rank()) {
            group.runs.push_back(resident);
        } else {
            let position = group.position(resident.run());
            group.runs.insert(position, resident);
        }
        self.count += 1;
        self.shares += u64::from(needs.cores);
        self.take(needs, 1);
    }

    /// So many of each class are here that others sent, in order of class; whether that is other than before. Costs
    /// O(classes here).
    pub(super) fn believe(
        &mut self,
        now: Time,
        others: &[(TaskClassId, u32)],
        needs: impl Fn(TaskClassId) -> Needs,
    ) -> bool {
        if self.others().eq(others.iter().copied()) {
            return false;
        }
        if self.count == 0 {
            self.service = Service::starting(now);
        }
        self.advance(now);
        for at in 0..self.groups.len() {
            let group = &mut self.groups[at];
            let (needs, gone) = (needs(group.class), std::mem::take(&mut group.others));
            self.count -= gone;
            self.shares -= u64::from(needs.cores) * u64::from(gone);
            self.give(needs, gone);
        }
        for &(class, count) in others {
            let needs = needs(class);
            self.group_of(class).others = count;
            self.count += count;
            self.shares += u64::from(needs.cores) * u64::from(count);
            self.take(needs, count);
        }
        true
    }

    fn group_of(&mut self, class: TaskClassId) -> &mut Group {
        let mut at = self.groups.partition_point(|group| group.class < class);
        if self.groups.get(at).is_none_or(|group| group.class != class) {
            at = self.new_group(at, class);
        }
        self.latest = at as u32;
        &mut self.groups[at]
    }

    /// Where it is in the end. One beside its place that has no task makes way, and its memory serves again.
    fn new_group(&mut self, mut at: usize, class: TaskClassId) -> usize {
        let is_empty = |group: &Group| group.count() == 0;
        let beside = [at, at.wrapping_sub(1)];
        if let Some(old) = beside.into_iter().find(|&beside| self.groups.get(beside).is_some_and(is_empty)) {
            self.groups[old].class = class;
            return old;
        }
        if self.groups.len() > GROUPS_KEPT + 2 * self.count as usize {
            self.groups.retain(|group| !is_empty(group));
            at = self.groups.partition_point(|group| group.class < class);
        }
        self.groups.insert(at, Group { class, others: 0, runs: VecDeque::new() });
        at
    }

    /// A task that is here runs from now on.
    pub(super) fn begin(&mut self, now: Time, class: TaskClassId, run: RunId) {
        self.advance(now);
        let clock = self.service.seconds();
        let (group, position) = self.place_of(class, run);
        self.groups[group].runs[position].begin(clock);
    }

    pub(super) fn remove(&mut self, now: Time, class: TaskClassId, run: RunId, needs: Needs) {
        self.advance(now);
        let (group, position) = self.place_of(class, run);
        self.groups[group].runs.remove(position);
        self.count -= 1;
        self.shares -= u64::from(needs.cores);
        self.give(needs, 1);
    }

    /// A run that is here is to stop: the others have its share from now on, but not its room.
    pub(super) fn stop(&mut self, now: Time, class: TaskClassId, run: RunId, needs: Needs) {
        self.advance(now);
        let (group, position) = self.place_of(class, run);
        self.groups[group].runs.remove(position);
        self.count -= 1;
        self.shares -= u64::from(needs.cores);
        self.seldom.get_or_insert_default().stopping.push(run);
    }

    /// A run that was to stop is over.
    pub(super) fn release(&mut self, run: RunId, needs: Needs) {
        let stopping = &mut self.seldom.as_mut().expect("a run that was told to stop").stopping;
        let position = stopping.iter().position(|other| *other == run);
        stopping.remove(position.expect("a run that was told to stop"));
        self.give(needs, 1);
    }

    /// A run on its way here goes on from elsewhere than was thought.
    pub(super) fn start_from(&mut self, class: TaskClassId, run: RunId, done: f64) {
        let (group, position) = self.place_of(class, run);
        self.groups[group].runs[position].start_from(done);
    }

    /// The operations that a task here has done.
    pub(super) fn ops_done(&self, now: Time, class: TaskClassId, run: RunId, seconds_per_op: f64) -> f64 {
        self.resident(class, run).ops_done(self.clock(now), seconds_per_op)
    }

    /// The seconds, with a core to itself, that all that a task has done would have taken here.
    pub(super) fn seconds_spent(
        &self,
        now: Time,
        (class, run): (TaskClassId, RunId),
        seconds_per_op: f64,
    ) -> f64 {
        self.resident(class, run).spent(self.clock(now), seconds_per_op)
    }

    /// The seconds until a task of that length is done here, if it goes on getting the share that it gets.
    pub(super) fn seconds_left(
        &self,
        now: Time,
        (class, run): (TaskClassId, RunId),
        (length, seconds_per_op): (f64, f64),
    ) -> f64 {
        let left = self.resident(class, run).service_left(self.clock(now), length, seconds_per_op);
        if left == 0.0 { 0.0 } else { left / self.share(self.shares) }
    }

    /// Whether what is kept of a task's progress agrees with its state.
    pub(super) fn is_whole(&self, class: TaskClassId, run: RunId, runs: bool) -> bool {
        self.resident(class, run).is_whole(runs, self.service)
    }

    fn clock(&self, now: Time) -> f64 {
        self.service.at(now, self.share(self.shares))
    }

    fn advance(&mut self, now: Time) {
        let share = self.share(self.shares);
        self.service.advance(now, share);
    }

    fn resident(&self, class: TaskClassId, run: RunId) -> Resident {
        let (group, position) = self.place_of(class, run);
        self.groups[group].runs[position]
    }

    /// Its class's group, and where it is in that.
    fn place_of(&self, class: TaskClassId, run: RunId) -> (usize, usize) {
        let latest = self.latest as usize;
        let is_latest = self.groups.get(latest).is_some_and(|group| group.class == class);
        let at = if is_latest { latest } else { self.groups.partition_point(|group| group.class < class) };
        let position = self.groups[at].position(run);
        let there = self.groups[at].runs.get(position).map(|resident| resident.run());
        assert_eq!(there, Some(run), "{run} is not where the grid has it");
        (at, position)
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;

    #[test]
    fn a_machine_lies_in_two_lines_of_a_processors_cache() {
        assert!(size_of::<Machine>() <= 2 * 64, "{} bytes", size_of::<Machine>());
    }
}
