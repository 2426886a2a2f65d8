//! Why a task can or cannot run: which condition rules out how many machines, and what would let it run.

use crate::ad::{context, or_nothing};
use crate::{Ad, Availability, Grid, Machine, MachineClass, Needs, Room, TaskClass};
use gleaner_classad::{Comparison, Expr, REQUIREMENTS, Value};
use gleaner_units::{MachineClassId, TaskClassId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Something that must hold of a machine before it can run a task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The machine provides this word of the task's domain.
    Provides(String),
    /// The machine has some speed for this kind of operation, counted from 0.
    HasSpeed(usize),
    /// A clause of the task's requirements holds of the machine.
    TaskRequires(String),
    /// A clause of the machine's requirements holds of the task.
    MachineRequires(String),
    /// The machine lets tasks have so many cores.
    HasCores(u32),
    /// The machine lets tasks have so many bytes of memory.
    HasMemory(u64),
    /// The owner leaves some of the machine.
    OwnerLeavesSome,
    /// The machine is neither paused, nor drained, nor out of reach.
    IsOpen,
    /// The tasks on the machine leave so many of its cores.
    CoresAreFree(u32),
    /// The tasks on the machine leave so many bytes of its memory.
    MemoryIsFree(u64),
}

/// A condition, and what it keeps from running the task.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RuledOut {
    /// What does not hold.
    pub condition: Condition,
    /// Of so many machines.
    pub machines: usize,
    /// So many of them fail nothing else.
    pub alone: usize,
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
    /// What would win a machine with the fewest conditions given up; most machines first.
    pub remedies: Vec<Remedy>,
}

/// A condition that a machine fails, and the nearest form that it would not.
#[derive(Clone, PartialEq, Debug)]
struct Failure {
    condition: Condition,
    instead: Option<Instead>,
}

#[derive(Clone, PartialEq, Debug)]
struct Instead {
    text: String,
    /// How far the number asked for would have to move.
    distance: f64,
}

impl Explanation {
    /// For a task class as things stand. Costs O(machines), and O(machine classes) evaluations of each clause.
    pub fn of(grid: &Grid, task: TaskClassId) -> Self {
        let groups = groups(grid, task);
        let able = groups.iter().filter(|(failures, _)| failures.is_empty()).map(|(_, count)| count).sum();
        Self {
            machines: grid.machines().len(),
            able,
            ruled_out: ruled_out(&groups),
            remedies: remedies(&groups),
        }
    }
}

/// What keeps a machine from taking a task now, though it could at another time. A machine whose room is too small when
/// it is empty is ruled out for good, and not here.
fn passing(machine: &Machine, room: Room, needs: Needs) -> Vec<Condition> {
    let Needs { cores, memory } = needs;
    let free = machine.free();
    let conditions = [
        (machine.capacity() <= 0.0, Condition::OwnerLeavesSome),
        (machine.availability() != Availability::Open, Condition::IsOpen),
        (room.has_slots(cores) && !free.has_slots(cores), Condition::CoresAreFree(cores)),
        (room.has_memory(memory) && !free.has_memory(memory), Condition::MemoryIsFree(memory)),
    ];
    conditions.into_iter().filter(|(fails, _)| *fails).map(|(_, condition)| condition).collect()
}

impl From<Condition> for Failure {
    fn from(condition: Condition) -> Self {
        Self { condition, instead: None }
    }
}

/// Machines by what they fail: one group for each machine class and each set of passing conditions that any is in.
fn groups(grid: &Grid, task: TaskClassId) -> Vec<(Vec<Failure>, usize)> {
    let task = grid.classes().task_class(task);
    let mut counts: BTreeMap<(MachineClassId, Vec<Condition>), usize> = BTreeMap::new();
    for machine in grid.machines() {
        let room = grid.classes().machine_class(machine.class()).room;
        *counts.entry((machine.class(), passing(machine, room, task.needs))).or_default() += 1;
    }
    let groups = counts.into_iter().map(|((class, passing), count)| {
        let mut failures = failures(task, grid.classes().machine_class(class));
        failures.extend(passing.into_iter().map(Failure::from));
        (failures, count)
    });
    groups.collect()
}

fn failures(task: &TaskClass, machine: &MachineClass) -> Vec<Failure> {
    let missing = task.requires.difference(&machine.provides).cloned().map(Condition::Provides);
    let needs = task.composition.iter().zip(&machine.speeds).enumerate();
    let stuck = needs.filter(|(_, (share, speed))| **share > 0.0 && **speed == 0.0);
    let Needs { cores, memory } = task.needs;
    let few_cores = (!machine.room.has_slots(cores)).then_some(Condition::HasCores(cores));
    let little_memory = (!machine.room.has_memory(memory)).then_some(Condition::HasMemory(memory));
    let plain = missing.chain(stuck.map(|(kind, _)| Condition::HasSpeed(kind)));
    let plain = plain.chain(few_cores).chain(little_memory).map(Failure::from);
    let asked = failed_clauses(task.ad.as_ref(), machine.ad.as_ref(), Condition::TaskRequires);
    let owners = failed_clauses(machine.ad.as_ref(), task.ad.as_ref(), Condition::MachineRequires);
    plain.chain(asked).chain(owners).collect()
}

