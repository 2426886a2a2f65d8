//! Second runs of tasks on idle machines: which task gains most by one.
//!
//! Nobody says how long a task is. **What ran so far stands for it**: the mean time of the tasks that ended, on a machine of
//! average power; a task that has done more than half of that already is taken for twice what it has done.

use gleaner_core::{Grid, Run, Stage, TaskState};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};

/// How long tasks took that ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Ended {
    nanos: u128,
    tasks: u64,
}

impl Ended {
    /// Of a whole grid. Costs O(tasks).
    pub(super) fn of(grid: &Grid) -> Self {
        let mut ended = Self::default();
        let over = grid.tasks().filter(|(_, task)| matches!(task.state(), TaskState::Finished(_)));
        over.for_each(|(id, _)| ended.add(grid, id));
        ended
    }

    pub(super) fn add(&mut self, grid: &Grid, id: TaskId) {
        let task = grid.task(id);
        self.nanos += u128::from(task.ended().since(task.started()).nanos());
        self.tasks += 1;
    }

    /// Seconds; nothing where no task ended.
    fn mean_s(self) -> f64 {
        if self.tasks == 0 { 0.0 } else { self.nanos as f64 / 1e9 / self.tasks as f64 }
    }
}

/// The task of that class that gains most by a second run on this idle machine; of equals the lowest. Costs O(machines).
pub(super) fn most_gained(
    grid: &Grid,
    now: Time,
    (class, on): (TaskClassId, MachineId),
    ended: Ended,
) -> Option<TaskId> {
    let there = grid.seconds_per_op(class, on);
    let speeds = own(grid).map(|machine| 1.0 / grid.seconds_per_op(class, machine));
    let (power, count) = speeds.fold((0.0, 0_u32), |(power, count), speed| (power + speed, count + 1));
    let usual_ops = ended.mean_s() * power / f64::from(count);
    let gain = |run: &Run| {
        let here = grid.seconds_per_op(class, run.on());
        let done_s = now.since(run.since()).seconds();
        let done = done_s / here;
        let length = usual_ops.max(2.0 * done);
        (length - done) * here - length * there
    };
    let alone = |task: TaskId| {
        let mut runs = grid.runs_of(task);
        runs.next().filter(|run| run.stage() == Stage::Running && runs.next().is_none())
    };
    let machines = (0..grid.machines().len()).map(MachineId::new);
    let running = machines.flat_map(|machine| grid.machine(machine).running_of(class));
    let gains = running.filter_map(|run| Some((gain(alone(run.task)?), run.task)));
    let best = gains.filter(|(gain, _)| *gain > 0.0);
    best.max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1))).map(|(_, task)| task)
}

fn own(grid: &Grid) -> impl Iterator<Item = MachineId> + '_ {
    let machines = (0..grid.machines().len()).map(MachineId::new);
    machines.filter(|machine| !grid.loans().is_borrowed(*machine))
}
