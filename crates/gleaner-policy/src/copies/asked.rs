//! The tasks of a class that are to have more runs than they have. **Those that the same machines were asked for find room alike**: one of
//! them is looked at for all, however many there are.

use gleaner_core::{Grid, Owner};
use gleaner_units::{MachineId, TaskId};
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once_with;

/// See the module. None is empty.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Asked {
    /// By task: the machines that were asked for it.
    asked: BTreeMap<TaskId, Vec<MachineId>>,
    /// By these machines.
    tasks: BTreeMap<Vec<MachineId>, BTreeSet<TaskId>>,
}

/// Who has one vote: an owner of machines, or a machine of nobody's.
type Voice = (Option<Owner>, Option<MachineId>);

impl Asked {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// A task is one of them, and these machines were asked for it by now.
    pub(super) fn put(&mut self, task: TaskId, asked: Vec<MachineId>) {
        self.remove(task);
        self.tasks.entry(asked.clone()).or_default().insert(task);
        self.asked.insert(task, asked);
    }

    /// A task is none of them.
    pub(super) fn remove(&mut self, task: TaskId) {
        let Some(asked) = self.asked.remove(&task) else { return };
        let tasks = self.tasks.get_mut(&asked).expect("it is listed by those that were asked");
        tasks.remove(&task);
        if tasks.is_empty() {
            self.tasks.remove(&asked);
        }
    }

    /// Likewise all from one to the one before another. Costs O(log tasks) each.
    pub(super) fn remove_between(&mut self, first: TaskId, end: TaskId) {
        while let Some((&task, _)) = self.asked.range(first..end).next() {
            self.remove(task);
        }
    }

    /// The first task for which there is a place, and that. What `kept_from` makes of the machines that were asked says from which ones a
    /// task is kept: tasks of which it is the same find room alike. Costs a search for each such value, and O(sets of machines·log of
    /// them) if there is no place for the very first.
    pub(crate) fn first_placed<K: Ord>(
        &self,
        kept_from: impl Fn(&[MachineId]) -> K,
        place: impl Fn(TaskId) -> Option<MachineId>,
    ) -> Option<(TaskId, MachineId)> {
        let mut in_vain: BTreeSet<K> = BTreeSet::new();
        let mut firsts = self.first().into_iter().chain(once_with(|| self.firsts()).flatten());
        firsts.find_map(|(task, asked)| {
            let apart = kept_from(asked);
            if in_vain.contains(&apart) {
                return None;
            }
            let on = place(task);
            if on.is_none() {
                in_vain.insert(apart);
            }
            Some((task, on?))
        })
    }

    fn first(&self) -> Option<(TaskId, &[MachineId])> {
        self.asked.first_key_value().map(|(task, asked)| (*task, asked.as_slice()))
    }

    /// For each set of machines that were asked the first task, in order of submission.
    fn firsts(&self) -> Vec<(TaskId, &[MachineId])> {
        let firsts = self.tasks.iter();
        let firsts = firsts.filter_map(|(asked, tasks)| Some((*tasks.first()?, asked.as_slice())));
        let mut firsts: Vec<(TaskId, &[MachineId])> = firsts.collect();
        firsts.sort_unstable();
        firsts
    }
}

/// Whose machines they are: where answers are compared, a task is kept from all of theirs.
pub(crate) fn voices(grid: &Grid, asked: &[MachineId]) -> BTreeSet<Voice> {
    let voice = |on: &MachineId| {
        let owner = grid.owner_of(*on);
        (owner, owner.is_none().then_some(*on))
    };
    asked.iter().map(voice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_core::{
        Change, Decision, Event, GridConfig, MachineClass, Migration, Occasion, Policy, Scheduler,
    };
    use gleaner_units::{MachineClassId, Time};
    use std::cell::Cell;

    struct Nobody;

    impl Policy for Nobody {
        fn observe(&mut self, _: &Grid, _: &Change) {}
        fn propose(&mut self, _: &Grid, _: Time, _: Occasion) -> Option<Decision> {
            None
        }
        fn rebuild(&mut self, _: &Grid) {}
        fn check(&self, _: &Grid) -> Result<(), String> {
            Ok(())
        }
    }

    const MACHINES: usize = 10;

    /// Of one owner, but for the last.
    fn machines() -> Scheduler<Nobody> {
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, Nobody);
        let class = MachineClass::plain(vec![1.0], 1);
        scheduler.apply(Time::ZERO, &Event::MachineClassMet(Box::new(class)));
        for machine in (0..MACHINES).map(MachineId::new) {
            let class = MachineClassId::FIRST;
            scheduler.apply(Time::ZERO, &Event::MachineJoined { machine, class });
            let owner = (machine.index() < MACHINES - 1).then_some(Owner(7));
            scheduler.apply(Time::ZERO, &Event::MachineOwned { machine, owner });
        }
        scheduler
    }

    #[test]
    fn one_task_is_looked_at_for_all_that_the_same_people_were_asked_for() {
        let scheduler = machines();
        let (task, machine) = (TaskId::new, MachineId::new);
        let mut unanswered = Asked::default();
        for index in 0..1_000 {
            unanswered.put(task(index), vec![machine(index % (MACHINES - 1))]);
        }
        unanswered.put(task(1_000), vec![machine(MACHINES - 1)]);
        let looks = Cell::new(0);
        let found = |room: &dyn Fn(TaskId) -> Option<MachineId>| {
            looks.set(0);
            let place = |task| {
                looks.set(looks.get() + 1);
                room(task)
            };
            (unanswered.first_placed(|asked| voices(scheduler.grid(), asked), place), looks.get())
        };
        assert_eq!(found(&|_| None), (None, 2));
        assert_eq!(found(&|_| Some(machine(3))), (Some((task(0), machine(3))), 1));
        let others = |id: TaskId| (id.index() == 1_000).then_some(machine(0));
        assert_eq!(found(&others), (Some((task(1_000), machine(0))), 2));
    }

    /// Two machines, and three runs that each task is to have: all are short of one for ever.
    #[test]
    fn one_task_is_looked_at_for_all_that_the_same_machines_run() {
        let mut short = Asked::default();
        for index in 0..10_000 {
            short.put(TaskId::new(index), vec![MachineId::new(0), MachineId::new(1)]);
        }
        let looks = Cell::new(0);
        let found = |short: &Asked| {
            looks.set(0);
            let place = |task: TaskId| {
                looks.set(looks.get() + 1);
                (task.index() == 5_000).then_some(MachineId::new(0))
            };
            (short.first_placed(<[MachineId]>::to_vec, place), looks.get())
        };
        assert_eq!(found(&short), (None, 1));
        // One of its runs was lost.
        short.put(TaskId::new(5_000), vec![MachineId::new(1)]);
        assert_eq!(found(&short), (Some((TaskId::new(5_000), MachineId::new(0))), 2));
    }

    #[test]
    fn what_is_put_in_and_removed_leaves_nothing_behind() {
        let mut unanswered = Asked::default();
        for index in 0..100 {
            unanswered.put(TaskId::new(index), vec![MachineId::new(0)]);
            unanswered.put(TaskId::new(index), vec![MachineId::new(index % 3)]);
        }
        unanswered.remove(TaskId::new(50));
        unanswered.remove_between(TaskId::new(0), TaskId::new(100));
        assert!(unanswered.is_empty());
        assert_eq!(unanswered, Asked::default());
    }
}
