//! A policy that runs tasks on several machines at a time, where they need several cores.

use gleaner_core::{Change, Decision, Grid, Occasion, Part, Policy};
use gleaner_units::{MachineId, TaskId, Time};

/// Another policy, after each task of several cores was spread over machines as far as there is room.
#[derive(Clone, Debug)]
pub struct Spreading<P>(pub P);

fn spread(grid: &Grid, task: TaskId) -> Option<Decision> {
    let class = grid.task(task).class();
    let mut left = grid.classes().task_class(class).needs.cores;
    let mut parts: Vec<Part> = Vec::new();
    for on in (0..grid.machines().len()).map(MachineId::new) {
        // Never all on one, and not always as many as there is room for.
        let most = left - u32::from(parts.is_empty());
        let free = (1..=most).rev().find(|&cores| grid.can_run_part(class, Part { on, cores })).unwrap_or(0);
        let cores = free - if free > 1 { (task.index() + on.index() + 1) as u32 % 2 } else { 0 };
        if cores > 0 {
            parts.push(Part { on, cores });
            left -= cores;
        }
    }
    (left == 0 && parts.len() > 1).then(|| Decision::StartWide { task, parts: parts.into() })
}

impl<P: Policy> Policy for Spreading<P> {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.0.observe(grid, change);
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let needs_several = |task: TaskId| {
            let class = grid.task(task).class();
            grid.classes().task_class(class).needs.cores > 1 && grid.plans().queue_of(task).is_none()
        };
        let mut waiting = grid.waiting_tasks().map(|(_, task)| task).filter(|task| needs_several(*task));
        waiting.find_map(|task| spread(grid, task)).or_else(|| self.0.propose(grid, now, occasion))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.0.rebuild(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.0.check(grid)
    }
}
