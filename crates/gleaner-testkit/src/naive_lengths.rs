//! How long tasks are believed to be, as `lengths = "learnt"` and `"last-two"` are explained: of each task all others are
//! looked at, as if it were asked for the first time. It shares no code with the policies.

use gleaner_core::{Grid, TaskState};
use gleaner_units::{Ops, TaskId, Time};

/// Whose word is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Belief {
    /// The user's.
    Declared,
    /// The mean of the user's last two.
    LastTwo,
    /// The median of the user's latest twenty that are alike.
    Learnt,
}

/// What a task is believed to be; nothing where that is to be declared and was not. Where so many operations are done and it has not ended, it
/// is as long as those that took longer, and at last as was declared.
pub fn length(grid: &Grid, belief: Belief, task: TaskId, done: f64) -> Option<f64> {
    let declared = grid.declared_length(task).map(Ops::amount);
    let mut beliefs: Vec<f64> = match belief {
        Belief::Declared => return declared,
        Belief::LastTwo => last_two(grid, task).into_iter().collect(),
        Belief::Learnt => medians(alike(grid, task)),
    };
    beliefs.retain(|ops| declared.is_none_or(|declared| *ops < declared));
    beliefs.extend(declared);
    if beliefs.is_empty() {
        // Of one of which nobody knows anything it is guessed that it takes a second where it is fastest.
        let row = grid.classes().seconds_per_op_row(grid.task(task).class());
        let fastest = row.iter().copied().fold(f64::INFINITY, f64::min);
        return Some(1.0 / fastest).filter(|guess| *guess > 0.0);
    }
    let first = beliefs.first().copied()?;
    Some(beliefs.into_iter().find(|ops| *ops > done * (1.0 + 1e-9)).unwrap_or(first))
}

/// What its user's tasks took that ended before it came, the latest first.
fn before(grid: &Grid, task: TaskId) -> Vec<(TaskId, f64)> {
    let user = |task: TaskId| grid.classes().task_class(grid.task(task).class()).payer;
    let mut ended: Vec<(Time, TaskId, f64)> = Vec::new();
    for (id, other) in grid.tasks() {
        // What it took is a fact of the grid, which `naive_progress` works out for itself.
        if matches!(other.state(), TaskState::Finished(_))
            && user(id) == user(task)
            && other.ended() < grid.task(task).submitted()
            && let Some(took) = grid.took(id)
        {
            ended.push((other.ended(), id, took.service_seconds.max(1.0) / took.seconds_per_op));
        }
    }
    ended.sort_by_key(|(at, id, _)| (*at, *id));
    ended.into_iter().rev().map(|(_, id, ops)| (id, ops)).collect()
}

fn last_two(grid: &Grid, task: TaskId) -> Option<f64> {
    let before = before(grid, task);
    Some(f64::midpoint(before.get(1)?.1, before.first()?.1))
}

/// Of up to twenty that are alike: by label, else by declared length, else any; where there are two at least.
fn alike(grid: &Grid, task: TaskId) -> Vec<f64> {
    let before = before(grid, task);
    let label = |task: TaskId| {
        let ad = grid.classes().task_class(grid.task(task).class()).ad.as_ref()?;
        ad.class_ad().get("Label").map(ToString::to_string)
    };
    let latest = |is_alike: &dyn Fn(TaskId) -> bool| -> Vec<f64> {
        let alike = before.iter().filter(|(id, _)| is_alike(*id));
        alike.take(20).map(|(_, ops)| *ops).collect()
    };
    let by_label = latest(&|other| label(task).is_some() && label(other) == label(task));
    let by_length = latest(&|other| grid.declared_length(other) == grid.declared_length(task));
    let samples = [by_label, by_length, latest(&|_| true)];
    samples.into_iter().find(|sample| sample.len() >= 2).unwrap_or_default()
}

/// The median, the median of those above it, and so on.
fn medians(mut sample: Vec<f64>) -> Vec<f64> {
    sample.sort_by(f64::total_cmp);
    let mut medians = Vec::new();
    while !sample.is_empty() {
        let median = sample[sample.len() / 2];
        medians.push(median);
        sample.retain(|ops| *ops > median);
    }
    medians
}
