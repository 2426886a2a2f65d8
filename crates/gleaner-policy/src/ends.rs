//! When a task would be done on each machine, for explanations of what batches go by.

use gleaner_core::{Availability, Grid, Machine};
use gleaner_units::{MachineId, Ops, RunId, TaskClassId, Time};

/// How long the task of a run is believed to be, where anything is known of that.
pub type Lengths<'a> = &'a dyn Fn(RunId) -> Option<Ops>;

/// The machines that could take a task of that class and length sooner or later, each with the seconds until it would be
/// done there, soonest first. What is planned and has not begun is not counted. Costs O(machines + tasks on them).
pub fn expected(
    grid: &Grid,
    now: Time,
    (class, length): (TaskClassId, Ops),
    lengths: Lengths<'_>,
) -> Vec<(MachineId, f64)> {
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let ends = machines.filter_map(|id| {
        let machine = grid.machine(id);
        let takes = machine.availability() == Availability::Open && machine.capacity() > 0.0;
        let end = ready_s(grid, now, machine, lengths) + length.amount() * grid.seconds_per_op(class, id);
        (takes && end.is_finite()).then_some((id, end))
    });
    let mut ends: Vec<(MachineId, f64)> = ends.collect();
    ends.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    ends
}

/// When the first core is free that a task can have.
fn ready_s(grid: &Grid, now: Time, machine: &Machine, lengths: Lengths<'_>) -> f64 {
    let width = grid.classes().machine_class(machine.class()).width();
    if machine.shares() < u64::from(width) {
        return 0.0;
    }
    let left_s = |run| lengths(run).and_then(|length| grid.seconds_left(now, run, length)).unwrap_or(0.0);
    machine.runs().map(left_s).fold(f64::INFINITY, f64::min)
}
