//! Why a task can or cannot run: which condition rules out how many machines, and what would let it run.

mod condition;
mod failures;
pub mod words;

use crate::{Grid, Work};
pub use condition::Condition;
pub use failures::obstacles;
use failures::{Failure, groups};
use gleaner_units::{MachineId, TaskClassId};
use serde::Serialize;
use std::collections::BTreeMap;

/// A condition, and what it keeps from running the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RuledOut {
    /// What does not hold.
    pub condition: Condition,
    /// Of so many machines.
    pub machines: usize,
    /// So many of them fail nothing else.
    pub alone: usize,
    /// So many of them fail nothing that comes before it: of what passes, that the machine is closed before that it is full.
    #[serde(skip)]
    pub first: usize,
}

impl RuledOut {
    /// Of how many machines this is to be told: what passes is of no use to know of a machine that is ruled out by more.
    pub fn told(&self) -> usize {
        if self.condition.is_passing() { self.first } else { self.machines }
    }
}

/// Conditions that would have to give way together, and how many machines could then run the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Remedy {
    /// All of these.
    pub conditions: Vec<Condition>,
    /// For conditions that compare, the nearest form that would hold: in the same order, none for the others.
    pub instead: Vec<Option<String>>,
    /// How many machines it would win.
    pub machines: usize,
}

/// Where tasks of a class can run now, and what stands in their way elsewhere.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Explanation {
    /// How many machines there are.
    pub machines: usize,
    /// How many of them can take the task now.
    pub able: usize,
    /// Most machines first.
    pub ruled_out: Vec<RuledOut>,
    /// What would win a machine with the fewest conditions given up, where all that passes is one; most machines first.
    pub remedies: Vec<Remedy>,
}

impl Explanation {
    /// For a task class as things stand. Costs O(machines), and O(machine classes) evaluations of each clause.
    pub fn of(grid: &Grid, task: TaskClassId) -> Self {
        Self::among(grid, task, |_| true)
    }

    /// Likewise, as if there were no machines but these.
    pub fn among(grid: &Grid, task: TaskClassId, counts: impl Fn(MachineId) -> bool) -> Self {
        Self::within(grid, task, counts, &mut Work::default())
    }

    /// Likewise, where one answer tells of several classes, which share what their evaluations may cost.
    pub fn within(
        grid: &Grid,
        task: TaskClassId,
        counts: impl Fn(MachineId) -> bool,
        work: &mut Work,
    ) -> Self {
        let groups = groups(grid, task, &counts, work);
        let able = groups.iter().filter(|(failures, _)| failures.is_empty()).map(|(_, count)| count).sum();
        Self {
            machines: groups.iter().map(|(_, count)| count).sum(),
            able,
            ruled_out: ruled_out(&groups),
            remedies: remedies(&groups),
        }
    }
}

fn ruled_out(groups: &[(Vec<Failure>, usize)]) -> Vec<RuledOut> {
    let mut by_condition: BTreeMap<&Condition, (usize, usize, usize)> = BTreeMap::new();
    for (failures, count) in groups {
        for (place, failure) in failures.iter().enumerate() {
            let (machines, alone, first) = by_condition.entry(&failure.condition).or_default();
            *machines += count;
            *alone += if failures.len() == 1 { *count } else { 0 };
            *first += if place == 0 { *count } else { 0 };
        }
    }
    let mut ruled_out: Vec<RuledOut> = by_condition
        .into_iter()
        .map(|(condition, (machines, alone, first))| {
            let condition = condition.clone();
            RuledOut { condition, machines, alone, first }
        })
        .collect();
    ruled_out.sort_by_key(|ruled| std::cmp::Reverse(ruled.machines));
    ruled_out
}

fn remedies(groups: &[(Vec<Failure>, usize)]) -> Vec<Remedy> {
    let failing = groups.iter().filter(|(failures, _)| !failures.is_empty());
    let Some(fewest) = failing.clone().map(|(failures, _)| given_up(failures)).min() else {
        return Vec::new();
    };
    let mut merged: Vec<(Vec<Failure>, usize)> = Vec::new();
    for (failures, count) in failing.filter(|(failures, _)| given_up(failures) == fewest) {
        let same = |other: &&mut (Vec<Failure>, usize)| {
            other
                .0
                .iter()
                .map(|failure| &failure.condition)
                .eq(failures.iter().map(|failure| &failure.condition))
        };
        match merged.iter_mut().find(same) {
            Some((kept, machines)) => {
                *machines += count;
                keep_nearest(kept, failures);
            }
            None => merged.push((failures.clone(), *count)),
        }
    }
    merged.sort_by_key(|(_, machines)| std::cmp::Reverse(*machines));
    let remedy = |(failures, machines): (Vec<Failure>, usize)| {
        let (conditions, instead) = failures
            .into_iter()
            .map(|failure| (failure.condition, failure.instead.map(|instead| instead.text)))
            .unzip();
        Remedy { conditions, instead, machines }
    };
    merged.into_iter().map(remedy).collect()
}

