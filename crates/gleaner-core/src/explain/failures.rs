//! Which conditions each machine fails.

use super::condition::Condition;
use crate::ad::or_nothing;
use crate::{Ad, Availability, Grid, Machine, MachineClass, Needs, Room, TaskClass, Work};
use gleaner_classad::{Comparison, Context, REQUIREMENTS, Value};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};
use std::collections::{BTreeMap, BTreeSet};

/// A condition that a machine fails, and the nearest form that it would not.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Failure {
    pub(super) condition: Condition,
    pub(super) instead: Option<Instead>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Instead {
    pub(super) text: String,
    /// How far the number asked for would have to move.
    pub(super) distance: f64,
}

/// What keeps each of some machines from running a task of a class now; nothing where one can. Costs O(machines), and O(machine
/// classes) evaluations of each clause.
pub fn obstacles(
    grid: &Grid,
    task: TaskClassId,
    machines: impl Iterator<Item = MachineId> + Clone,
) -> impl Iterator<Item = (MachineId, Vec<Condition>)> {
    let task = grid.classes().task_class(task);
    let classes = machines.clone().map(|on| grid.machine(on).class()).collect();
    let lasting = lasting(grid, task, &classes, &mut Work::default());
    machines.map(move |on| {
        let machine = grid.machine(on);
        let room = grid.classes().machine_class(machine.class()).room;
        let lasting = lasting[&machine.class()].iter().map(|failure| failure.condition.clone());
        (on, lasting.chain(passing(machine, room, task.needs)).collect())
    })
}

/// What machines of each class fail for as long as they are of it.
fn lasting(
    grid: &Grid,
    task: &TaskClass,
    classes: &BTreeSet<MachineClassId>,
    work: &mut Work,
) -> BTreeMap<MachineClassId, Vec<Failure>> {
    let classes = classes.iter().map(|id| (*id, grid.classes().machine_class(*id)));
    work.add(classes.clone().map(|(_, class)| clauses(task, class)).sum());
    classes.map(|(id, class)| (id, failures(task, class, work))).collect()
}

/// What keeps a machine from taking a task now, though it could at another time. A machine whose room is too small when
/// it is empty is ruled out for good, and not here.
fn passing(machine: &Machine, room: Room, needs: Needs) -> Vec<Condition> {
    let Needs { cores, memory, disk } = needs;
    let free = machine.free();
    // Of a machine that is lost nobody knows what its owner uses by now.
    let is_in_use = machine.capacity() <= 0.0 && machine.availability() != Availability::Lost;
    let conditions = [
        (is_in_use, Condition::OwnerLeavesSome),
        (machine.availability() != Availability::Open, Condition::IsOpen),
        (room.has_slots(cores) && !free.has_slots(cores), Condition::CoresAreFree(cores)),
        (room.has_memory(memory) && !free.has_memory(memory), Condition::MemoryIsFree(memory)),
        (room.has_disk(disk) && !free.has_disk(disk), Condition::DiskIsFree(disk)),
    ];
    conditions.into_iter().filter(|(fails, _)| *fails).map(|(_, condition)| condition).collect()
}

impl From<Condition> for Failure {
    fn from(condition: Condition) -> Self {
        Self { condition, instead: None }
    }
}

/// Machines by what they fail: one group for each machine class and each set of passing conditions that any is in.
pub(super) fn groups(
    grid: &Grid,
    task: TaskClassId,
    counts_machine: &impl Fn(MachineId) -> bool,
    work: &mut Work,
) -> Vec<(Vec<Failure>, usize)> {
    let task = grid.classes().task_class(task);
    let mut counts: BTreeMap<(MachineClassId, Vec<Condition>), usize> = BTreeMap::new();
    let machines = grid.machines().iter().enumerate();
    for (_, machine) in machines.filter(|(index, _)| counts_machine(MachineId::new(*index))) {
        let room = grid.classes().machine_class(machine.class()).room;
        *counts.entry((machine.class(), passing(machine, room, task.needs))).or_default() += 1;
    }
    let classes = counts.keys().map(|(class, _)| *class).collect();
    let lasting = lasting(grid, task, &classes, work);
    let groups = counts.into_iter().map(|((class, passing), count)| {
        let mut failures = lasting[&class].clone();
        failures.extend(passing.into_iter().map(Failure::from));
        (failures, count)
    });
    groups.collect()
}

/// How many clauses there are to evaluate.
fn clauses(task: &TaskClass, machine: &MachineClass) -> usize {
    let requirements =
        [&task.ad, &machine.ad].map(|ad| ad.as_ref().and_then(|ad| ad.class_ad().get(REQUIREMENTS)));
    requirements.into_iter().flatten().map(|requirements| requirements.clauses().len()).sum()
}

fn failures(task: &TaskClass, machine: &MachineClass, work: &mut Work) -> Vec<Failure> {
    let missing = task.requires.difference(&machine.provides).cloned().map(Condition::Provides);
    let needs = task.composition.iter().zip(&machine.speeds).enumerate();
    let stuck = needs.filter(|(_, (share, speed))| **share > 0.0 && **speed == 0.0);
    let Needs { cores, memory, disk } = task.needs;
    let few_cores = (!machine.room.has_slots(cores)).then_some(Condition::HasCores(cores));
    let little_memory = (!machine.room.has_memory(memory)).then_some(Condition::HasMemory(memory));
    let little_disk = (!machine.room.has_disk(disk)).then_some(Condition::HasDisk(disk));
    let plain = missing.chain(stuck.map(|(kind, _)| Condition::HasSpeed(kind)));
    let plain = plain.chain(few_cores).chain(little_memory).chain(little_disk).map(Failure::from);
    let asked = failed_clauses(task.ad.as_ref(), machine.ad.as_ref(), Condition::TaskRequires, work);
    let owners = failed_clauses(machine.ad.as_ref(), task.ad.as_ref(), Condition::MachineRequires, work);
    plain.chain(asked).chain(owners).collect()
}

/// The clauses of an ad's requirements that do not hold of another ad.
fn failed_clauses(
    wanting: Option<&Ad>,
    other: Option<&Ad>,
    of: fn(String) -> Condition,
    work: &mut Work,
) -> Vec<Failure> {
    let Some(wanting) = wanting.map(Ad::class_ad) else { return Vec::new() };
    let Some(requirements) = wanting.get(REQUIREMENTS) else { return Vec::new() };
    let mut failed = Vec::new();
    for clause in requirements.clauses() {
        let failure = |context: Context| {
            let alone = context.with_my(wanting);
            let met = alone.clone().with_target(or_nothing(other));
            let holds = clause.evaluate(&met).as_condition() == Some(true);
            let compared =
                || clause.as_comparison().and_then(|comparison| nearest(&comparison, &alone, &met));
            (!holds).then(compared)
        };
        match work.try_evaluate(failure) {
            (Some(_), true) => failed.push(Condition::EvaluatesSoon(clause.to_string()).into()),
            (Some(instead), false) => failed.push(Failure { condition: of(clause.to_string()), instead }),
            (None, _) => {}
        }
    }
    failed
}

/// The comparison with what is asked for replaced by what is there.
fn nearest(comparison: &Comparison, alone: &Context, met: &Context) -> Option<Instead> {
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