/// The clauses of an ad's requirements that do not hold of another ad.
fn failed_clauses(wanting: Option<&Ad>, other: Option<&Ad>, of: fn(String) -> Condition) -> Vec<Failure> {
    let Some(wanting) = wanting.map(Ad::class_ad) else { return Vec::new() };
    let Some(requirements) = wanting.get(REQUIREMENTS) else { return Vec::new() };
    let context = context().with_my(wanting);
    let met = context.clone().with_target(or_nothing(other));
    let failed = requirements.clauses().into_iter().filter(|clause| {
        let value = clause.evaluate(&met);
        value.as_condition() != Some(true)
    });
    let failure = |clause: Expr| {
        let instead = clause.as_comparison().and_then(|comparison| nearest(&comparison, &context, &met));
        Failure { condition: of(clause.to_string()), instead }
    };
    failed.map(failure).collect()
}

/// The comparison with what is asked for replaced by what is there.
fn nearest(
    comparison: &Comparison,
    alone: &gleaner_classad::Context,
    met: &gleaner_classad::Context,
) -> Option<Instead> {
    let Comparison { left, comparator, right } = comparison;
    let known = |value: &Value| !value.is_undefined() && !value.is_error();
    // What can be known without the other ad is what is asked for.
    let asked = [left, right].map(|side| Some(side.evaluate(alone)).filter(known));
    let sign = comparator.or_equal().sign();
    let (asked, there, text) = match asked {
        [None, Some(asked)] => {
            let there = left.evaluate(met);
            let text = format!("{left} {sign} {there}");
            (asked, there, text)
        }
        [Some(asked), None] => {
            let there = right.evaluate(met);
            let text = format!("{there} {sign} {right}");
            (asked, there, text)
        }
        _ => return None,
    };
    let distance = match (asked.as_number(), there.as_number()) {
        (Some(asked), Some(there)) => (asked - there).abs(),
        _ => f64::INFINITY,
    };
    known(&there).then_some(Instead { text, distance })
}

fn ruled_out(groups: &[(Vec<Failure>, usize)]) -> Vec<RuledOut> {
    let mut by_condition: BTreeMap<&Condition, (usize, usize)> = BTreeMap::new();
    for (failures, count) in groups {
        for failure in failures {
            let (machines, alone) = by_condition.entry(&failure.condition).or_default();
            *machines += count;
            *alone += if failures.len() == 1 { *count } else { 0 };
        }
    }
    let mut ruled_out: Vec<RuledOut> = by_condition
        .into_iter()
        .map(|(condition, (machines, alone))| RuledOut { condition: condition.clone(), machines, alone })
        .collect();
    ruled_out.sort_by_key(|ruled| std::cmp::Reverse(ruled.machines));
    ruled_out
}

fn remedies(groups: &[(Vec<Failure>, usize)]) -> Vec<Remedy> {
    let failing = groups.iter().filter(|(failures, _)| !failures.is_empty());
    let Some(fewest) = failing.clone().map(|(failures, _)| failures.len()).min() else { return Vec::new() };
    let mut merged: Vec<(Vec<Failure>, usize)> = Vec::new();
    for (failures, count) in failing.filter(|(failures, _)| failures.len() == fewest) {
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
    use crate::{GridConfig, Tags};

    fn machine(speeds: [f64; 2], tag: &str, ad: &str) -> MachineClass {
        let provides: Tags = tag.split_whitespace().map(str::to_owned).collect();
        let ad = (!ad.is_empty()).then(|| Ad::parse(ad).expect("an ad"));
        MachineClass { speeds: speeds.to_vec(), cores: 1, room: Room::default(), provides, ad }
    }

    fn explained(task_ad: &str, machines: &[MachineClass]) -> Explanation {
        let task = TaskClass {
            composition: vec![0.5, 0.5],
            needs: Needs::default(),
            priority: 0,
            requires: Tags::from(["linux".to_owned()]),
            ad: Some(Ad::parse(task_ad).expect("an ad")),
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

    #[test]
    fn nothing_is_to_be_changed_where_every_machine_can() {
        let found = explained("[ a = 1 ]", &[machine([1.0, 1.0], "linux", "")]);
        assert_eq!(found, Explanation { machines: 1, able: 1, ruled_out: vec![], remedies: vec![] });
    }
}
