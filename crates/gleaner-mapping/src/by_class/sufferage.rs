//! Sufferage by speed, one task a step, and in passes.

use super::ClassedGrid;
use super::front::{Front, Leader, Most};
use super::ranked::Ranked;
use crate::Mapping;
use gleaner_core::tie_threshold;
use std::ops::Range;

/// One task a step.
pub(super) fn in_steps(grid: &ClassedGrid, ready: &[f64]) -> Mapping {
    let mut front = Front::new(grid, ready);
    let mut tasks = Ranked::new(&grid.lengths);
    let mut assignment = vec![0; grid.tasks()];
    for _ in 0..grid.tasks() {
        let (task, speed) = next(&mut front, &tasks).unwrap_or_else(|| {
            // Where nobody suffers, all tie.
            let lowest = tasks.lowest(tasks.all()).expect("a task is left");
            (lowest, front.choice(grid.lengths[lowest as usize]))
        });
        tasks.take(task);
        assignment[task as usize] = front.assign(speed, grid.lengths[task as usize]);
        front.lead_after(std::iter::once(speed));
    }
    Mapping { makespan: front.fleet.makespan(), assignment }
}

/// The lowest of the tasks that suffer most, if any does, and the speed that it goes to.
fn next(front: &mut Front, tasks: &Ranked) -> Option<(u32, usize)> {
    let (most, least) = loop {
        let most = front.leaders.iter().map(|leader| leader.bound).fold(0.0, f64::max);
        let least = tie_threshold(most);
        let inexact = |leader: &Leader| leader.bound >= least && leader.most.is_none();
        let Some(at) = front.leaders.iter().position(inexact).filter(|_| most > 0.0) else {
            break (most, least);
        };
        front.most(at, tasks);
    };
    if most == 0.0 {
        return None;
    }
    let mut best: Option<(u32, usize)> = None;
    for at in 0..front.leaders.len() {
        let leader = &front.leaders[at];
        let speed = leader.speed;
        let Some(Most { sufferage, mut task }) = leader.most.filter(|most| most.sufferage >= least) else {
            continue;
        };
        if sufferage < most {
            task = front.lowest_from(at, tasks, least).task;
        }
        if best.is_none_or(|(other, _)| task < other) {
            best = Some((task, speed));
        }
    }
    best
}

/// In passes: every speed that is the first choice of somebody fills the machine that it offers.
pub(super) fn in_passes(grid: &ClassedGrid, ready: &[f64]) -> Mapping {
    let mut front = Front::new(grid, ready);
    let mut tasks = Ranked::new(&grid.lengths);
    let mut assignment = vec![0; grid.tasks()];
    let mut left = grid.tasks();
    while left > 0 {
        let taken = one_pass(&mut front, &tasks);
        left -= taken.len();
        for &Taken { speed, task } in &taken {
            tasks.take(task);
            assignment[task as usize] = front.assign(speed, grid.lengths[task as usize]);
        }
        front.lead_after(taken.iter().map(|taken| taken.speed));
    }
    Mapping { makespan: front.fleet.makespan(), assignment }
}

/// What a speed takes.
#[derive(Clone, Copy)]
struct Taken {
    speed: usize,
    task: u32,
}

fn one_pass(front: &mut Front, tasks: &Ranked) -> Vec<Taken> {
    let mut taken = Vec::new();
    // Suitors that lose nothing: they are taken where nobody does.
    let mut content = Vec::new();
    let mut next = 0;
    for at in 0..front.leaders.len() {
        let Leader { speed, most, certain, .. } = front.leaders[at].clone();
        let Most { sufferage, task } = most.unwrap_or_else(|| front.most(at, tasks));
        let certain = certain.unwrap_or_else(|| front.certain(at, tasks));
        if sufferage > 0.0 {
            taken.push(Taken { speed, task });
        } else {
            content.extend(tasks.lowest(certain.clone()).map(|task| Taken { speed, task }));
        }
        tied(front, tasks, next..certain.start, &mut content);
        next = next.max(certain.end);
    }
    tied(front, tasks, next..tasks.all().end, &mut content);
    content.retain(|suitor| taken.iter().all(|other: &Taken| other.speed != suitor.speed));
    content.sort_unstable_by_key(|suitor| (suitor.speed, suitor.task));
    content.dedup_by_key(|suitor| suitor.speed);
    taken.append(&mut content);
    taken
}

/// Where several speeds tie for being first, each task looks for itself.
fn tied(front: &mut Front, tasks: &Ranked, runs: Range<usize>, suitors: &mut Vec<Taken>) {
    if runs.is_empty() {
        return;
    }
    let mut next = tasks.next(runs.start);
    while let Some(run) = next.filter(|run| *run < runs.end) {
        suitors.push(Taken { speed: front.choice(tasks.length(run)), task: tasks.task(run) });
        next = tasks.next(run + 1);
    }
}
