//! What is sent ahead, by a look at every run.

use gleaner_core::{Availability, Decision, Grid, Needs, Run, Stage};
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

fn runs(grid: &Grid) -> impl Iterator<Item = &Run> {
    grid.tasks().flat_map(|(task, _)| grid.runs_of(task))
}

/// Whether a run takes room where it is: one that waits for another does not.
pub(crate) fn has_room(grid: &Grid, run: &Run) -> bool {
    grid.run_before(run.id()).is_none()
}

/// What waits behind another and was not asked back, with the run before it: the one first whose leader has had its room for
/// longest.
fn oldest(grid: &Grid) -> Vec<(&Run, &Run)> {
    let leader = |run: &Run| grid.run_before(run.id()).and_then(|id| grid.find_run(id));
    let next = runs(grid).filter(|run| run.stage() == Stage::Next && grid.asked_back(run.id()).is_none());
    let mut pairs: Vec<(&Run, &Run)> = next.filter_map(|run| Some((leader(run)?, run))).collect();
    pairs.sort_by_key(|(leader, _)| (leader.since(), leader.id()));
    pairs
}

/// Who was asked back and has not begun, with when.
fn asked(grid: &Grid) -> impl Iterator<Item = (Time, MachineId)> {
    let next = runs(grid).filter(|run| run.stage() == Stage::Next);
    next.filter_map(|run| Some((grid.asked_back(run.id())?, run.on())))
}

pub(crate) fn overdue(grid: &Grid, now: Time) -> Option<Decision> {
    let (leader, behind) = *oldest(grid).first()?;
    (now.since(leader.since()).seconds() >= 2.0).then_some(Decision::TakeBack { task: behind.id().task })
}

/// Of what is behind runs on a machine, what is behind the run that the machine lists first.
pub(crate) fn leave(grid: &Grid, machine: MachineId) -> Option<Decision> {
    let leaders = grid.machine(machine).runs().chain(grid.machine(machine).stopping().iter().copied());
    let behind = |leader: RunId| {
        runs(grid).find(|run| {
            run.stage() == Stage::Next
                && grid.asked_back(run.id()).is_none()
                && grid.run_before(run.id()) == Some(leader)
        })
    };
    leaders.into_iter().find_map(behind).map(|run| Decision::TakeBack { task: run.id().task })
}

/// Likewise where the runs that take room there take more than there is.
pub(crate) fn leave_if_overfull(grid: &Grid, machine: MachineId) -> Option<Decision> {
    let there = runs(grid).filter(|run| {
        run.on() == machine && has_room(grid, run) && !matches!(run.stage(), Stage::Missing | Stage::Asked)
    });
    let needs: Vec<Needs> =
        there.map(|run| grid.classes().task_class(grid.task(run.id().task).class()).needs).collect();
    let room = grid.classes().machine_class(grid.machine(machine).class()).room;
    let is_above = |has: Option<u64>, takes: fn(&Needs) -> u64| {
        has.is_some_and(|has| needs.iter().map(takes).sum::<u64>() > has)
    };
    let is_overfull = is_above(room.slots.map(u64::from), |needs| needs.cores.into())
        || is_above(room.memory, |needs| needs.memory)
        || is_above(room.disk, |needs| needs.disk);
    is_overfull.then(|| leave(grid, machine)).flatten()
}

/// Of the first four behind runs on machines that owe no answer, unless another was asked just now. `waiting` is in the order in
/// which tasks are to be started.
pub(crate) fn make_way(
    grid: &Grid,
    now: Time,
    waiting: &[TaskId],
    finds_room: impl Fn(TaskId) -> bool,
    could_run: impl Fn(TaskId, MachineId) -> bool,
) -> Option<Decision> {
    if asked(grid).any(|(at, _)| now.since(at).seconds() < 0.25) {
        return None;
    }
    let silent: BTreeSet<MachineId> = asked(grid).map(|(_, on)| on).collect();
    let priority = |task: TaskId| grid.classes().task_class(grid.task(task).class()).priority;
    let comes_before = |first: TaskId, second: TaskId| {
        priority(first) > priority(second) || priority(first) == priority(second) && first < second
    };
    let pairs = oldest(grid).into_iter().filter(|(leader, _)| !silent.contains(&leader.on()));
    let mut tasks = pairs.take(4).map(|(leader, behind)| (leader.on(), behind.id().task));
    let is_in_the_way = |on: MachineId, task: TaskId| {
        let first = waiting.iter().find(|task| could_run(**task, on));
        finds_room(task) || first.is_some_and(|first| comes_before(*first, task))
    };
    tasks.find(|(on, task)| is_in_the_way(*on, *task)).map(|(_, task)| Decision::TakeBack { task })
}

/// When there is something to take back though nothing happens.
pub(crate) fn due(grid: &Grid, now: Time) -> Option<Time> {
    let (leader, _) = *oldest(grid).first()?;
    let late = leader.since() + Span::from_nanos(2_000_000_000);
    let answer = asked(grid).map(|(at, _)| at + Span::from_nanos(250_000_000)).max();
    Some(answer.filter(|at| *at > now).map_or(late, |at| late.min(at)))
}

/// `waiting` is in the order in which tasks are to be started.
pub(crate) fn send(
    grid: &Grid,
    now: Time,
    waiting: &[TaskId],
    could_run: impl Fn(TaskId, MachineId) -> bool,
) -> Option<(TaskId, Decision)> {
    let followed: BTreeSet<RunId> =
        runs(grid).map(Run::id).filter(|run| grid.run_behind(*run).is_some()).collect();
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
            && grid.comparison(run.id().task).is_none()
            && !followed.contains(&run.id())
            && grid.leader_of(run.id()).is_none();
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
