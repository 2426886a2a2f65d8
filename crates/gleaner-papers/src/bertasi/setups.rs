//! From the paper's tables to what the simulator runs.

use super::grids::{SYNTHETIC, Speeds, aeolus};
use super::jobs::{JobSet, PERMUTATIONS, job_set_0, job_set_1, job_set_2};
use super::owners::{self, OwnerChange};
use super::{COMPOSITIONS, WEIGHTS};
use crate::Stream;
use gleaner_core::{GridConfig, MachineClass, Migration, TaskClass};
use gleaner_sim::{Answers, LoadChange, Setup, Tasks};
use gleaner_units::{MachineClassId, MachineId, Ops, TaskClassId};
use std::collections::BTreeSet;

/// The synthetic grid, job set 0, no owners.
pub fn figure_1(seed: u64) -> Setup {
    setup(&SYNTHETIC, job_set_0(seed), &[])
}

/// The synthetic grid, job set 1 with lengths that are multiplied by a number, S₃'s owner from 1500 s on.
pub fn figure_2(seed: u64, times: f64) -> Setup {
    let mut jobs = job_set_1(seed);
    for length in &mut jobs.lengths {
        *length = Ops::new((length.amount() * times).round().max(1.0)).expect("an operation at least");
    }
    setup(&SYNTHETIC, jobs, &owners::FIGURE_2)
}

/// In which order the machines of a grid are: among equals the first is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineOrder {
    /// As the paper lists them.
    SlowestFirst,
    /// The other way round.
    FastestFirst,
    /// In another one for each seed.
    Shuffled,
}

/// As figure 3, with the machines in an order.
pub fn figure_3_in_order(permutation: usize, seed: u64, order: MachineOrder) -> Setup {
    let mut grid = aeolus();
    match order {
        MachineOrder::SlowestFirst => {}
        MachineOrder::FastestFirst => grid.reverse(),
        MachineOrder::Shuffled => Stream::new(seed, MACHINES_SHUFFLED).shuffle(&mut grid),
    }
    setup(&grid, job_set_2(seed, &PERMUTATIONS[permutation]), &[])
}

/// The stream that says in which order.
const MACHINES_SHUFFLED: u64 = 0xbe27_0001;

/// The AEOLUS grid and job set 2, no owners. Permutations are counted from 0: one less than the paper's ID.
pub fn figure_3(permutation: usize, seed: u64) -> Setup {
    setup(&aeolus(), job_set_2(seed, &PERMUTATIONS[permutation]), &[])
}

/// As figure 3, with four owners.
pub fn figure_4(permutation: usize, seed: u64) -> Setup {
    setup(&aeolus(), job_set_2(seed, &PERMUTATIONS[permutation]), &owners::FIGURE_4)
}

fn setup(grid: &[Speeds], jobs: JobSet, owners: &[OwnerChange]) -> Setup {
    let (machine_classes, machines) = classes(grid);
    let load = |owner: &OwnerChange| LoadChange {
        time: owner.at,
        machine: MachineId::new(owner.machine),
        load: owner.load,
    };
    Setup {
        budget: None,
        answers: Answers::default(),
        config: GridConfig { weights: WEIGHTS.to_vec(), migration: Migration::default() },
        machine_classes,
        machines,
        task_classes: COMPOSITIONS
            .iter()
            .map(|shares| TaskClass { requires: BTreeSet::new(), ..TaskClass::plain(shares.to_vec()) })
            .collect(),
        tasks: Tasks::truly_declared(
            jobs.arrivals,
            jobs.lengths,
            jobs.kinds.into_iter().map(TaskClassId::new).collect(),
        ),
        loads: owners.iter().map(load).collect(),
        availability: None,
    }
}

/// Machines with equal speeds are one class; classes are in the order of their first machine.
fn classes(grid: &[Speeds]) -> (Vec<MachineClass>, Vec<MachineClassId>) {
    let mut known: Vec<Speeds> = Vec::new();
    let machines = grid.iter().map(|speeds| {
        let class = known.iter().position(|other| other == speeds).unwrap_or_else(|| {
            known.push(*speeds);
            known.len() - 1
        });
        MachineClassId::new(class)
    });
    let machines = machines.collect();
    let class = |speeds: &Speeds| MachineClass {
        provides: BTreeSet::new(),
        ..MachineClass::plain(speeds.to_vec(), 1)
    };
    (known.iter().map(class).collect(), machines)
}
