//! What is sent ahead, by a look at every run.

use gleaner_core::{Availability, Decision, Grid, Run, Stage};
use gleaner_units::{MachineId, RunId, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

fn runs(grid: &Grid) -> impl Iterator<Item = &Run> {
    grid.tasks().flat_map(|(task, _)| grid.runs_of(task))
}

/// Whether a run takes room where it is: one that follows another does not.
pub(crate) fn has_room(grid: &Grid, run: &Run) -> bool {
    grid.run_before(run.id()).is_none()
}

/// What waits behind the run that has had its room for longest, with since when; nothing while anything is being taken back.
fn oldest(grid: &Grid) -> Option<(Time, TaskId)> {
    let behind: Vec<&Run> = runs(grid).filter(|run| !has_room(grid, run)).collect();
    if behind.iter().any(|run| run.stage() != Stage::Next) {
        return None;
    }
    let leader =
        |run: &Run| grid.run_before(run.id()).and_then(|id| grid.find_run(id)).expect("it follows one");
    let oldest = behind.into_iter().min_by_key(|run| (leader(run).since(), leader(run).id()))?;
    Some((leader(oldest).since(), oldest.id().task))
}

pub(crate) fn overdue(grid: &Grid, now: Time) -> Option<Decision> {
    let (since, task) = oldest(grid)?;
    (now.since(since).seconds() > 2.0).then_some(Decision::Recall { task })
}

/// Of what is behind runs on a machine, what is behind the run that the machine lists first.
pub(crate) fn leave(grid: &Grid, machine: MachineId) -> Option<Decision> {
    let leaders = grid.machine(machine).runs().chain(grid.machine(machine).stopping().iter().copied());
    let behind = |leader: RunId| {
        runs(grid).find(|run| run.stage() == Stage::Next && grid.run_before(run.id()) == Some(leader))
    };
    leaders.into_iter().find_map(behind).map(|run| Decision::Recall { task: run.id().task })
}

pub(crate) fn recall(grid: &Grid, finds_room: impl Fn(TaskId) -> bool) -> Option<Decision> {
    let (_, task) = oldest(grid)?;
    finds_room(task).then_some(Decision::Recall { task })
}

/// `waiting` is in the order in which tasks are to be started.
pub(crate) fn send(
    grid: &Grid,
    now: Time,
    waiting: &[TaskId],
    could_run: impl Fn(TaskId, MachineId) -> bool,
) -> Option<(TaskId, Decision)> {
    let followed: BTreeSet<RunId> = runs(grid).filter_map(|run| grid.run_before(run.id())).collect();
    let mut leaders: BTreeMap<TaskClassId, &Run> = BTreeMap::new();
    for run in runs(grid) {
        let (machine, class) = (grid.machine(run.on()), grid.task(run.id().task).class());
        let fits = grid.took_lately(class).is_some_and(|took| took.seconds() <= 1.0)
            && matches!(run.stage(), Stage::Sent | Stage::Running)
            && !run.is_wide()
            && now.since(run.since()).seconds() <= 1.0
            && machine.availability() == Availability::Open
            && machine.load() < 1.0
            && !grid.is_checked(class)
            && !followed.contains(&run.id());
        if fits && leaders.get(&class).is_none_or(|best| (best.since(), best.id()) < (run.since(), run.id()))
        {
            leaders.insert(class, run);
        }
    }
    let leader = |task: &TaskId| leaders.get(&grid.task(*task).class()).copied();
    let (task, after) = waiting.iter().find_map(|task| Some((*task, leader(task)?)))?;
    let on = after.on();
    let first = waiting.iter().find(|task| could_run(**task, on));
    (first == Some(&task)).then(|| (task, Decision::Follow { task, on, after: after.id() }))
}
