//! The bound of a whole setup.

use super::fluid::fluid_bound;
use super::instance::{BoundMachine, BoundTask, Instance};
use super::lower_bound;
use crate::{MachineTraces, Setup};
use gleaner_units::{MachineClassId, TaskClassId, Time};

/// No schedule of these tasks on these machines ends earlier, in seconds; none where no schedule ends.
pub fn makespan_bound(setup: &Setup) -> Option<f64> {
    if let Some(availability) = &setup.availability {
        return bound_by_trace(setup, availability);
    }
    let seconds_per_op = seconds_per_op(setup);
    let mut loads: Vec<Vec<(Time, f64)>> = vec![Vec::new(); setup.machines.len()];
    for row in &setup.loads {
        loads[row.machine.index()].push((row.time, row.load));
    }
    let machines = setup.machines.iter().zip(loads).map(|(class, loads)| BoundMachine {
        class: class.index(),
        cores: setup.machine_classes[class.index()].cores,
        loads,
    });
    // No owner takes of its cores, and no other task shares them.
    let holds = setup.loads.is_empty()
        && setup
            .machine_classes
            .iter()
            .all(|class| class.room.slots.is_some_and(|slots| slots <= class.cores));
    let tasks = (0..setup.tasks.len()).map(|index| BoundTask {
        arrival: setup.tasks.arrivals[index],
        length: setup.tasks.lengths[index],
        kind: setup.tasks.classes[index].index(),
        cores: if holds { setup.task_classes[setup.tasks.classes[index].index()].needs.cores } else { 1 },
    });
    let (machines, tasks): (Vec<_>, Vec<_>) = (machines.collect(), tasks.collect());
    let instance = Instance { seconds_per_op: &seconds_per_op, tasks: &tasks, machines: &machines };
    lower_bound(&instance).map(|bound| bound.seconds)
}

fn bound_by_trace(setup: &Setup, availability: &MachineTraces) -> Option<f64> {
    let tasks = setup.tasks.arrivals.iter().zip(&setup.tasks.lengths);
    let weight = setup.config.weights[0];
    let work: Vec<(Time, f64)> =
        tasks.map(|(arrival, length)| (*arrival, weight * length.amount())).collect();
    let cores = |machine: u32| setup.machine_classes[availability.classes_of(machine).start].cores;
    fluid_bound(&availability.trace, cores, &work)
}

/// One row a task class, one column a machine class, as the scheduler computes it.
fn seconds_per_op(setup: &Setup) -> Vec<Vec<f64>> {
    let grid = setup.idle_grid();
    let columns = || (0..setup.machine_classes.len()).map(MachineClassId::new);
    let row = |kind| columns().map(|class| grid.classes().seconds_per_op(kind, class)).collect();
    (0..setup.task_classes.len()).map(TaskClassId::new).map(row).collect()
}
