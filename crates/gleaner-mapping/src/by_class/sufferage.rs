//! Sufferage by speed, one task a step, and in passes.

use super::ClassedGrid;
use super::front::{Front, Most};
use super::ranked::Ranked;
use crate::Mapping;
use gleaner_core::tie_threshold;

/// One task a step.
pub(super) fn in_steps(grid: &ClassedGrid, ready: &[f64]) -> Mapping {
    let mut front = Front::new(grid, ready);
    let mut tasks = Ranked::new(&grid.lengths);
    let mut assignment = vec![0; grid.tasks()];
    front.lead();
    while let Some(lowest) = tasks.lowest(tasks.all()) {
        let suffers = next(&mut front, &tasks);
        // Where nobody suffers, all tie.
        let (run, speed) = suffers.unwrap_or_else(|| (lowest, front.choice(tasks.length(lowest))));
        let length = tasks.length(run);
        assignment[tasks.take(run)] = front.assign(speed, length);
        front.lead_after(speed);
    }
    Mapping { makespan: front.fleet.makespan(), assignment }
}

/// The run of the lowest task among those that suffer most, if any does, and the speed that it goes to.
fn next(front: &mut Front, tasks: &Ranked) -> Option<(usize, usize)> {
    let mut most = 0.0;
    for at in 0..front.leaders.len() {
        let of_leader = front.leaders[at].most.unwrap_or_else(|| front.most(at, tasks));
        front.leaders[at].most = Some(of_leader);
        most = f64::max(most, of_leader.sufferage);
    }
    if most == 0.0 {
        return None;
    }
    let least = tie_threshold(most);
    let mut best: Option<(usize, usize)> = None;
    for at in 0..front.leaders.len() {
        let leader = front.leaders[at];
        let Some(Most { sufferage, mut run }) = leader.most.filter(|most| most.sufferage >= least) else { continue };
        if sufferage < most {
            run = front.lowest_from(at, tasks, least).run;
        }
        if best.is_none_or(|(other, _)| tasks.task(run) < tasks.task(other)) {
            best = Some((run, leader.speed));
        }
    }
    best
}
