//! A policy that runs tasks more than once at a time, where there is room.

use gleaner_core::{Change, Decision, Grid, Occasion, Policy, Run, TaskState};
use gleaner_units::{MachineId, TaskId, Time};

/// Another policy, and when that is content: each task on so many machines, the lowest first.
#[derive(Clone, Debug)]
pub struct Replicating<P> {
    policy: P,
    copies: usize,
}

impl<P> Replicating<P> {
    /// `policy`, with so many runs of each task.
    pub fn new(policy: P, copies: usize) -> Self {
        Self { policy, copies }
    }

    fn replicate(&self, grid: &Grid, task: TaskId) -> Option<Decision> {
        let runs: Vec<&Run> = grid.runs_of(task).filter(|run| run.goes_on()).collect();
        let class = grid.task(task).class();
        let is_apart =
            runs.is_empty() || runs.len() >= self.copies || grid.task(task).state() != TaskState::Placed;
        let machines = (0..grid.machines().len()).map(MachineId::new).filter(|_| !is_apart);
        let mut free =
            machines.filter(|on| grid.can_run(class, *on) && runs.iter().all(|run| run.on() != *on));
        free.next().map(|on| Decision::Replicate { task, on })
    }
}

impl<P: Policy> Policy for Replicating<P> {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.policy.observe(grid, change);
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let wish = self.policy.propose(grid, now, occasion);
        wish.or_else(|| grid.tasks().find_map(|(task, _)| self.replicate(grid, task)))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.policy.rebuild(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.policy.check(grid)
    }
}