/// How much would have to change: whoever waits for one thing that passes may wait for others too.
fn given_up(failures: &[Failure]) -> usize {
    let passing = failures.iter().filter(|failure| failure.condition.is_passing()).count();
    failures.len() - passing + passing.min(1)
}

/// Of two machines that fail the same, what the nearer one needs: the smaller change.
fn keep_nearest(kept: &mut [Failure], others: &[Failure]) {
    let distance = |failures: &[Failure]| -> f64 {
        failures
            .iter()
            .map(|failure| failure.instead.as_ref().map_or(f64::INFINITY, |near| near.distance))
            .sum()
    };
    if distance(others) < distance(kept) {
        kept.clone_from_slice(others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ad, Decision, Event, GridConfig, MachineClass, Needs, Room, Tags, TaskClass};
    use gleaner_units::{MachineClassId, TaskId, Time};

    fn machine(speeds: [f64; 2], tag: &str, ad: &str) -> MachineClass {
        let provides: Tags = tag.split_whitespace().map(str::to_owned).collect();
        let ad = (!ad.is_empty()).then(|| Ad::parse(ad).expect("an ad"));
        MachineClass { provides, ad, ..MachineClass::plain(speeds.to_vec(), 1) }
    }

    fn explained(task_ad: &str, machines: &[MachineClass]) -> Explanation {
        let task = TaskClass {
            requires: Tags::from(["linux".to_owned()]),
            ad: Some(Ad::parse(task_ad).expect("an ad")),
            ..TaskClass::plain(vec![0.5, 0.5])
        };
        let config = GridConfig { weights: vec![1.0, 1.0], migration: crate::Migration::default() };
        let each: Vec<_> = (0..machines.len()).map(MachineClassId::new).collect();
        let grid = Grid::idle(config, machines, &[task], &each);
        Explanation::of(&grid, TaskClassId::new(0))
    }

    #[test]
    fn each_condition_counts_its_machines_and_the_nearest_change_wins() {
        let machines = [
            machine([1.0, 1.0], "linux", "[ Memory = 16 ]"),
            machine([1.0, 1.0], "linux", "[ Memory = 32 ]"),
            machine([1.0, 0.0], "", "[ Memory = 64 ]"),
            machine([1.0, 1.0], "linux", "[ Memory = 64; Requirements = TARGET.Owner == \"ada\" ]"),
        ];
        let found = explained("[ Owner = \"bob\"; Requirements = TARGET.Memory >= 64 ]", &machines);
        assert_eq!((found.machines, found.able), (4, 0));
        let memory = Condition::TaskRequires("TARGET.Memory >= 64".to_owned());
        let owner = Condition::MachineRequires("TARGET.Owner == \"ada\"".to_owned());
        let counts: Vec<_> =
            found.ruled_out.iter().map(|ruled| (&ruled.condition, ruled.machines, ruled.alone)).collect();
        assert_eq!(
            counts,
            [
                (&memory, 2, 2),
                (&Condition::Provides("linux".to_owned()), 1, 0),
                (&Condition::HasSpeed(1), 1, 0),
                (&owner, 1, 1),
            ]
        );
        let nearest = Remedy {
            conditions: vec![memory],
            instead: vec![Some("TARGET.Memory >= 32".to_owned())],
            machines: 2,
        };
        assert_eq!(found.remedies[0], nearest);
        assert_eq!(found.remedies.len(), 2);
    }

    /// Machines with so many slots, and so much memory where that is counted. One task, which wants two cores and all the memory, has
    /// all of the second.
    fn with_one_full<const N: usize>(slots: [u32; N], memory: Option<u64>) -> (Grid, TaskClassId) {
        let machines = slots.map(|slots| {
            let room = Room { slots: Some(slots), memory, disk: None };
            MachineClass { room, ..MachineClass::plain(vec![1.0], slots) }
        });
        let needs = Needs { cores: 2, memory: memory.unwrap_or(0), disk: 0 };
        let task = TaskClass { needs, ..TaskClass::plain(vec![1.0]) };
        let config = GridConfig { weights: vec![1.0], migration: crate::Migration::default() };
        let each: Vec<MachineClassId> = (0..N).map(MachineClassId::new).collect();
        let mut grid = Grid::idle(config, &machines, &[task], &each);
        let class = TaskClassId::new(0);
        let mut effects = crate::effects::Effects::default();
        let submitted = Event::TasksSubmitted { first: TaskId::new(0), count: 1, class, length: None };
        grid.apply(Time::ZERO, &submitted, &mut effects);
        let start = Decision::Start { task: TaskId::new(0), on: MachineId::new(1) };
        grid.admit(Time::ZERO, &start, &mut effects).expect("an empty machine");
        (grid, class)
    }

    #[test]
    fn a_full_machine_and_a_small_one_fail_otherwise() {
        let (mut grid, class) = with_one_full([1, 2, 2], Some(8));
        let mut effects = crate::effects::Effects::default();
        let closed = Event::MachineClosed { machine: MachineId::new(2) };
        grid.apply(Time::ZERO, &closed, &mut effects);
        let found = Explanation::of(&grid, class);
        let ruled: Vec<_> = found.ruled_out.into_iter().map(|ruled| (ruled.condition, ruled.alone)).collect();
        let expected = [
            (Condition::HasCores(2), 1),
            (Condition::IsOpen, 1),
            (Condition::CoresAreFree(2), 0),
            (Condition::MemoryIsFree(8), 0),
        ];
        assert_eq!(ruled, expected);
    }

    /// That it takes tasks again is no less of a remedy because it is full.
    #[test]
    fn a_machine_that_is_closed_and_full_is_told_of_once_and_has_its_remedy() {
        let (mut grid, class) = with_one_full([1, 2], None);
        let mut effects = crate::effects::Effects::default();
        grid.apply(Time::ZERO, &Event::MachineClosed { machine: MachineId::new(1) }, &mut effects);
        let found = Explanation::of(&grid, class);
        assert_eq!(
            words::sentence(&found, &[]),
            "1 of 2 machines have fewer than 2 cores for tasks; 1 of 2 machines take no tasks now; \
             it could run with fewer than 2 cores, on 1 machine"
        );
        let remedies: Vec<String> = found.remedies.iter().map(|remedy| words::change(remedy, &[])).collect();
        assert_eq!(
            remedies,
            [
                "with fewer than 2 cores, on 1 machine",
                "once it takes tasks again and once 2 of its cores are free, on 1 machine"
            ]
        );
    }

    #[test]
    fn what_the_owner_of_a_lost_machine_used_rules_it_out_no_more() {
        let config = GridConfig { weights: vec![1.0], migration: crate::Migration::default() };
        let machine = MachineClass::plain(vec![1.0], 1);
        let mut grid =
            Grid::idle(config, &[machine], &[TaskClass::plain(vec![1.0])], &[MachineClassId::new(0); 2]);
        let mut effects = crate::effects::Effects::default();
        for machine in [0, 1].map(MachineId::new) {
            grid.apply(Time::ZERO, &Event::OwnerLoadReported { machine, load: 1.0 }, &mut effects);
        }
        grid.apply(Time::ZERO, &Event::MachineLost { machine: MachineId::new(1) }, &mut effects);
        let found = Explanation::of(&grid, TaskClassId::new(0));
        let ruled: Vec<_> = found.ruled_out.into_iter().map(|ruled| (ruled.condition, ruled.alone)).collect();
        assert_eq!(ruled, [(Condition::OwnerLeavesSome, 1), (Condition::IsOpen, 1)]);
    }

    #[test]
    fn machines_that_do_not_count_are_not_counted() {
        let room = Room { slots: Some(1), memory: None, disk: None };
        let machine = MachineClass { room, ..MachineClass::plain(vec![1.0], 1) };
        let config = GridConfig { weights: vec![1.0], migration: crate::Migration::default() };
        let task = TaskClass { needs: Needs { cores: 2, ..Needs::default() }, ..TaskClass::plain(vec![1.0]) };
        let grid = Grid::idle(config, &[machine], &[task], &[MachineClassId::new(0); 3]);
        let found = Explanation::among(&grid, TaskClassId::new(0), |on| on.index() != 1);
        assert_eq!((found.machines, found.ruled_out[0].machines, found.remedies[0].machines), (2, 2, 2));
    }

    #[test]
    fn nothing_is_to_be_changed_where_every_machine_can() {
        let found = explained("[ a = 1 ]", &[machine([1.0, 1.0], "linux", "")]);
        assert_eq!(found, Explanation { machines: 1, able: 1, ruled_out: vec![], remedies: vec![] });
    }

    /// By machine it is the same as by condition, and a costly clause is evaluated for each class of machines only.
    #[test]
    fn what_each_machine_fails_makes_what_rules_them_out() {
        let costly =
            "[ Requirements = regexp(\"^(a+)+$\", strcat(TARGET.Name, \"b\")) && TARGET.Memory > 4 ]";
        let task =
            TaskClass { ad: Some(Ad::parse(costly).expect("an ad")), ..TaskClass::plain(vec![1.0, 0.0]) };
        let name = format!("[ Name = \"{}\"; Memory = 3 ]", "a".repeat(64));
        let classes = [machine([1.0, 1.0], "linux", &name), machine([1.0, 0.0], "linux", "[ Memory = 8 ]")];
        let config = GridConfig { weights: vec![1.0, 1.0], migration: crate::Migration::default() };
        let each: Vec<_> = (0..1_000).map(|index| MachineClassId::new(index % 2)).collect();
        let grid = Grid::idle(config, &classes, &[task], &each);
        let mut counts: BTreeMap<Condition, usize> = BTreeMap::new();
        for (_, conditions) in obstacles(&grid, TaskClassId::new(0), (0..1_000).map(MachineId::new)) {
            for condition in conditions {
                *counts.entry(condition).or_default() += 1;
            }
        }
        let ruled_out = Explanation::of(&grid, TaskClassId::new(0)).ruled_out;
        let told: BTreeMap<_, _> =
            ruled_out.into_iter().map(|ruled| (ruled.condition, ruled.machines)).collect();
        assert_eq!(counts, told);
        assert!(counts.len() >= 2, "{counts:?}");
    }
}
